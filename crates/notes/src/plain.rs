//! Removes Markdown, citations and tags from a sentence.

use super::text::is_invisible;

/// A longer group in brackets is not a citation.
const MAX_GROUP: usize = 120;

/// The sentence as plain text on one line.
pub(crate) fn plain(quote: &str) -> String {
    let mut out = String::with_capacity(quote.len());
    let mut rest = quote;
    while let Some(c) = rest.chars().next() {
        let taken = match c {
            '!' if rest.starts_with("![") => image(rest),
            '[' => link(rest, &mut out),
            '(' => citation(rest),
            '<' => tag(rest),
            '&' => entity(rest, &mut out),
            '*' | '`' => Some(1),
            '_' => emphasis(rest, &out),
            '¹' | '²' | '³' | '⁰' | '⁴'..='⁹' => {
                // `CO²` and `m²` keep theirs: a note follows a word of several characters or a mark.
                let word: String =
                    out.chars().rev().take_while(|c| c.is_alphanumeric()).take(4).collect();
                (word.chars().count() > 3 || out.ends_with(['.', ','])).then_some(c.len_utf8())
            }
            _ if is_invisible(c) => Some(c.len_utf8()),
            _ => None,
        };
        match taken {
            Some(length) => rest = &rest[length..],
            None => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    tidy(&out)
}

/// Collapses white space and removes it before punctuation.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        if word.is_empty() {
            continue;
        }
        let mark = word.starts_with(['.', ',', ';', ':', ')']) && !word.starts_with("...");
        // `.5` is a number.
        let number = word.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
        if !out.is_empty() && (!mark || number) {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

fn image(rest: &str) -> Option<usize> {
    let text = rest.find(']')?;
    group(&rest[text + 1..], '(', ')').map(|length| text + 1 + length)
}

/// Keeps the text of `[text](url)`; leaves out `[12]`, `[3, 4]` and `[^1]`.
fn link(rest: &str, out: &mut String) -> Option<usize> {
    let length = group(rest, '[', ']')?;
    let inner = &rest[1..length - 1];
    let note =
        inner.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | ' ' | '-' | '–' | '^'));
    let placeholder =
        ["citation needed", "edit", "clarification needed", "update"].contains(&inner);
    let target = group(&rest[length..], '(', ')');
    if let Some(target) = target {
        if !note {
            out.push_str(inner.trim_matches(['*', '_', '`']));
        }
        return Some(length + target);
    }
    (note || placeholder).then_some(length)
}

/// The length of a group at the start, if it ends soon.
fn group(rest: &str, open: char, close: char) -> Option<usize> {
    if !rest.starts_with(open) {
        return None;
    }
    let mut depth = 0_usize;
    for (at, c) in rest.char_indices().take(600) {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return Some(at + c.len_utf8());
            }
        }
    }
    None
}

/// `(Smith et al., 2019)`, `(see Figure 2)`: they point to what the reader of a report does not have.
fn citation(rest: &str) -> Option<usize> {
    let length = group(rest, '(', ')')?;
    let inner = &rest[1..length - 1];
    if inner.chars().nth(MAX_GROUP).is_some() {
        return None;
    }
    let lower = inner.to_lowercase();
    let pointer = ["see ", "fig", "table ", "section ", "cf.", "cf ", "ibid", "chapter ", "http"]
        .iter()
        .any(|start| lower.starts_with(start));
    let bytes = inner.as_bytes();
    let year = bytes.windows(4).enumerate().any(|(at, four)| {
        four.iter().all(u8::is_ascii_digit)
            && (four.starts_with(b"19") || four.starts_with(b"20"))
            && !bytes.get(at + 4).is_some_and(u8::is_ascii_digit)
    });
    let author = inner.starts_with(char::is_uppercase)
        && (lower.contains("et al") || lower.contains(", ") || lower.contains(" & "));
    (pointer || (year && author)).then_some(length)
}

fn tag(rest: &str) -> Option<usize> {
    let next = rest[1..].chars().next()?;
    if !next.is_ascii_alphabetic() && next != '/' {
        return None;
    }
    rest.char_indices().take(200).find(|(_, c)| *c == '>').map(|(at, _)| at + 1)
}

fn entity(rest: &str, out: &mut String) -> Option<usize> {
    const ENTITIES: [(&str, char); 7] = [
        ("&amp;", '&'),
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&quot;", '"'),
        ("&#39;", '\''),
        ("&nbsp;", ' '),
        ("&deg;", '°'),
    ];
    let (name, c) = ENTITIES.iter().find(|(name, _)| rest.starts_with(name))?;
    out.push(*c);
    Some(name.len())
}

/// `_emphasis_`, but not `snake_case`.
fn emphasis(rest: &str, out: &str) -> Option<usize> {
    let before = out.chars().next_back().is_some_and(char::is_alphanumeric);
    let after = rest[1..].chars().next().is_some_and(char::is_alphanumeric);
    (!before || !after).then_some(1)
}
