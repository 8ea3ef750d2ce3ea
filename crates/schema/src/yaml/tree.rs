use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use serde_saphyr::Spanned;

use super::{Limits, YamlError, parse};

/// A value and the line on which it begins, so that errors found after parsing can name the line.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub line: usize,
    pub content: Content,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// One key of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub key: String,
    pub line: usize,
    pub value: Node,
}

/// One step from a value to a value inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A key of a mapping, or the index of an item as text.
    Key(String),
    Index(usize),
}

impl Node {
    /// Parses one document; none if the text has nothing but comments.
    pub fn parse(text: &str, limits: Limits) -> Result<Option<Self>, YamlError> {
        let node: Option<Self> = parse(text, limits)?;
        Ok(node.filter(|node| node.content != Content::Null))
    }

    /// The value of a key; none if there is no such key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The keys in the order of the text; none if it is no mapping.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries().iter().map(|entry| entry.key.as_str())
    }

    fn entries(&self) -> &[Entry] {
        match &self.content {
            Content::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The line of the value at a path, or of the nearest value above it that exists.
    pub fn line_of(&self, path: &[Step]) -> usize {
        let Some((step, rest)) = path.split_first() else { return self.line };
        match (&self.content, step) {
            (Content::Map(entries), Step::Key(key)) => {
                entries.iter().find(|entry| entry.key == *key).map_or(self.line, |entry| {
                    if rest.is_empty() { entry.line } else { entry.value.line_of(rest) }
                })
            }
            (Content::List(items), step) => step
                .index()
                .and_then(|index| items.get(index))
                .map_or(self.line, |item| item.line_of(rest)),
            _ => self.line,
        }
    }

    /// The line of the value that a JSON Pointer names, or of the nearest value above it that exists.
    pub fn line_at(&self, pointer: &str) -> usize {
        let steps = pointer.split('/').skip(1);
        let steps = steps.map(|step| Step::Key(step.replace("~1", "/").replace("~0", "~")));
        self.line_of(&steps.collect::<Vec<_>>())
    }

    /// Removes the value at a path; false if there is none.
    pub fn remove(&mut self, path: &[Step]) -> bool {
        let Some((step, rest)) = path.split_first() else { return false };
        match (step, &mut self.content) {
            (Step::Key(key), Content::Map(entries)) => {
                let Some(at) = entries.iter().position(|entry| entry.key == *key) else {
                    return false;
                };
                if rest.is_empty() {
                    entries.remove(at);
                    return true;
                }
                entries[at].value.remove(rest)
            }
            (Step::Index(index), Content::List(items)) if *index < items.len() => {
                if rest.is_empty() {
                    items.remove(*index);
                    return true;
                }
                items[*index].remove(rest)
            }
            _ => false,
        }
    }

    /// The value without its lines.
    pub fn json(&self) -> Value {
        match &self.content {
            Content::Null => Value::Null,
            Content::Bool(value) => Value::Bool(*value),
            Content::Number(number) => Value::Number(number.clone()),
            Content::Text(text) => Value::String(text.clone()),
            Content::List(items) => items.iter().map(Node::json).collect(),
            Content::Map(entries) => {
                entries.iter().map(|entry| (entry.key.clone(), entry.value.json())).collect()
            }
        }
    }
}

impl Step {
    fn index(&self) -> Option<usize> {
        match self {
            Step::Index(index) => Some(*index),
            Step::Key(key) => key.parse().ok(),
        }
    }
}

/// Writes a path as people write it: `limits.rate.tools.demo.echo`, `tools[1]`.
pub fn show_path(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(key);
            }
            Step::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Content>::deserialize(deserializer)?;
        Ok(Self { line: line(&spanned), content: spanned.value })
    }
}

fn line<T>(spanned: &Spanned<T>) -> usize {
    usize::try_from(spanned.referenced.line()).unwrap_or(usize::MAX)
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Content, E> {
        Ok(Content::Null)
    }

    fn visit_none<E>(self) -> Result<Content, E> {
        Ok(Content::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Content, D::Error> {
        Content::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Content, E> {
        Ok(Content::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Content, E> {
        Ok(Content::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Content, E> {
        Ok(Content::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Content, E> {
        Ok(Number::from_f64(value).map_or(Content::Null, Content::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Content, E> {
        Ok(Content::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Content, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Content::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            entries.push(Entry { line: line(&key), key: key.value, value: map.next_value()? });
        }
        Ok(Content::Map(entries))
    }
}
