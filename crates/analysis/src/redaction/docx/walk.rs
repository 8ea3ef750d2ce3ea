//! Goes through a part: which texts it has, what is dropped, and the part written again.

use std::collections::{HashMap, HashSet};

use extraction::{Limits, Unreadable};

use super::xml::{self, Element, Node, Output, local};

/// What a text is for a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    /// Shown in its paragraph.
    Shown,
    /// In its paragraph, but not shown.
    Hidden,
    /// One of two alternatives, of which a program shows what it can.
    Choice,
    Fallback,
    /// Deleted by a tracked change.
    Deleted,
    /// The instruction of a field.
    Instruction,
    /// A text on its own: labels of charts, alternative texts, titles.
    Single,
}

/// What takes the texts of a part, in the order of the document.
pub(super) trait Sink {
    /// A text, and what is written instead.
    fn text(&mut self, stream: Stream, text: &str) -> String;

    /// A name or number that is no text, and what is written instead.
    fn plain(&mut self, value: &str) -> Option<String>;

    /// Signs that are no text, such as tabs.
    fn sign(&mut self, sign: char);

    /// The begin or end of a field, which shows nothing itself.
    fn end_instruction(&mut self) {}

    fn open_paragraph(&mut self) {}

    fn close_paragraph(&mut self) {}

    /// Whether the texts that follow are inserted by a tracked change.
    fn inserted(&mut self, _begins: bool) {}

    /// Whether to go on: a part may have too much text.
    fn is_full(&self) -> bool {
        false
    }
}

/// Settings and links that name people, other files or data.
const DROPPED: [&str; 17] = [
    "fldData",
    "docVars",
    "rsids",
    "attachedTemplate",
    "mailMerge",
    "altChunk",
    "OLEObject",
    "control",
    "subDoc",
    "externalData",
    "dataBinding",
    "smartTagPr",
    "customXmlPr",
    "saveThroughXslt",
    "printerSettings",
    "schemaLibrary",
    "embeddings",
];

/// Attributes that repeat a text in another form: encoded, or as a date.
const DROPPED_ATTRIBUTES: [&str; 3] = ["gfxdata", "equationxml", "fullDate"];

/// Elements that stay without the part that they name.
const SHOWN_WITHOUT_PART: [&str; 6] =
    ["hyperlink", "blip", "imagedata", "hlinkClick", "hlinkHover", "fill"];

const PEOPLE: [&str; 7] =
    ["author", "initials", "userId", "providerId", "lastModifiedBy", "presenceInfo", "ed"];

/// Attributes that are texts, whatever their element is.
const TEXTS: [&str; 10] = [
    "descr",
    "title",
    "alt",
    "string",
    "displayText",
    "value",
    "instr",
    "tooltip",
    "href",
    "lastValue",
];

/// Elements whose `val` is a text.
const VALUES: [&str; 9] = [
    "lvlText",
    "alias",
    "tag",
    "default",
    "statusText",
    "helpText",
    "listEntry",
    "tblCaption",
    "tblDescription",
];

/// Elements that hold a number or word for the layout.
const MEASURES: [&str; 5] = ["posOffset", "align", "pctWidth", "pctHeight", "pctPosHOffset"];

/// The numbers of the kept relationships of a part, by the name in the source.
pub(super) type Kept = HashMap<String, String>;

/// Writes a part again with the texts that `sink` gives.
pub(super) fn walk(
    source: &str,
    kept: &Kept,
    limits: &Limits,
    sink: &mut impl Sink,
) -> Result<String, Unreadable> {
    let mut walker = Walker {
        kept,
        sink,
        output: Output::new(),
        open: Vec::new(),
        skipped: 0,
        deleted: 0,
        hidden: Vec::new(),
        fields: Vec::new(),
        instructions: 0,
        alternatives: Vec::new(),
        relations: HashSet::from(["r".to_owned()]),
    };
    xml::each(source, limits, |node| walker.node(node, limits))?;
    Ok(walker.output.finish())
}

struct Walker<'w, S> {
    kept: &'w Kept,
    sink: &'w mut S,
    output: Output,
    /// The names of the open elements, without prefixes.
    open: Vec<String>,
    /// How many elements are open within one that is dropped.
    skipped: usize,
    /// How many open elements hold what tracked changes delete.
    deleted: usize,
    /// For each open run whether its text is hidden.
    hidden: Vec<bool>,
    /// For each open field whether its instruction goes on: results of others within it are not shown.
    fields: Vec<bool>,
    /// How many instructions of open fields go on.
    instructions: usize,
    /// The open alternatives.
    alternatives: Vec<Stream>,
    /// Prefixes of attributes that name relationships.
    relations: HashSet<String>,
}

