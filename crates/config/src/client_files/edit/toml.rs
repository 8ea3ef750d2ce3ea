//! Edits of tables in TOML. All text outside of the edited tables stays byte for byte.

use std::ops::Range;

use serde_json::{Map, Value as Json};
use toml_edit::{DocumentMut, Item, Table, Value};

use crate::client_files::toml::with_document;

/// The text with a table at a path.
pub(super) fn set(text: &str, path: &[&str], value: &Json) -> Option<String> {
    let Json::Object(keys) = value else { return None };
    let table = with_header(path, keys)?;
    let known = tables(text, path)?;
    let mut edited = text.to_owned();
    if let Some(first) = known.first().cloned() {
        for range in known.iter().skip(1).rev() {
            edited.replace_range(range.clone(), "");
        }
        edited.replace_range(first, &table);
        return Some(edited);
    }
    if !edited.is_empty() && !edited.ends_with('\n') {
        edited.push('\n');
    }
    if !edited.trim().is_empty() {
        edited.push('\n');
    }
    edited.push_str(&table);
    Some(edited)
}

/// The text without a table and those below it.
pub(super) fn remove(text: &str, path: &[&str]) -> Option<String> {
    let mut edited = text.to_owned();
    for range in tables(text, path)?.into_iter().rev() {
        edited.replace_range(range, "");
    }
    Some(edited)
}

/// The lines of a table and of those below it, in the order of the text, each without the comments that precede the
/// next table.
fn tables(text: &str, path: &[&str]) -> Option<Vec<Range<usize>>> {
    let ranges = with_document(text, |document| {
        let item = path.iter().try_fold(document.as_item(), |item, key| item.get(*key));
        let mut found = Vec::new();
        if let Some(Item::Table(table)) = item {
            collect(table, &mut found);
        }
        found
    });
    let mut found = ranges.ok()?;
    found.sort_by_key(|range| range.start);
    let line = |range: Range<usize>| {
        let start = text[..range.start].trim_end_matches([' ', '\t']).len();
        let end = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at + 1);
        start..end
    };
    Some(found.into_iter().map(line).collect())
}

/// Collects, for a table and those below it that have a header, the range from the header to the last value.
fn collect(table: &Table, found: &mut Vec<Range<usize>>) {
    let header = table.span().filter(|_| !table.is_implicit() && !table.is_dotted());
    if let Some(header) = header {
        let end = end_of_values(table).unwrap_or(0).max(header.end);
        found.push(header.start..end);
    }
    for (_, item) in table.iter() {
        match item {
            Item::Table(below) => collect(below, found),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|table| collect(table, found)),
            Item::Value(_) | Item::None => {}
        }
    }
}

/// Where the last value of a table ends, those of dotted keys included.
fn end_of_values(table: &Table) -> Option<usize> {
    let end = |item: &Item| match item {
        Item::Value(value) => value.span().map(|span| span.end),
        Item::Table(below) if below.is_dotted() => end_of_values(below),
        _ => None,
    };
    table.iter().filter_map(|(_, item)| end(item)).max()
}

fn with_header(path: &[&str], keys: &Map<String, Json>) -> Option<String> {
    let mut table = Table::new();
    for (key, value) in keys {
        table.insert(key, Item::Value(to_toml(value)?));
    }
    for name in path.iter().rev() {
        let mut above = Table::new();
        above.set_implicit(true);
        above.insert(name, Item::Table(table));
        table = above;
    }
    Some(DocumentMut::from(table).to_string())
}

fn to_toml(value: &Json) -> Option<Value> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(truth) => (*truth).into(),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64()?.into(),
        },
        Json::String(text) => text.into(),
        Json::Array(items) => {
            items.iter().map(to_toml).collect::<Option<Vec<_>>>()?.into_iter().collect()
        }
        Json::Object(keys) => {
            let keys = keys.iter().map(|(key, value)| Some((key, to_toml(value)?)));
            keys.collect::<Option<Vec<_>>>()?.into_iter().collect()
        }
    })
}
