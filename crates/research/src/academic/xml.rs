//! Reads XML answers into a small tree: limited depth and size, only the predefined entities, nothing external.

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use search::providers::Fault;

const MAX_DEPTH: usize = 64;
const MAX_ELEMENTS: usize = 100_000;

/// An element; names have no prefix.
#[derive(Debug, Default)]
pub(super) struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    content: Vec<Content>,
}

#[derive(Debug)]
enum Content {
    Element(Element),
    Text(String),
}

impl Element {
    /// Reads a document; the element returned contains its root.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let text = String::from_utf8_lossy(bytes);
        let broken = || Fault::failed("answered with broken XML");
        let mut reader = Reader::from_str(&text);
        reader.config_mut().expand_empty_elements = true;
        let mut open = vec![Self::default()];
        let mut elements = 0;
        loop {
            match reader.read_event().map_err(|_| broken())? {
                Event::Start(start) => {
                    elements += 1;
                    if open.len() > MAX_DEPTH || elements > MAX_ELEMENTS {
                        return Err(Fault::failed("answered with too much XML"));
                    }
                    open.push(Self::of(&start));
                }
                Event::End(_) => {
                    let closed = open.pop().ok_or_else(broken)?;
                    open.last_mut().ok_or_else(broken)?.content.push(Content::Element(closed));
                }
                Event::Text(text) => append(&mut open, &text.xml10_content()),
                Event::CData(text) => append(&mut open, &text.xml10_content()),
                Event::GeneralRef(reference) => {
                    match reference.resolve_char_ref() {
                        Ok(Some(character)) => {
                            append(&mut open, character.encode_utf8(&mut [0; 4]))
                        }
                        _ => {
                            append(&mut open, resolve_predefined_entity(&reference).unwrap_or(" "))
                        }
                    };
                }
                Event::Eof if open.len() == 1 => return open.pop().ok_or_else(broken),
                Event::Eof => return Err(broken()),
                Event::DocType(_)
                | Event::Empty(_)
                | Event::Comment(_)
                | Event::Decl(_)
                | Event::PI(_) => {}
            }
        }
    }

    fn of(start: &BytesStart<'_>) -> Self {
        let mut attributes = start.attributes();
        let attributes = attributes.with_checks(false).flatten().take(50).filter_map(|attribute| {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).ok()?;
            Some((local(attribute.key.0).to_owned(), value.into_owned()))
        });
        Self {
            name: local(start.name().0).to_owned(),
            attributes: attributes.collect(),
            content: Vec::new(),
        }
    }

    /// The elements of this name directly inside.
    pub(super) fn children(&self, name: &str) -> impl Iterator<Item = &Element> {
        self.content.iter().filter_map(move |content| match content {
            Content::Element(element) if element.name == name => Some(element),
            _ => None,
        })
    }

    /// The first element at a path of names.
    pub(super) fn find(&self, path: &[&str]) -> Option<&Element> {
        match path {
            [] => Some(self),
            [name, rest @ ..] => self.children(name).find_map(|child| child.find(rest)),
        }
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All text inside, in order.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        self.collect_text(&mut text);
        text
    }

    fn collect_text(&self, text: &mut String) {
        for content in &self.content {
            match content {
                Content::Element(element) => element.collect_text(text),
                Content::Text(piece) => text.push_str(piece),
            }
        }
    }
}

fn append(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.content.push(Content::Text(text.to_owned()));
    }
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
