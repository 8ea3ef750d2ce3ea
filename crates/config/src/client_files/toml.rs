//! Reads TOML as JSON. Dates are read as text.

use std::thread::{self, ScopedJoinHandle};

use serde_json::{Map, Number, Value as Json};
use toml_edit::{Document, Item, TableLike, Value};

/// How deep tables and values may be nested.
const MAX_DEPTH: usize = 64;

/// Enough for the deepest document that the library accepts.
const STACK_BYTES: usize = 64 << 20;

/// Why a text is not TOML. The message does not repeat the text, which may hold a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub(crate) struct TomlError {
    line: usize,
    message: String,
}

impl TomlError {
    fn new(text: &str, at: usize, message: &str) -> Self {
        let before = &text.as_bytes()[..at.min(text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        Self { line, message: message.to_owned() }
    }
}

/// Reads a document as JSON.
pub(crate) fn parse(text: &str) -> Result<Json, TomlError> {
    with_document(text, |document| of_table(document.as_table(), 0))?
        .map_err(|TooDeep { at }| TomlError::new(text, at, "a value is nested too deeply"))
}

/// Calls `read` with a document whose parts know their ranges in the text, on a thread of its own: the library accepts
/// 80 tables inside each other whose keys have 80 parts each, and drops them by recursion.
pub(crate) fn with_document<T: Send>(
    text: &str,
    read: impl FnOnce(&Document<&str>) -> T + Send,
) -> Result<T, TomlError> {
    let work = move || -> Result<T, TomlError> {
        let document = Document::parse(text).map_err(|error| {
            TomlError::new(text, error.span().map_or(0, |span| span.start), error.message())
        })?;
        Ok(read(&document))
    };
    thread::scope(|scope| {
        let started = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        match started.map(ScopedJoinHandle::join) {
            Ok(Ok(done)) => done,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => Err(TomlError::new("", 0, &format!("no thread can read it: {error}"))),
        }
    })
}

/// An item is nested too deeply, at this place of the text.
struct TooDeep {
    at: usize,
}

fn of_table(table: &dyn TableLike, depth: usize) -> Result<Json, TooDeep> {
    let mut keys = Map::new();
    for (key, item) in table.iter() {
        keys.insert(key.to_owned(), of_item(item, depth + 1)?);
    }
    Ok(Json::Object(keys))
}

fn of_item(item: &Item, depth: usize) -> Result<Json, TooDeep> {
    if depth > MAX_DEPTH {
        return Err(TooDeep { at: item.span().map_or(0, |span| span.start) });
    }
    match item {
        Item::None => Ok(Json::Null),
        Item::Value(value) => of_value(value, depth),
        Item::Table(table) => of_table(table, depth),
        Item::ArrayOfTables(tables) => {
            tables.iter().map(|table| of_table(table, depth + 1)).collect()
        }
    }
}

fn of_value(value: &Value, depth: usize) -> Result<Json, TooDeep> {
    Ok(match value {
        Value::String(text) => text.value().clone().into(),
        Value::Integer(number) => (*number.value()).into(),
        Value::Float(number) => Number::from_f64(*number.value())
            .map_or_else(|| number.value().to_string().into(), Json::Number),
        Value::Boolean(truth) => (*truth.value()).into(),
        Value::Datetime(time) => time.value().to_string().into(),
        // The library bounds the depth of arrays.
        Value::Array(items) => {
            items.iter().map(|item| of_value(item, depth + 1)).collect::<Result<_, _>>()?
        }
        Value::InlineTable(table) => of_table(table, depth)?,
    })
}

#[cfg(test)]
mod tests;
