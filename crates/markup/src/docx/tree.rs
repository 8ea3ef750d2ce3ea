//! XML parts as trees that are written as they were read, where nothing was changed.

use quick_xml::escape::unescape;
use quick_xml::events::Event;
use quick_xml::reader::Reader;

use super::error::DocxError;
use super::xml::escape;

/// Elements within elements; deeper parts are refused.
const MAX_DEPTH: usize = 256;

#[derive(Clone, Debug)]
pub(super) enum Node {
    Element(Element),
    /// Text, comments and the like as they are written.
    Raw(String),
}

#[derive(Clone, Debug)]
pub(super) struct Element {
    /// With its prefix.
    pub(super) name: String,
    /// As they are written, with a space before each.
    attributes: String,
    pub(super) children: Vec<Node>,
}

/// A part: the root element, and what is before it.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    prolog: String,
    pub(super) root: Element,
}

impl Tree {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, DocxError> {
        let text = std::str::from_utf8(bytes).map_err(|_| DocxError::damaged("it is not UTF-8"))?;
        let text = text.trim_start_matches('\u{feff}');
        let mut reader = Reader::from_str(text);
        let mut prolog = String::new();
        let mut open: Vec<Element> = Vec::new();
        let mut root = None;
        loop {
            let raw = match reader.read_event().map_err(DocxError::damaged)? {
                Event::Start(start) => {
                    if open.len() >= MAX_DEPTH {
                        return Err(DocxError::damaged("its elements are nested too deeply"));
                    }
                    open.push(Element::new(start.name().0, start.attributes_raw()));
                    continue;
                }
                Event::Empty(start) => {
                    let element = Element::new(start.name().0, start.attributes_raw());
                    close(element, &mut open, &mut root);
                    continue;
                }
                Event::End(_) => {
                    if let Some(element) = open.pop() {
                        close(element, &mut open, &mut root);
                    }
                    continue;
                }
                Event::DocType(_) => {
                    return Err(DocxError::damaged("it declares a document type"));
                }
                Event::Eof => break,
                Event::Text(text) => text.into_inner().into_owned(),
                Event::CData(text) => escape(&text.into_inner()),
                Event::GeneralRef(name) => format!("&{};", &*name),
                Event::Comment(text) => format!("<!--{}-->", &*text),
                Event::Decl(declaration) => format!("<?{}?>", &*declaration),
                Event::PI(instruction) => format!("<?{}?>", &*instruction),
            };
            match open.last_mut() {
                Some(element) => element.push_raw(&raw),
                None if root.is_none() => prolog.push_str(&raw),
                None => {}
            }
        }
        match root {
            Some(root) if open.is_empty() => Ok(Self { prolog, root }),
            _ => Err(DocxError::damaged("a part ends too early")),
        }
    }

    pub(super) fn write(&self) -> Vec<u8> {
        let mut out = self.prolog.clone();
        self.root.write(&mut out);
        out.into_bytes()
    }
}

fn close(element: Element, open: &mut [Element], root: &mut Option<Element>) {
    match open.last_mut() {
        Some(parent) => parent.children.push(Node::Element(element)),
        None => *root = root.take().or(Some(element)),
    }
}

impl Element {
    pub(super) fn new(name: &str, attributes: &str) -> Self {
        let attributes = attributes.trim_end();
        let space = if attributes.starts_with(char::is_whitespace) || attributes.is_empty() {
            ""
        } else {
            " "
        };
        Self {
            name: name.to_owned(),
            attributes: format!("{space}{attributes}"),
            children: Vec::new(),
        }
    }

    fn push_raw(&mut self, raw: &str) {
        match self.children.last_mut() {
            Some(Node::Raw(before)) => before.push_str(raw),
            _ => self.children.push(Node::Raw(raw.to_owned())),
        }
    }

