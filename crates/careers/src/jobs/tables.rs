//! Tables and labels above their values, as lines of `key: value`.

use std::borrow::Cow;

use super::mode;
use super::words::{self, Field};

/// The most columns of a table that is read.
const MAX_COLUMNS: usize = 24;
/// The longest value below its label, in words.
const MAX_VALUE_WORDS: usize = 12;
/// The fewest labels above their values that make a form; one alone may be a heading.
const FEWEST_LABELS: usize = 2;

/// The lines of a text; fields in tables or below their labels are lines of `key: value`.
pub(super) fn lines(text: &str) -> Vec<Cow<'_, str>> {
    let lines = if text.contains(['|', '\t']) {
        without_tables(text)
    } else {
        text.lines().map(Cow::Borrowed).collect()
    };
    join_labels(lines)
}

fn without_tables(text: &str) -> Vec<Cow<'_, str>> {
    let mut out: Vec<Cow<'_, str>> = Vec::new();
    let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
    for line in text.lines() {
        match cells(line) {
            Some(row) => rows.push((line, row)),
            None => {
                write_table(std::mem::take(&mut rows), &mut out);
                out.push(Cow::Borrowed(line));
            }
        }
    }
    write_table(rows, &mut out);
    out
}

/// The cells of a row of a Markdown table, or of three columns and more between tabs.
fn cells(line: &str) -> Option<Vec<String>> {
    let bars = line.trim().strip_prefix('|').and_then(|line| line.strip_suffix('|'));
    let tabs = || Some(line).filter(|line| line.matches('\t').count() >= 2);
    let (inside, sign) =
        bars.map(|line| (line, '|')).or_else(|| tabs().map(|line| (line, '\t')))?;
    let cells: Vec<String> = inside
        .split(sign)
        .map(|cell| cell.replace("<br>", "; ").replace("<br/>", "; ").trim().to_owned())
        .collect();
    (2..=MAX_COLUMNS).contains(&cells.len()).then_some(cells)
}

/// Writes the rows of one table as pairs, if its first row or its columns name fields.
fn write_table<'t>(mut rows: Vec<(&'t str, Vec<String>)>, out: &mut Vec<Cow<'t, str>>) {
    let rule = |cell: &String| cell.chars().all(|sign| matches!(sign, '-' | ':' | ' '));
    rows.retain(|(_, row)| !row.iter().all(rule));
    let keys = |row: &[String]| row.iter().filter(|cell| is_key(cell)).count();
    if let [(_, names), (_, values), ..] = rows.as_slice()
        && names.len() > 2
        && keys(names) * 2 > names.len()
        && keys(values) * 2 <= values.len()
    {
        // Further rows are other jobs.
        let pairs = names.iter().zip(values).filter(|(_, value)| !value.is_empty());
        out.extend(pairs.map(|(name, value)| pair(name, value)));
        return;
    }
    // A table whose first column names fields may have rows with keys that are not known.
    let first = |row: &&(&str, Vec<String>)| row.1.first().is_some_and(|cell| is_key(cell));
    let form = rows.iter().filter(first).count() * 2 > rows.len();
    for (line, row) in &rows {
        if form && row.len().is_multiple_of(2) {
            let pairs = row.chunks_exact(2).filter(|cells| !cells[1].is_empty());
            out.extend(pairs.map(|cells| pair(&cells[0], &cells[1])));
        } else {
            out.push(Cow::Borrowed(*line));
        }
    }
}

fn pair(name: &str, value: &str) -> Cow<'static, str> {
    Cow::Owned(format!("{}: {value}", plain(name)))
}

fn is_key(cell: &str) -> bool {
    let key = plain(cell);
    words::field(&key).or_else(|| words::list_field(&key)).is_some()
}

fn plain(cell: &str) -> String {
    cell.replace(['*', '_'], "").trim().trim_end_matches(':').trim().to_owned()
}

/// Joins labels to the value in the line below: "Location", "Leeds".
fn join_labels(lines: Vec<Cow<'_, str>>) -> Vec<Cow<'_, str>> {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        match value_below(&lines, at) {
            Some(value) => {
                pairs.push((at, value));
                at = value + 1;
            }
            None => at += 1,
        }
    }
    if pairs.len() < FEWEST_LABELS {
        return lines;
    }
    let mut out = Vec::with_capacity(lines.len());
    let mut pairs = pairs.into_iter().peekable();
    let mut at = 0;
    while at < lines.len() {
        if let Some((label, value)) = pairs.next_if(|(label, _)| *label == at) {
            out.push(pair(&lines[label], lines[value].trim()));
            at = value + 1;
        } else {
            out.push(lines[at].clone());
            at += 1;
        }
    }
    out
}

/// Where the value of the label in a line is, if the line is a label.
fn value_below(lines: &[Cow<'_, str>], at: usize) -> Option<usize> {
    label(&lines[at])?;
    let below = (at + 1..lines.len()).take(2).find(|below| !lines[*below].trim().is_empty())?;
    let value = lines[below].trim();
    let plain = value.starts_with(|sign: char| sign.is_alphanumeric() || "$£€₹¥".contains(sign))
        && value.split_whitespace().count() <= MAX_VALUE_WORDS
        && !value.ends_with(['.', ':', '?']);
    // "Remote" is a value as well as a label.
    let named = value.split_once(':').is_some_and(|(key, _)| words::field(key).is_some())
        || words::field(value).is_some() && mode::remote_value(value).is_none();
    (plain && !named).then_some(below)
}

/// The field that a line names, which has no value in it; lists are read by their headings.
fn label(line: &str) -> Option<Field> {
    let line = line.trim();
    // Longer lines are no labels.
    if line.len() > 60 || !line.starts_with(|sign: char| sign.is_alphabetic() || sign == '*') {
        return None;
    }
    words::field(&plain(line)).filter(|field| words::section_of_field(*field).is_none())
}
