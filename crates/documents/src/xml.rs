//! Untrusted XML: only the five predefined entities, no document types, limited depth.

use std::borrow::Cow;

use extraction::{Limits, Unreadable};
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

/// The next item of a part. Names have no prefix: the supported formats use each local name for one purpose.
pub(crate) enum Node<'a> {
    Open(Element<'a>),
    Close(String),
    Text(Cow<'a, str>),
    End,
}

pub(crate) struct Element<'a>(BytesStart<'a>);

impl Element<'_> {
    pub(crate) fn name(&self) -> &str {
        self.0.name().0.rsplit(':').next().unwrap_or_default()
    }

    /// An attribute by its name without a prefix.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        self.find(|key| key.rsplit(':').next() == Some(name))
    }

    /// An attribute with any prefix: some elements have both `r:id` and `id`.
    pub(crate) fn prefixed(&self, name: &str) -> Option<String> {
        self.find(|key| key.rsplit_once(':').is_some_and(|(_, local)| local == name))
    }

    fn find(&self, matches: impl Fn(&str) -> bool) -> Option<String> {
        let mut attributes = self.0.attributes();
        let found = attributes.with_checks(false).flatten().find(|found| matches(found.key.0))?;
        let value = found.normalized_value(XmlVersion::Implicit1_0).ok()?;
        Some(value.into_owned())
    }

    /// A switch such as `<w:vanish/>`, which is on unless its value is false.
    pub(crate) fn is_on(&self) -> bool {
        !matches!(self.attribute("val").as_deref(), Some("0" | "false" | "off" | "none"))
    }
}

pub(crate) struct Xml<'a> {
    reader: Reader<&'a [u8]>,
    depth: usize,
    deepest: usize,
}

impl<'a> Xml<'a> {
    pub(crate) fn new(text: &'a str, limits: &Limits) -> Self {
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Self { reader, depth: 0, deepest: limits.depth }
    }

    pub(crate) fn next(&mut self) -> Result<Node<'a>, Unreadable> {
        loop {
            match self.reader.read_event().map_err(Unreadable::damaged)? {
                Event::Start(start) => {
                    self.depth += 1;
                    if self.depth > self.deepest {
                        return Err(Unreadable::damaged("its elements are nested too deeply"));
                    }
                    return Ok(Node::Open(Element(start)));
                }
                Event::End(end) => {
                    self.depth = self.depth.saturating_sub(1);
                    let name = end.name().0.rsplit(':').next().unwrap_or_default().to_owned();
                    return Ok(Node::Close(name));
                }
                Event::Text(text) => return Ok(Node::Text(text.xml10_content())),
                Event::CData(text) => return Ok(Node::Text(text.xml10_content())),
                Event::GeneralRef(reference) => {
                    if let Some(character) =
                        reference.resolve_char_ref().map_err(Unreadable::damaged)?
                    {
                        return Ok(Node::Text(character.to_string().into()));
                    }
                    let name = reference.into_inner();
                    let text = resolve_predefined_entity(&name)
                        .ok_or_else(|| Unreadable::damaged("it uses entities of its own"))?;
                    return Ok(Node::Text(text.into()));
                }
                Event::DocType(_) => {
                    return Err(Unreadable::damaged("it declares a document type"));
                }
                Event::Eof if self.depth > 0 => {
                    return Err(Unreadable::damaged("it ends too early"));
                }
                Event::Eof => return Ok(Node::End),
                Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            }
        }
    }

    /// Skips the rest of the last opened element; its text goes to `seen`.
    pub(crate) fn skip(&mut self, mut seen: impl FnMut(&str)) -> Result<(), Unreadable> {
        let outside = self.depth - 1;
        while self.depth > outside {
            match self.next()? {
                Node::Text(text) => seen(&text),
                Node::End => break,
                Node::Open(_) | Node::Close(_) => {}
            }
        }
        Ok(())
    }

    /// All text up to the end of the last opened element.
    pub(crate) fn text(&mut self) -> Result<String, Unreadable> {
        let mut all = String::new();
        self.skip(|text| all.push_str(text))?;
        Ok(all)
    }
}
