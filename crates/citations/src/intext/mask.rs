//! Replaces what is no prose by spaces, byte by byte, so that offsets stay.

use crate::layout::Part;

/// The text with code, addresses, tags and marks of emphasis replaced by spaces.
pub(super) fn mask(text: &str, body: &[Part]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for part in body {
        blank(&mut out, &text[done..part.range.start]);
        mask_part(&mut out, &text[part.range.clone()]);
        done = part.range.end;
    }
    blank(&mut out, &text[done..]);
    out
}

fn blank(out: &mut String, text: &str) {
    out.extend(std::iter::repeat_n(' ', text.len()));
}

fn mask_part(out: &mut String, text: &str) {
    let mut rest = text;
    let mut previous = ' ';
    while let Some(c) = rest.chars().next() {
        let length = masked_length(rest, c, previous);
        if length > 0 {
            blank(out, &rest[..length]);
            previous = ' ';
            rest = &rest[length..];
            continue;
        }
        // Line breaks and no-break spaces are spaces of as many bytes.
        if c.is_whitespace() {
            blank(out, &rest[..c.len_utf8()])
        } else {
            out.push(c)
        }
        previous = c;
        rest = &rest[c.len_utf8()..];
    }
}

/// How many bytes at the start are no prose.
fn masked_length(rest: &str, c: char, previous: char) -> usize {
    match c {
        '`' => {
            let run = rest.bytes().take_while(|b| *b == b'`').count();
            let limit = rest.floor_char_boundary(run + 2_000);
            rest[run..limit].find(&rest[..run]).map_or(run, |end| run + end + run)
        }
        '*' => 1,
        '_' => {
            let next = rest[1..].chars().next().unwrap_or(' ');
            usize::from(!(previous.is_alphanumeric() && next.is_alphanumeric()))
        }
        '(' if previous == ']' && is_target(rest) => end_of_target(rest),
        '<' => {
            let limit = rest.floor_char_boundary(500);
            let tag =
                rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
            if tag { rest[..limit].find('>').map_or(0, |end| end + 1) } else { 0 }
        }
        'h' if rest.starts_with("http://") || rest.starts_with("https://") => rest
            .find(|c: char| c.is_whitespace() || matches!(c, ')' | ']' | '>' | '"'))
            .unwrap_or(rest.len()),
        '\\' if rest[1..].starts_with(|c: char| c.is_ascii_punctuation()) => 1,
        _ => 0,
    }
}

/// Whether a parenthesis after a bracket holds an address.
fn is_target(rest: &str) -> bool {
    let inner = rest[1..].trim_start_matches('<');
    ["http://", "https://", "#", "/", "./", "mailto:"].iter().any(|start| inner.starts_with(start))
}

fn end_of_target(rest: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in rest.char_indices().take(2_000) {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return at + 1,
            ')' => depth -= 1,
            _ => {}
        }
    }
    0
}
