//! The texts of a part: where each is in the XML, and all of them joined.

use std::borrow::Cow;
use std::ops::Range;

use extraction::{Limits, Unreadable};
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::Event;

use crate::redaction::Plan;

/// The texts of a part, joined as a reader sees them: runs without a gap, paragraphs by line breaks.
pub(super) struct TextNodes {
    pub(super) text: String,
    nodes: Vec<Node>,
}

/// A text: its place in the XML and in the joined text.
struct Node {
    xml: Range<usize>,
    text: Range<usize>,
}

impl TextNodes {
    pub(super) fn read(xml: &str, limits: &Limits) -> Result<Self, Unreadable> {
        let mut reader = Reader::from_str(xml);
        let mut found = Self { text: String::new(), nodes: Vec::new() };
        let mut open: Option<usize> = None;
        let mut depth = 0usize;
        loop {
            let before = position(&reader);
            match reader.read_event().map_err(Unreadable::damaged)? {
                Event::Start(start) => {
                    depth += 1;
                    if depth > limits.depth {
                        return Err(Unreadable::damaged("its elements are nested too deeply"));
                    }
                    if is_text(local(start.name().0)) {
                        open = Some(position(&reader));
                    }
                }
                Event::End(end) => {
                    depth = depth.saturating_sub(1);
                    let name = local(end.name().0);
                    if let Some(from) = open.take().filter(|_| is_text(name)) {
                        found.add(xml, from..before)?;
                    }
                    found.text.push_str(match name {
                        "p" => "\n",
                        "tc" => "\t",
                        _ => "",
                    });
                }
                Event::Empty(empty) => found.text.push_str(match local(empty.name().0) {
                    "tab" => "\t",
                    "br" | "cr" | "p" => "\n",
                    _ => "",
                }),
                Event::DocType(_) => {
                    return Err(Unreadable::damaged("it declares a document type"));
                }
                Event::Eof => break,
                _ => {}
            }
        }
        found.text.push('\n');
        Ok(found)
    }

    fn add(&mut self, xml: &str, place: Range<usize>) -> Result<(), Unreadable> {
        let written = xml.get(place.clone()).unwrap_or_default();
        let text: Cow<'_, str> = unescape(written).map_err(Unreadable::damaged)?;
        let start = self.text.len();
        self.text.push_str(&text);
        self.nodes.push(Node { xml: place, text: start..self.text.len() });
        Ok(())
    }

    /// The XML with the plan's replacements. The text of this part begins at `offset` of the planned text; a value over
    /// several runs is replaced in the first and removed from the others.
    pub(super) fn edited(&self, xml: &str, plan: &Plan, offset: usize) -> String {
        let mut out = String::with_capacity(xml.len());
        let mut at = 0;
        for node in &self.nodes {
            let place = node.text.start + offset..node.text.end + offset;
            let edits = plan.edits_within(&place);
            if edits.is_empty() {
                continue;
            }
            out.push_str(&xml[at..node.xml.start]);
            let mut from = place.start;
            for edit in edits {
                let start = edit.place.start.max(place.start);
                out.push_str(&escape(&self.text[from - offset..start - offset]));
                if edit.place.start >= place.start {
                    out.push_str(&escape(&edit.replacement));
                }
                from = edit.place.end.min(place.end);
            }
            out.push_str(&escape(&self.text[from - offset..place.end - offset]));
            at = node.xml.end;
        }
        out.push_str(&xml[at..]);
        out
    }
}

fn position(reader: &Reader<&[u8]>) -> usize {
    usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX)
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or_default()
}

/// Shown text, deleted text of tracked changes, and instructions of fields.
fn is_text(name: &str) -> bool {
    matches!(name, "t" | "delText" | "instrText" | "delInstrText")
}

/// A text as XML writes it.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}
