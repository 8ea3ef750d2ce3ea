//! The values that placeholders name.

use serde_json::Value;

/// The data, with the items of lists that rows are repeated over.
#[derive(Clone, Debug)]
pub(super) struct Scope<'a> {
    data: &'a Value,
    /// Paths of lists, and the current item of each; inner ones last.
    items: Vec<(Vec<String>, &'a Value)>,
}

/// The value at a path.
#[derive(Debug, PartialEq)]
pub(super) enum PathValue<'a> {
    Text(String),
    /// A list, by the part of the path that leads to it.
    List(Vec<String>, &'a [Value]),
    Missing,
}

impl<'a> Scope<'a> {
    pub(super) fn new(data: &'a Value) -> Self {
        Self { data, items: Vec::new() }
    }

    /// The scope within a row, where a path leads to one item of its list.
    pub(super) fn within(&self, list: &[String], item: &'a Value) -> Self {
        let mut scope = self.clone();
        scope.items.push((list.to_vec(), item));
        scope
    }

    pub(super) fn find(&self, path: &[String]) -> PathValue<'a> {
        let inner = self.items.iter().rev().find(|(list, _)| path.starts_with(list));
        let (mut value, from) = inner.map_or((self.data, 0), |(list, item)| (*item, list.len()));
        for (at, name) in path.iter().enumerate().skip(from) {
            let next = match value {
                Value::Object(fields) => fields.get(name),
                Value::Array(list) => match name.parse::<usize>() {
                    Ok(index) => list.get(index),
                    Err(_) => return PathValue::List(path[..at].to_vec(), list),
                },
                _ => None,
            };
            let Some(next) = next else { return PathValue::Missing };
            value = next;
        }
        match value {
            Value::String(text) => PathValue::Text(text.clone()),
            Value::Number(number) => PathValue::Text(number.to_string()),
            Value::Bool(is_true) => PathValue::Text(is_true.to_string()),
            Value::Array(list) => PathValue::List(path.to_vec(), list),
            Value::Null | Value::Object(_) => PathValue::Missing,
        }
    }
}
