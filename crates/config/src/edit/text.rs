//! Positions in YAML text: lines, indentation and the bytes of an entry.

use std::ops::Range;

use schema::yaml::{Field, Outline, Shape};
use serde_json::Value;

use super::emit;

/// Replacements in a text; they do not overlap.
pub(super) struct Patch(Vec<(Range<usize>, String)>);

impl Patch {
    pub(super) fn insert(at: usize, text: String) -> Self {
        Self::replace(at..at, text)
    }

    pub(super) fn remove(range: Range<usize>) -> Self {
        Self::replace(range, String::new())
    }

    pub(super) fn replace(range: Range<usize>, text: String) -> Self {
        Self(vec![(range, text)])
    }

    pub(super) fn and_insert(mut self, at: usize, text: &str) -> Self {
        self.0.push((at..at, text.to_owned()));
        self
    }

    pub(super) fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| range.start);
        let mut edited = text.to_owned();
        for (range, replacement) in self.0.into_iter().rev() {
            edited.replace_range(range, &replacement);
        }
        edited
    }
}

/// How a file ends its lines.
pub(super) struct Style {
    newline: &'static str,
}

impl Style {
    pub(super) fn of(yaml: &str) -> Self {
        Self { newline: if yaml.contains("\r\n") { "\r\n" } else { "\n" } }
    }

    /// Whole lines to insert at a position: the line before them is ended first if it is not.
    pub(super) fn line(&self, yaml: &str, at: usize, text: &str) -> String {
        let begun = at > 0 && !yaml[..at].ends_with('\n') && !yaml[..at].ends_with('\u{feff}');
        let mut lines = if begun { self.newline.to_owned() } else { String::new() };
        for line in text.lines() {
            lines.push_str(line);
            lines.push_str(self.newline);
        }
        lines
    }
}

/// The section `servers` with one server.
pub(super) fn section(yaml: &str, at: usize, name: &str, server: &Value) -> String {
    let text = format!("servers:\n{}", emit::entry("  ", name, server));
    Style::of(yaml).line(yaml, at, &text)
}

/// One server, as lines to insert.
pub(super) fn entry(yaml: &str, at: usize, indent: &str, name: &str, server: &Value) -> String {
    Style::of(yaml).line(yaml, at, &emit::entry(indent, name, server))
}

/// Replaces an empty value of `servers`, which may be followed by a comment, by a block with one server.
pub(super) fn open_block(yaml: &str, section: &Field, name: &str, server: &Value) -> Patch {
    let end = line_end(yaml, section.value.range.end.max(section.colon));
    let outer = indent_at(yaml, section.key.start);
    let lines = entry(yaml, end, &format!("{outer}  "), name, server);
    let range = section.colon..section.value.range.end.max(section.colon);
    let mut patch = Patch::remove(range);
    patch.0.push((end..end, lines));
    patch
}

/// Adds a key as the first of a flow mapping. An empty one becomes a block where it is the whole document.
pub(super) fn insert_flow(yaml: &str, map: &Outline, name: &str, value: &Value) -> Patch {
    let empty = map.fields().is_empty();
    if empty && indent_at(yaml, map.range.start).is_empty() && name == super::SECTION {
        let text = format!("{name}:\n{}", emit::block("  ", value));
        let text = Style::of(yaml).line("", 0, &text);
        return Patch::replace(map.range.clone(), text.trim_end().to_owned());
    }
    let separator = if empty { "" } else { ", " };
    let text = format!("{}: {}{separator}", emit::key(name), emit::flow(value));
    Patch::insert(map.range.start + 1, text)
}

/// Adds a key as the last of a flow mapping.
pub(super) fn append_flow(map: &Outline, name: &str, value: bool) -> Patch {
    match map.fields().last() {
        Some(last) => Patch::insert(last.value.range.end, format!(", {name}: {value}")),
        None => Patch::insert(map.range.start + 1, format!("{name}: {value}")),
    }
}

/// Removes a key of a flow mapping, with the comma before it, or after it if it is the first.
pub(super) fn remove_flow(yaml: &str, fields: &[Field], gone: &Field) -> Patch {
    let at = fields.iter().position(|field| field.key == gone.key).unwrap_or(0);
    let end = gone.value.range.end;
    if at > 0 {
        return Patch::remove(fields[at - 1].value.range.end..end);
    }
    match fields.get(1) {
        Some(next) => Patch::remove(gone.key.start..next.key.start),
        None => {
            let rest = &yaml[end..];
            let comma = rest.trim_start().starts_with(',');
            let extra = if comma { rest.find(',').map_or(0, |at| at + 1) } else { 0 };
            Patch::remove(gone.key.start..end + extra)
        }
    }
}

