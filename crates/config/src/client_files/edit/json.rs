//! Edits of JSON with comments.

use schema::yaml::{Outline, Shape};
use serde_json::{Map, Value};

use crate::client_files::jsonc;

/// Indentation of files that show none.
const UNIT: &str = "  ";

/// The text with a value at a path; none if the text has an unusual form.
pub(super) fn set(text: &str, path: &[&str], value: &Value) -> Option<String> {
    if text.trim().is_empty() {
        let document = nest(path, value.clone());
        return Some(format!("{}\n", pretty(&document, "", UNIT)));
    }
    let json = jsonc::to_json(text);
    let root = jsonc::outline(&json)?;
    let unit = unit(&json, &root);
    let mut map = &root;
    for (depth, key) in path.iter().enumerate() {
        match map.field(key) {
            Some(field) if depth + 1 == path.len() => {
                let outer = indent_at(text, field.key.start);
                let mut edited = text.to_owned();
                edited.replace_range(field.value.range.clone(), &pretty(value, outer, &unit));
                return Some(edited);
            }
            Some(field) if matches!(field.value.shape, Shape::Map { .. }) => map = &field.value,
            Some(_) => return None,
            None => {
                let value = nest(&path[depth + 1..], value.clone());
                return Some(insert(text, &json, map, key, &value, &unit));
            }
        }
    }
    None
}

/// The text without the key at a path.
pub(super) fn remove(text: &str, path: &[&str]) -> Option<String> {
    let json = jsonc::to_json(text);
    let root = jsonc::outline(&json)?;
    let (name, above) = path.split_last()?;
    let map = above.iter().try_fold(&root, |map, key| map.field(key).map(|field| &field.value))?;
    let fields = map.fields();
    let at = fields.iter().position(|field| field.name.as_deref() == Some(*name))?;
    let gone = &fields[at];
    let mut edited = text.to_owned();
    let Some(before) = at.checked_sub(1).map(|before| &fields[before]) else {
        let range = match fields.get(1) {
            Some(next) => gone.key.start..next.key.start,
            None => {
                let end = trailing_comma(text, &json, gone.value.range.end, map.range.end);
                gone.key.start..end.unwrap_or(gone.value.range.end)
            }
        };
        edited.replace_range(range, "");
        return Some(edited);
    };
    // Comments between the two belong to the one before.
    let limit = fields.get(at + 1).map_or(map.range.end, |next| next.key.start);
    let comma = trailing_comma(text, &json, gone.value.range.end, limit);
    let end = comma.unwrap_or(gone.value.range.end);
    let line_ends = text[end..].trim_start_matches([' ', '\t']).starts_with(['\r', '\n']);
    let start = if line_ends {
        text[..gone.key.start].trim_end().len()
    } else {
        text[..gone.key.start].trim_end_matches([' ', '\t']).len()
    };
    edited.replace_range(start..end, "");
    if comma.is_none()
        && let Some(after) = trailing_comma(text, &json, before.value.range.end, gone.key.start)
    {
        edited.replace_range(after - 1..after, "");
    }
    Some(edited)
}

/// Adds a key at the end of a map.
fn insert(text: &str, json: &str, map: &Outline, key: &str, value: &Value, unit: &str) -> String {
    let mut edited = text.to_owned();
    let close = map.range.end - 1;
    let outer = indent_at(text, map.range.start);
    let Some(last) = map.fields().last() else {
        let inner = format!("{outer}{unit}");
        let field = format!("\n{inner}{}: {}", quote(key), pretty(value, &inner, unit));
        let rest = &text[map.range.start + 1..close];
        let end = if rest.contains('\n') { String::new() } else { format!("\n{outer}") };
        edited.replace_range(close..close, &end);
        edited.replace_range(map.range.start + 1..map.range.start + 1, &field);
        return edited;
    };
    let end = last.value.range.end;
    let comma = trailing_comma(text, json, end, map.range.end);
    let after = comma.unwrap_or(end);
    if !text[end..close].contains('\n') {
        let before = if comma.is_some() { " " } else { ", " };
        let field = format!("{before}{}: {}", quote(key), serde_json::json!(value));
        edited.replace_range(after..after, &field);
        return edited;
    }
    let inner = indent_at(text, last.key.start).to_owned();
    let line_end = text[after..].find(['\r', '\n']).map_or(after, |length| after + length);
    let field = format!("\n{inner}{}: {}", quote(key), pretty(value, &inner, unit));
    let trailing = if comma.is_some() { "," } else { "" };
    edited.replace_range(line_end..line_end, &format!("{field}{trailing}"));
    if comma.is_none() {
        edited.replace_range(end..end, ",");
    }
    edited
}

/// The position after a comma that follows the last value, which `json` does not have.
fn trailing_comma(text: &str, json: &str, from: usize, to: usize) -> Option<usize> {
    let (text, json) = (text.as_bytes(), json.as_bytes());
    let mut at = from;
    while at < to {
        // Comments are blank in `json`; the first thing that is neither blank nor a comment decides.
        match text[at] {
            b',' => return Some(at + 1),
            b'/' => {
                let line = text.get(at + 1) == Some(&b'/');
                let rest = &text[at..to];
                let ends = |window: &[u8]| if line { window[0] == b'\n' } else { window == b"*/" };
                let length = rest.windows(2).skip(2).position(ends)?;
                at += length + if line { 2 } else { 4 };
            }
            byte if byte.is_ascii_whitespace() && json[at].is_ascii_whitespace() => at += 1,
            _ => return None,
        }
    }
    None
}

/// Objects around a value, one for each key.
fn nest(path: &[&str], value: Value) -> Value {
    path.iter()
        .rev()
        .fold(value, |value, key| Value::Object(Map::from_iter([((*key).to_owned(), value)])))
}

/// The value over several lines; `outer` is the indentation of the line that it begins on.
fn pretty(value: &Value, outer: &str, unit: &str) -> String {
    let text = format!("{value:#}");
    let lines = text.lines().enumerate().map(|(number, line)| {
        let inner = line.trim_start();
        let depth = (line.len() - inner.len()) / 2;
        if number == 0 { line.to_owned() } else { format!("{outer}{}{inner}", unit.repeat(depth)) }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn quote(key: &str) -> String {
    Value::String(key.to_owned()).to_string()
}

/// One step of the file's indentation.
fn unit(json: &str, root: &Outline) -> String {
    let first = root.fields().first().map(|field| indent_at(json, field.key.start));
    first.filter(|indent| !indent.is_empty()).unwrap_or(UNIT).to_owned()
}

/// The white space at the beginning of a position's line.
fn indent_at(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
