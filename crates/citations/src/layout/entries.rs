//! The entries of a list of references.

use super::Line;

/// An entry as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Where it begins, in bytes.
    pub(crate) start: usize,
    /// What citations name: `1`, or the label of a footnote.
    pub(crate) label: Option<String>,
    /// Whether it is the definition of a footnote.
    pub(crate) footnote: bool,
    /// Its lines without the mark, joined by spaces.
    pub(crate) text: String,
}

/// The mark at the beginning of an entry: a label, number or footnote sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marker<'a> {
    pub(crate) label: Option<&'a str>,
    pub(crate) footnote: bool,
    pub(crate) rest: &'a str,
}

/// The mark that a line begins with: `[1]`, `[^1]:`, `1.`, `(1)`, `-`.
pub(crate) fn strip_marker(line: &str) -> Option<Marker<'_>> {
    let text = line.trim_start();
    let number = |label: &str| {
        !label.is_empty() && label.len() <= 5 && label.bytes().all(|b| b.is_ascii_digit())
    };
    if let Some(rest) = text.strip_prefix("[^") {
        let (label, rest) = rest.split_once("]:")?;
        return (!label.is_empty() && label.len() <= 100 && !label.contains([' ', '[', ']']))
            .then_some(Marker { label: Some(label), footnote: true, rest: rest.trim() });
    }
    let bracket = text.strip_prefix('[').or_else(|| text.strip_prefix("\\["));
    if let Some((label, rest)) = bracket.and_then(|text| text.split_once(']')) {
        let label = label.trim_end_matches('\\');
        let rest = rest.strip_prefix(':').unwrap_or(rest);
        if number(label) && (rest.is_empty() || rest.starts_with([' ', '\t'])) {
            return Some(Marker { label: Some(label), footnote: false, rest: rest.trim() });
        }
    }
    if let Some((label, rest)) = text.strip_prefix('(').and_then(|text| text.split_once(')'))
        && number(label)
        && label.len() <= 3
        && rest.starts_with(' ')
    {
        return Some(Marker { label: Some(label), footnote: false, rest: rest.trim() });
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if number(&text[..digits])
        && let Some(rest) =
            text[digits..].strip_prefix("\\.").or_else(|| text[digits..].strip_prefix(['.', ')']))
        && rest.starts_with([' ', '\t'])
    {
        return Some(Marker { label: Some(&text[..digits]), footnote: false, rest: rest.trim() });
    }
    let rest = text.strip_prefix(['-', '*', '+', '•', '–', '·'])?;
    rest.starts_with([' ', '\t']).then_some(Marker {
        label: None,
        footnote: false,
        rest: rest.trim(),
    })
}

/// Whether a text has what references have: a year, an address, or a DOI.
pub(crate) fn looks_like_reference(text: &str) -> bool {
    let start = &text[..text.floor_char_boundary(4_000)];
    let address = ["http://", "https://", "doi:", "doi.org/", "www."];
    let lower = start.to_ascii_lowercase();
    address.iter().any(|address| lower.contains(address))
        || has_year(start)
        || lower.contains("(n.d.")
}

fn has_year(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
        let digits = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
        digits.len() == 4
            && word.len() <= 5
            && digits.parse::<u16>().is_ok_and(|year| (1500..2100).contains(&year))
    })
}

