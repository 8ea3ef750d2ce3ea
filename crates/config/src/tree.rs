//! A YAML file as a tree with line numbers, so that faults found after parsing can name their line.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

/// One value and the line it begins on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) line: u64,
    pub(crate) value: Value,
}

/// A YAML value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// One key of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) line: u64,
    pub(crate) value: Node,
}

/// One step from a value to a value inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

impl Node {
    /// Parses one document; none if the text has nothing but comments.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, serde_saphyr::Error> {
        let options = serde_saphyr::options! {
            budget: serde_saphyr::budget! {
                max_events: 20_000,
                max_aliases: 100,
                max_anchors: 100,
                max_depth: 32,
                max_nodes: 10_000,
                max_total_scalar_bytes: 1024 * 1024,
            },
            strict_booleans: true,
            with_snippet: false,
        };
        let node: Option<Self> = serde_saphyr::from_str_with_options(text, options)?;
        Ok(node.filter(|node| node.value != Value::Null))
    }

    /// The line of the value at a path, or of its nearest existing parent.
    pub(crate) fn line_of(&self, path: &[Step]) -> u64 {
        let Some((step, rest)) = path.split_first() else { return self.line };
        match (step, &self.value) {
            (Step::Key(key), Value::Map(entries)) => {
                entries.iter().find(|entry| entry.key == *key).map_or(self.line, |entry| {
                    if rest.is_empty() { entry.line } else { entry.value.line_of(rest) }
                })
            }
            (Step::Index(index), Value::List(items)) => {
                items.get(*index).map_or(self.line, |item| item.line_of(rest))
            }
            _ => self.line,
        }
    }

    /// Removes the value at a path; returns whether it existed.
    pub(crate) fn remove(&mut self, path: &[Step]) -> bool {
        let Some((step, rest)) = path.split_first() else { return false };
        match (step, &mut self.value) {
            (Step::Key(key), Value::Map(entries)) => {
                let Some(at) = entries.iter().position(|entry| entry.key == *key) else {
                    return false;
                };
                if rest.is_empty() {
                    entries.remove(at);
                    return true;
                }
                entries[at].value.remove(rest)
            }
            (Step::Index(index), Value::List(items)) if *index < items.len() => {
                if rest.is_empty() {
                    items.remove(*index);
                    return true;
                }
                items[*index].remove(rest)
            }
            _ => false,
        }
    }
}

/// Formats a path: `limits.rate.tools.demo.echo`, `tools[1]`.
pub(crate) fn show(path: &[Step]) -> String {
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
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Self { line: spanned.referenced.line(), value: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        // No setting is this large; as text, the error shows the value.
        Ok(i64::try_from(value).map_or_else(|_| Value::Text(value.to_string()), Value::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let line = key.referenced.line();
            entries.push(Entry { key: key.value, line, value: map.next_value()? });
        }
        Ok(Value::Map(entries))
    }
}
