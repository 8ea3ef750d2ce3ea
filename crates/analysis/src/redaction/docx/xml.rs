//! Untrusted XML as a sequence of elements and texts, with references resolved, and XML written again.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use extraction::{Limits, Unreadable};
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

/// The most attributes of an element.
const ATTRIBUTES: usize = 2_000;

pub(super) enum Node {
    Open(Element),
    Close,
    Text(String),
}

pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
}

impl Element {
    /// An attribute by its name without a prefix.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| local(key) == name).map(|(_, value)| value.as_str())
    }
}

/// A name without its prefix.
pub(super) fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// The text of a part in the encoding that it declares; one that cannot be read is refused.
pub(super) fn decode(bytes: &[u8]) -> Result<String, Unreadable> {
    let refused = || Unreadable::damaged("a part is in an encoding that cannot be read");
    let (encoding, bytes) = match Encoding::for_bom(bytes) {
        Some((encoding, mark)) => (encoding, &bytes[mark..]),
        None if bytes.starts_with(b"<\0") => (UTF_16LE, bytes),
        None if bytes.starts_with(b"\0<") => (UTF_16BE, bytes),
        None => (declared(bytes).ok_or_else(refused)?, bytes),
    };
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes);
    text.map(std::borrow::Cow::into_owned).ok_or_else(refused)
}

/// The encoding that the first line names; `None` if it is not known.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
    let line = start.trim_start().strip_prefix("<?xml").and_then(|rest| rest.split('>').next());
    let Some((_, after)) = line.and_then(|line| line.split_once("encoding")) else {
        return Some(UTF_8);
    };
    let label = after.trim_start().strip_prefix('=')?.trim_start();
    let quote = label.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let label = label[1..].split(quote).next()?;
    // Bytes that can be read as ASCII are not UTF-16, whatever they say.
    Encoding::for_label(label.as_bytes()).map(Encoding::output_encoding)
}

/// Gives each element and text to `visit`. Comments and instructions are left out.
pub(super) fn each(
    xml: &str,
    limits: &Limits,
    mut visit: impl FnMut(Node) -> Result<(), Unreadable>,
) -> Result<(), Unreadable> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut text = String::new();
    let mut depth = 0usize;
    loop {
        let event = reader.read_event().map_err(Unreadable::damaged)?;
        if matches!(event, Event::Start(_) | Event::End(_)) && !text.is_empty() {
            visit(Node::Text(std::mem::take(&mut text)))?;
        }
        match event {
            Event::Start(start) => {
                depth += 1;
                if depth > limits.depth {
                    return Err(Unreadable::damaged("its elements are nested too deeply"));
                }
                visit(Node::Open(element(&start)?))?;
            }
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                visit(Node::Close)?;
            }
            // Text outside of the root is no text of the document.
            Event::Text(part) if depth > 0 => text.push_str(&part.xml10_content()),
            Event::CData(part) if depth > 0 => text.push_str(&part.xml10_content()),
            Event::GeneralRef(reference) => {
                let character = reference.resolve_char_ref().map_err(Unreadable::damaged)?;
                if let Some(character) = character {
                    text.push(character);
                } else {
                    let resolved = resolve_predefined_entity(&reference.into_inner());
                    text.push_str(
                        resolved
                            .ok_or_else(|| Unreadable::damaged("it uses entities of its own"))?,
                    );
                }
            }
            Event::DocType(_) => return Err(Unreadable::damaged("it declares a document type")),
            Event::Eof if depth > 0 => return Err(Unreadable::damaged("it ends too early")),
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

fn element(start: &BytesStart<'_>) -> Result<Element, Unreadable> {
    let mut attributes = Vec::new();
    for attribute in start.attributes().with_checks(false) {
        let attribute = attribute.map_err(Unreadable::damaged)?;
        let value =
            attribute.normalized_value(XmlVersion::Implicit1_0).map_err(Unreadable::damaged)?;
        attributes.push((attribute.key.0.to_owned(), value.into_owned()));
        if attributes.len() > ATTRIBUTES {
            return Err(Unreadable::damaged("an element has too many attributes"));
        }
    }
    Ok(Element { name: start.name().0.to_owned(), attributes })
}

/// XML that is written.
pub(super) struct Output {
    xml: String,
    open: Vec<String>,
    /// Whether the last tag is not closed yet.
    pending: bool,
}

impl Output {
    pub(super) fn new() -> Self {
        let xml = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#.to_owned();
        Self { xml, open: Vec::new(), pending: false }
    }

    pub(super) fn open(&mut self, name: &str, attributes: &[(String, String)]) {
        self.settle();
        self.xml.push('<');
        self.xml.push_str(name);
        for (key, value) in attributes {
            self.xml.push(' ');
            self.xml.push_str(key);
            self.xml.push_str("=\"");
            escape(value, &mut self.xml);
            self.xml.push('"');
        }
        self.pending = true;
        self.open.push(name.to_owned());
    }

    pub(super) fn close(&mut self) {
        let Some(name) = self.open.pop() else { return };
        if std::mem::take(&mut self.pending) {
            self.xml.push_str("/>");
        } else {
            self.xml.push_str("</");
            self.xml.push_str(&name);
            self.xml.push('>');
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.settle();
            escape(text, &mut self.xml);
        }
    }

    pub(super) fn finish(self) -> String {
        self.xml
    }

    fn settle(&mut self) {
        if std::mem::take(&mut self.pending) {
            self.xml.push('>');
        }
    }
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            // Not allowed in XML at all.
            '\0'..'\u{20}' | '\u{fffe}' | '\u{ffff}' => {}
            c => out.push(c),
        }
    }
}
