//! Edits of tables in TOML.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::client_files::toml::header;

/// The text with a table at a path.
pub(super) fn set(text: &str, path: &[&str], value: &Value) -> Option<String> {
    let Value::Object(keys) = value else { return None };
    let table = table(path, keys)?;
    let known = tables(text, path);
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
    for range in tables(text, path).into_iter().rev() {
        edited.replace_range(range, "");
    }
    Some(edited)
}

/// The lines of a table and of those below it, each without the comments that precede the next table.
fn tables(text: &str, path: &[&str]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let (mut at, mut inside) = (0, false);
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let trimmed = line.trim();
        if let Some(name) = header(line).filter(|_| trimmed.starts_with('[') && is_header(trimmed))
        {
            inside = name.len() >= path.len() && name.iter().zip(path).all(|(a, b)| a == b);
            if inside {
                found.push(start..at);
                continue;
            }
        }
        let last = found.last_mut().filter(|_| inside);
        if let Some(last) = last.filter(|_| !trimmed.is_empty() && !trimmed.starts_with('#')) {
            last.end = at;
        }
    }
    found
}

/// Whether a line that begins with `[` is a header and not an item of a list.
fn is_header(line: &str) -> bool {
    let bare = line.split('#').next().unwrap_or(line).trim_end();
    bare.ends_with(']') && !bare.contains(',') && !bare.contains('=')
}

fn table(path: &[&str], keys: &Map<String, Value>) -> Option<String> {
    let name = path.iter().map(|key| bare(key)).collect::<Vec<_>>().join(".");
    let mut lines = format!("[{name}]\n");
    for (key, value) in keys {
        lines.push_str(&format!("{} = {}\n", bare(key), inline(value)?));
    }
    Some(lines)
}

fn bare(key: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !key.is_empty() && key.chars().all(fits) { key.to_owned() } else { string(key) }
}

/// The escapes of JSON strings are those of TOML, apart from `\/`, which is never written.
fn string(text: &str) -> String {
    Value::String(text.to_owned()).to_string().replace('\u{7f}', "\\u007F")
}

fn inline(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::String(text) => string(text),
        Value::Array(items) => {
            let items = items.iter().map(inline).collect::<Option<Vec<_>>>()?;
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) => {
            let keys =
                map.iter().map(|(key, value)| Some(format!("{} = {}", bare(key), inline(value)?)));
            format!("{{ {} }}", keys.collect::<Option<Vec<_>>>()?.join(", "))
        }
        other => other.to_string(),
    })
}