/// The entries of a section, whose first line is its heading.
pub(super) fn in_section(lines: &[Line<'_>]) -> Vec<Entry> {
    let lines = lines.get(1..).unwrap_or_default();
    let mut entries: Vec<Entry> = Vec::new();
    // The indent of the mark of the open entry; none if it has no mark.
    let mut open: Option<Option<usize>> = None;
    let mut after_blank = false;
    for line in lines {
        if line.code || is_decoration(line.text) {
            continue;
        }
        if line.is_blank() {
            after_blank = true;
            // A list item may have further paragraphs, if they are indented.
            open = open.filter(Option::is_some);
            continue;
        }
        let text = strip_anchor(line.text);
        let marker = strip_marker(text);
        if let Some(marker) = marker {
            let nested = open.flatten().is_some_and(|indent| line.indent() >= indent + 2);
            if !nested {
                push(&mut entries, line, &marker);
                open = Some(Some(line.indent()));
            }
            // Lists within an entry annotate it.
        } else {
            let continues = match open {
                None => false,
                Some(Some(indent)) => !after_blank || line.indent() > indent,
                Some(None) => line.indent() > 0 || !begins_entry(entries.last(), text),
            };
            match entries.last_mut().filter(|_| continues) {
                // A further paragraph annotates the entry.
                Some(_) if after_blank => {}
                Some(entry) => {
                    entry.text.push(' ');
                    entry.text.push_str(text.trim().trim_end_matches('\\'));
                }
                None => {
                    let marker = Marker { label: None, footnote: false, rest: text.trim() };
                    push(&mut entries, line, &marker);
                    open = Some(None);
                }
            }
        }
        after_blank = false;
    }
    entries.retain(|entry| !entry.text.trim().is_empty());
    entries
}

fn push(entries: &mut Vec<Entry>, line: &Line<'_>, marker: &Marker<'_>) {
    let start = line.start + line.indent();
    // `- [1] Doe` and `1. [1] Doe` have two marks.
    let inner = strip_marker(marker.rest).filter(|inner| inner.label.is_some() && !inner.footnote);
    let (label, rest) = match &inner {
        Some(inner) => (inner.label, inner.rest),
        None => (marker.label, marker.rest),
    };
    entries.push(Entry {
        start,
        label: label.map(str::to_owned),
        footnote: marker.footnote,
        text: rest.trim_end_matches('\\').to_owned(),
    });
}

/// Whether a line without a mark begins a new entry, although no empty line is before it.
fn begins_entry(before: Option<&Entry>, line: &str) -> bool {
    let Some(before) = before else { return true };
    let end = before.text.trim_end();
    let last = end.rsplit(' ').next().unwrap_or_default();
    let complete = end.ends_with(['.', '>', ')', '。', '”', '"'])
        || last.contains("://")
        || last.contains("10.");
    let first = line.chars().find(|c| !"*_\"“‘'[(".contains(*c));
    let begins = first.is_some_and(|c| c.is_alphabetic() && !c.is_lowercase() || c == '—');
    complete
        && begins
        && (looks_like_reference(line) && looks_like_reference(end) || begins_with_author(line))
}

/// `Doe, J.` at the start of a line.
fn begins_with_author(line: &str) -> bool {
    let Some((family, rest)) = line.split_once(", ") else { return false };
    let mut given = rest.chars();
    family.chars().count() <= 40
        && given.next().is_some_and(char::is_uppercase)
        && given.next() == Some('.')
}

/// Lines that only separate.
fn is_decoration(line: &str) -> bool {
    let text = line.trim();
    let rule = text.len() >= 3 && text.chars().all(|c| matches!(c, '-' | '*' | '_' | ' '));
    let tag = text.starts_with('<')
        && text.ends_with('>')
        && !text.contains("://")
        && text.matches('<').count() == 1;
    rule || text.starts_with('#') || text.starts_with("<!--") || tag
}

/// The line without an anchor such as `<a id="ref1"></a>`.
fn strip_anchor(line: &str) -> &str {
    let text = line.trim_start();
    let after = text.strip_prefix("<a ").and_then(|rest| rest.split_once("</a>"));
    after.map_or(line, |(_, rest)| rest)
}

/// Entries of a text that has no heading for them, and the indexes of their lines: footnotes, or a list at its end.
pub(super) fn without_heading(lines: &[Line<'_>]) -> (Vec<Entry>, Vec<usize>) {
    let (footnotes, used) = footnotes(lines);
    if !footnotes.is_empty() {
        return (footnotes, used);
    }
    trailing_list(lines)
}

fn footnotes(lines: &[Line<'_>]) -> (Vec<Entry>, Vec<usize>) {
    let (mut entries, mut used) = (Vec::<Entry>::new(), Vec::new());
    let mut open = false;
    for (at, line) in lines.iter().enumerate() {
        if line.code || line.is_blank() {
            open = false;
            continue;
        }
        match strip_marker(line.text).filter(|marker| marker.footnote) {
            Some(marker) => {
                push(&mut entries, line, &marker);
                open = true;
            }
            None if open => {
                if let Some(entry) = entries.last_mut() {
                    entry.text.push(' ');
                    entry.text.push_str(line.text.trim());
                }
            }
            None => continue,
        }
        used.push(at);
    }
    (entries, used)
}

/// A numbered list at the end of a text, if its items look like references.
fn trailing_list(lines: &[Line<'_>]) -> (Vec<Entry>, Vec<usize>) {
    let mut first = lines.len();
    for (at, line) in lines.iter().enumerate().rev() {
        if line.is_blank() || is_decoration(line.text) && !line.text.trim_start().starts_with('#') {
            continue;
        }
        let marker = strip_marker(line.text).filter(|marker| marker.label.is_some());
        match marker {
            Some(_) if !line.code => first = at,
            _ if line.indent() > 0 && !line.code => {}
            _ => break,
        }
    }
    if first == lines.len() {
        return (Vec::new(), Vec::new());
    }
    let listed: Vec<Line<'_>> =
        std::iter::once(lines[first]).chain(lines[first..].iter().copied()).collect();
    let entries = in_section(&listed);
    let like = entries.iter().filter(|entry| looks_like_reference(&entry.text)).count();
    if like * 5 < entries.len() * 3 {
        return (Vec::new(), Vec::new());
    }
    (entries, (first..lines.len()).collect())
}
