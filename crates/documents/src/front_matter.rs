//! Metadata at the start of Markdown and plain text: a block between lines of `---`, or lines such as `Title: …`.
//!
//! Only single values and lists are read, not YAML: a document must not be able to cost more than its first lines.

use extraction::Metadata;
use extraction::metadata::doi;
use url::Url;

use crate::html::date::{date, month_of};

/// Longer front matter is text.
const MAX_BYTES: usize = 8_192;

/// The names of a title.
const TITLES: [&str; 2] = ["title", "titel"];

/// How an item of a list begins.
const LIST_ITEM: &str = "- ";

/// Reads the metadata at the start of a text, and where the text after it begins. Metadata without a title or a date is
/// taken for text.
pub(crate) fn read(text: &str) -> Option<(Metadata, usize)> {
    let head = &text[..text.floor_char_boundary(MAX_BYTES)];
    let (fields, end) = match fenced(head) {
        Some(found) => found,
        None => lines_of_fields(head)?,
    };
    let meta = metadata(&fields);
    let rest = &text[end..];
    let start = end + (rest.len() - rest.trim_start_matches(['\n', '\r']).len());
    (meta.title.is_some() || meta.published.is_some()).then(|| (meta.tidy(), start))
}

type Fields = Vec<(String, String)>;

/// A block between lines of `---`.
fn fenced(head: &str) -> Option<(Fields, usize)> {
    let mut lines = head.split_inclusive('\n');
    let first = lines.next()?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut end = first.len();
    let mut fields = Fields::new();
    for line in lines {
        end += line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return Some((fields, end));
        }
        if let Some(item) = line.trim_start().strip_prefix(LIST_ITEM) {
            let (_, list) = fields.last_mut()?;
            if !list.is_empty() {
                list.push_str(", ");
            }
            list.push_str(unquoted(item));
        } else if let Some((name, value)) = field(line) {
            fields.push((name, value));
        } else if !line.starts_with([' ', '\t', '#']) && !line.trim().is_empty() {
            return None;
        }
    }
    None
}

/// Lines `Name: value` up to the first blank line; the first is the title.
fn lines_of_fields(head: &str) -> Option<(Fields, usize)> {
    let mut end = 0;
    let mut fields = Fields::new();
    for line in head.split_inclusive('\n') {
        end += line.len();
        if line.trim().is_empty() {
            break;
        }
        let (name, value) = field(line)?;
        if fields.is_empty() && !TITLES.contains(&name.as_str()) {
            return None;
        }
        fields.push((name, value));
    }
    // One line alone may be the beginning of a text.
    (fields.len() > 1).then_some((fields, end))
}

/// The lower-case name and the value of a line `name: value`.
fn field(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ');
    let named = (1..=40).contains(&name.len()) && name.chars().all(is_name);
    (named && !name.starts_with(' '))
        .then(|| (name.to_ascii_lowercase(), values(value.trim()).to_owned()))
}

/// The value without its quotes, or the items of `[a, b]` without the brackets.
fn values(value: &str) -> &str {
    let list = value.strip_prefix('[').and_then(|value| value.strip_suffix(']'));
    list.unwrap_or_else(|| unquoted(value))
}

fn unquoted(value: &str) -> &str {
    let value = value.trim();
    let within = |quote: char| value.strip_prefix(quote).and_then(|it| it.strip_suffix(quote));
    within('"').or_else(|| within('\'')).unwrap_or(value)
}

fn metadata(fields: &Fields) -> Metadata {
    let first = |names: &[&str]| {
        let found = |(name, value): &&(String, String)| {
            names.contains(&name.as_str()) && !value.trim().is_empty()
        };
        fields.iter().find(found).map(|(_, value)| value.clone())
    };
    let date = |names: &[&str]| first(names).as_deref().and_then(known_date);
    Metadata {
        title: first(&TITLES),
        author: first(&["author", "authors", "autor", "autorin", "autoren"]),
        site: first(&["publisher", "site"]),
        published: date(&["date", "published", "datum"]),
        modified: date(&["updated", "modified", "lastmod"]),
        created: None,
        language: first(&["lang", "language"]),
        description: first(&["description", "summary"]),
        canonical: first(&["url", "canonical"])
            .and_then(|target| Url::parse(&target).ok())
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            .map(String::from),
        doi: first(&["doi"]).as_deref().and_then(doi),
    }
}

/// A date as far as it is known: `2024-05-03`, `2024-05` or `2024`. A month may be written as a word.
fn known_date(text: &str) -> Option<String> {
    if let Some(whole) = date(text) {
        return Some(whole);
    }
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let year = |word: &str| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    match words[..] {
        [one] if year(one) => Some(one.to_owned()),
        [month, one] if year(one) => month_of(month).map(|month| format!("{one}-{month:02}")),
        [one, month] if year(one) && month.len() == 2 => {
            let month: u8 = month.parse().ok().filter(|month| (1..=12).contains(month))?;
            Some(format!("{one}-{month:02}"))
        }
        _ => None,
    }
}

/// The heading that a Markdown text begins with.
pub(crate) fn first_heading(text: &str) -> Option<String> {
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    let heading = line.strip_prefix("# ")?.trim().trim_end_matches('#').trim_end();
    (!heading.is_empty()).then(|| heading.to_owned())
}

#[cfg(test)]
mod tests;