/// Replaces the value of an entry. A comment after the colon of a block stays.
pub(super) fn replace_value(
    yaml: &str,
    section: &Outline,
    entry: &Field,
    value: &Value,
) -> Option<Patch> {
    let old = &entry.value;
    if matches!(section.shape, Shape::Map { flow: true, .. }) {
        let range = entry.colon..old.range.end.max(entry.colon);
        return Some(Patch::replace(range, format!(" {}", emit::flow(value))));
    }
    let indent = indent_of(yaml, section)?;
    let style = Style::of(yaml);
    let block = emit::block(&format!("{indent}  "), value);
    let block = style.line("", 0, &block);
    let is_block = matches!(old.shape, Shape::Map { flow: false, .. });
    if is_block {
        let from = line_end(yaml, entry.colon);
        let to = line_end(yaml, old.range.end);
        let ended = yaml[..from].ends_with('\n');
        return ended.then(|| Patch::replace(from..to, block));
    }
    let rest = line_end(yaml, old.range.end.max(entry.colon));
    let lines = style.line(yaml, rest, &emit::block(&format!("{indent}  "), value));
    let mut patch = Patch::remove(entry.colon..old.range.end.max(entry.colon));
    patch.0.push((rest..rest, lines));
    Some(patch)
}

/// The spaces before the keys of a block mapping; none if a key shares its line with something else.
pub(super) fn indent_of(yaml: &str, map: &Outline) -> Option<String> {
    let first = map.fields().first()?;
    let before = &yaml[line_start(yaml, first.key.start)..first.key.start];
    let before = before.trim_start_matches('\u{feff}');
    before.chars().all(|c| c == ' ').then(|| before.to_owned())
}

/// Where a key can be appended to a block mapping: after its last line and the comments that are part of it.
pub(super) fn block_end(yaml: &str, map: &Outline) -> Option<usize> {
    let last = map.fields().last()?;
    Some(lines_of(yaml, last)?.end)
}

/// The end of the last line of a block mapping, without comments below it.
pub(super) fn content_end(yaml: &str, map: &Outline) -> Option<usize> {
    let last = map.fields().last()?;
    Some(line_end(yaml, last.value.range.end))
}

/// The lines of an entry of a block mapping, with comments below it that are indented deeper than its key.
pub(super) fn lines_of(yaml: &str, entry: &Field) -> Option<Range<usize>> {
    let start = line_start(yaml, entry.key.start);
    let before = yaml[start..entry.key.start].trim_start_matches('\u{feff}');
    if !before.chars().all(|c| c == ' ') {
        return None;
    }
    let start = entry.key.start - before.len();
    let mut end = line_end(yaml, entry.value.range.end.max(entry.colon));
    let mut next = end;
    while next < yaml.len() {
        let length = yaml[next..].find('\n').map_or(yaml.len() - next, |newline| newline + 1);
        let line = &yaml[next..next + length];
        let text = line.trim_start_matches(' ');
        let deeper = line.len() - text.len() > before.len();
        next += line.len();
        if text.starts_with('#') && deeper {
            end = next;
        } else if !text.trim().is_empty() {
            break;
        }
    }
    Some(start..end)
}

/// Whether a field's line holds nothing else, not even a comment.
pub(super) fn is_bare(yaml: &str, field: &Field) -> bool {
    let before = &yaml[line_start(yaml, field.key.start)..field.key.start];
    let after = &yaml[field.value.range.end..line_end(yaml, field.value.range.end)];
    before.trim().is_empty() && after.trim().is_empty()
}

/// The spaces at the beginning of the line of a position.
fn indent_at(yaml: &str, at: usize) -> String {
    let line = &yaml[line_start(yaml, at)..at];
    line.trim_start_matches('\u{feff}').chars().take_while(|c| *c == ' ').collect()
}

fn line_start(yaml: &str, at: usize) -> usize {
    yaml[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The position after the line of a position; a position at the beginning of a line is the end of the line before.
fn line_end(yaml: &str, at: usize) -> usize {
    if at > 0 && yaml[..at].ends_with('\n') {
        return at;
    }
    yaml[at..].find('\n').map_or(yaml.len(), |newline| at + newline + 1)
}