    /// An attribute by its full name.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        self.value_at(self.attribute_range(|found| found == name)?)
    }

    /// An attribute by its name without a prefix: several prefixes may mean one namespace.
    pub(super) fn local_attribute(&self, name: &str) -> Option<String> {
        let is_local = |found: &str| found.rsplit(':').next() == Some(name);
        self.value_at(self.attribute_range(is_local)?)
    }

    fn value_at(&self, range: std::ops::Range<usize>) -> Option<String> {
        let value = self.attributes[range].split_once('=')?.1.trim();
        let value = value.get(1..value.len().checked_sub(1)?)?;
        // Entities of its own are not resolved: such an attribute has no value.
        unescape(value).ok().map(|value| value.into_owned())
    }

    /// Where the first attribute with a fitting name is, from its name to its closing quote.
    fn attribute_range(&self, fits: impl Fn(&str) -> bool) -> Option<std::ops::Range<usize>> {
        let text = &self.attributes;
        let mut at = 0;
        while at < text.len() {
            let start = at + text[at..].find(|c: char| !c.is_whitespace())?;
            let equals = start + text[start..].find('=')?;
            let quote_at = equals + 1 + text[equals + 1..].find(['"', '\''])?;
            let quote = &text[quote_at..=quote_at];
            let end = quote_at + 1 + text[quote_at + 1..].find(quote)? + 1;
            if fits(text[start..equals].trim()) {
                return Some(start..end);
            }
            at = end;
        }
        None
    }

    pub(super) fn set_attribute(&mut self, name: &str, value: &str) {
        self.remove_attribute(name);
        self.attributes.push_str(&format!(" {name}=\"{}\"", escape(value)));
    }

    pub(super) fn remove_attribute(&mut self, name: &str) {
        if let Some(range) = self.attribute_range(|found| found == name) {
            self.attributes.replace_range(range, "");
        }
    }

    pub(super) fn elements(&self) -> impl Iterator<Item = &Element> {
        self.children.iter().filter_map(Node::element)
    }

    pub(super) fn child(&self, name: &str) -> Option<&Element> {
        self.elements().find(|element| element.name == name)
    }

    pub(super) fn child_mut(&mut self, name: &str) -> Option<&mut Element> {
        self.children.iter_mut().find_map(|node| match node {
            Node::Element(element) if element.name == name => Some(element),
            _ => None,
        })
    }

    /// Whether it or an element within it has this name.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.name == name || self.elements().any(|element| element.contains(name))
    }

    /// The text directly in it, without the comments and instructions in between.
    pub(super) fn own_text(&self) -> String {
        let mut raw = String::new();
        for node in &self.children {
            let Node::Raw(node) = node else { continue };
            let mut rest = node.as_str();
            while let Some((text, mark)) = rest.split_once('<') {
                raw.push_str(text);
                let end = if mark.starts_with("!--") { "-->" } else { "?>" };
                rest = mark.split_once(end).map_or("", |(_, rest)| rest);
            }
            raw.push_str(rest);
        }
        unescape(&raw).map_or_else(|_| raw.clone(), |text| text.into_owned())
    }

    /// The prefix of its name with the colon.
    pub(super) fn local_name(&self) -> &str {
        &self.name[self.prefix().len()..]
    }

    pub(super) fn prefix(&self) -> &str {
        self.name.find(':').map_or("", |colon| &self.name[..=colon])
    }

    /// How many bytes it takes about, to bound copies of it.
    pub(super) fn weight(&self) -> usize {
        let children = self.children.iter().map(|node| match node {
            Node::Element(element) => element.weight(),
            Node::Raw(raw) => raw.len(),
        });
        32 + self.name.len() + self.attributes.len() + children.sum::<usize>()
    }

    fn write(&self, out: &mut String) {
        out.push('<');
        out.push_str(&self.name);
        out.push_str(&self.attributes);
        if self.children.is_empty() {
            out.push_str("/>");
            return;
        }
        out.push('>');
        for node in &self.children {
            match node {
                Node::Element(element) => element.write(out),
                Node::Raw(raw) => out.push_str(raw),
            }
        }
        out.push_str("</");
        out.push_str(&self.name);
        out.push('>');
    }
}

impl Node {
    pub(super) fn element(&self) -> Option<&Element> {
        match self {
            Self::Element(element) => Some(element),
            Self::Raw(_) => None,
        }
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.element().is_some_and(|element| element.name == name)
    }
}