impl<S: Sink> Walker<'_, S> {
    fn node(&mut self, node: Node, limits: &Limits) -> Result<(), Unreadable> {
        match node {
            Node::Open(_) if self.skipped > 0 => self.skipped += 1,
            Node::Open(element) => self.open(element),
            Node::Close if self.skipped > 0 => self.skipped -= 1,
            Node::Close => self.close(),
            Node::Text(_) if self.skipped > 0 => {}
            Node::Text(text) => self.text(&text),
        }
        if self.sink.is_full() {
            let limit = limits.text as u64;
            return Err(Unreadable::TooLarge { what: "its text", limit });
        }
        Ok(())
    }

    fn open(&mut self, element: Element) {
        let name = local(&element.name).to_owned();
        for (key, value) in &element.attributes {
            if let Some(prefix) = key.strip_prefix("xmlns:")
                && value.ends_with("/relationships")
            {
                self.relations.insert(prefix.to_owned());
            }
        }
        let Some(attributes) = self.attributes(&name, &element) else {
            self.skipped = 1;
            return;
        };
        if name == "sym" && self.symbol(&element) {
            self.skipped = 1;
            return;
        }
        self.output.open(&element.name, &attributes);
        match name.as_str() {
            "p" => self.sink.open_paragraph(),
            "ins" | "moveTo" => self.sink.inserted(true),
            "del" | "moveFrom" => self.deleted += 1,
            "r" => self.hidden.push(false),
            "vanish" if self.open.ends_with(&["r".to_owned(), "rPr".to_owned()]) => {
                let is_off = matches!(element.get("val"), Some("0" | "false" | "off"));
                if let Some(hidden) = self.hidden.last_mut() {
                    *hidden = !is_off;
                }
            }
            "tab" | "ptab" => self.sink.sign('\t'),
            "br" | "cr" => self.sink.sign('\n'),
            "fldChar" => self.field(element.get("fldCharType").unwrap_or_default()),
            "noBreakHyphen" => self.sink.sign('-'),
            "softHyphen" => self.sink.sign('\u{ad}'),
            "Choice" => self.alternatives.push(Stream::Choice),
            "Fallback" => self.alternatives.push(Stream::Fallback),
            _ => {}
        }
        self.open.push(name);
    }

    /// Whether a symbol is a character of a value: then what replaces it is written as a text.
    fn symbol(&mut self, element: &Element) -> bool {
        let Some(sign) = element.get("char").and_then(symbol) else { return false };
        let sign = sign.to_string();
        let stream = self.stream();
        let written = self.sink.text(stream, &sign);
        if written == sign {
            return false;
        }
        let prefix = &element.name[..element.name.len() - "sym".len()];
        self.output.open(&format!("{prefix}t"), &[]);
        self.output.text(&written);
        self.output.close();
        true
    }

    /// The attributes as they are written; `None` if the element is dropped.
    fn attributes(&mut self, name: &str, element: &Element) -> Option<Vec<(String, String)>> {
        if DROPPED.contains(&name) || self.sink.plain(name).is_some() {
            return None;
        }
        let mut attributes = Vec::with_capacity(element.attributes.len());
        for (key, value) in &element.attributes {
            let word = local(key);
            let prefix = key.split_once(':').map(|(prefix, _)| prefix);
            let names_part =
                word == "relid" || prefix.is_some_and(|prefix| self.relations.contains(prefix));
            let is_space = key == "xmlns" || prefix == Some("xmlns");
            if word.starts_with("rsid")
                || DROPPED_ATTRIBUTES.contains(&word)
                || !is_space && self.sink.plain(word).is_some()
            {
                continue;
            }
            let value = if names_part {
                match self.kept.get(value) {
                    Some(number) => number.clone(),
                    None if SHOWN_WITHOUT_PART.contains(&name) => continue,
                    None => return None,
                }
            } else if PEOPLE.contains(&word) {
                "redacted".to_owned()
            } else if !is_space && is_text(name, word, value) {
                self.sink.text(Stream::Single, value)
            } else {
                self.sink.plain(value).unwrap_or_else(|| value.clone())
            };
            attributes.push((key.clone(), value));
        }
        Some(attributes)
    }

    fn close(&mut self) {
        match self.open.pop().as_deref() {
            Some("p") => self.sink.close_paragraph(),
            Some("ins" | "moveTo") => self.sink.inserted(false),
            Some("del" | "moveFrom") => self.deleted = self.deleted.saturating_sub(1),
            Some("r") => drop(self.hidden.pop()),
            Some("Choice" | "Fallback") => drop(self.alternatives.pop()),
            Some("tc") => self.sink.sign('\t'),
            _ => {}
        }
        self.output.close();
    }

    fn field(&mut self, mark: &str) {
        match mark {
            "begin" => {
                self.fields.push(true);
                self.instructions += 1;
            }
            "separate" => {
                if let Some(field) = self.fields.last_mut() {
                    self.instructions -= usize::from(std::mem::take(field));
                }
            }
            _ => self.instructions -= usize::from(self.fields.pop() == Some(true)),
        }
        self.sink.end_instruction();
    }

    /// Where the text of a run belongs.
    fn stream(&self) -> Stream {
        let is_hidden = self.hidden.last().is_some_and(|hidden| *hidden);
        if self.deleted > 0 {
            Stream::Deleted
        } else if is_hidden || self.instructions > 0 {
            Stream::Hidden
        } else {
            self.alternatives.last().copied().unwrap_or(Stream::Shown)
        }
    }

    fn text(&mut self, text: &str) {
        let name = self.open.last().map_or("", String::as_str);
        let stream = match name {
            "t" => self.stream(),
            "delText" => Stream::Deleted,
            "instrText" | "delInstrText" => Stream::Instruction,
            _ if text.trim().is_empty() => return,
            _ if MEASURES.contains(&name) => {
                let written = self.sink.plain(text);
                self.output.text(written.as_deref().unwrap_or(text));
                return;
            }
            _ => Stream::Single,
        };
        let written = self.sink.text(stream, text);
        self.output.text(&written);
    }
}

/// Whether an attribute is a text in which values are looked for.
fn is_text(element: &str, attribute: &str, value: &str) -> bool {
    TEXTS.contains(&attribute)
        || attribute == "val" && VALUES.contains(&element)
        || attribute == "name" && matches!(element, "docPr" | "cNvPr")
        || value.contains('@')
        || value.contains("%40")
        || value.contains('＠')
}

/// The character of a symbol; those of symbol fonts are in an area of their own.
fn symbol(code: &str) -> Option<char> {
    let code = u32::from_str_radix(code, 16).ok()?;
    char::from_u32(if (0xf020..=0xf0ff).contains(&code) { code - 0xf000 } else { code })
}
