//! A reference without Markdown and HTML.

use std::ops::Range;

/// The text of a reference, and which parts of it were italic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clean {
    pub(crate) text: String,
    /// In bytes of `text`, in order.
    pub(crate) italics: Vec<Range<usize>>,
    /// Addresses of links whose text is something else.
    pub(crate) links: Vec<String>,
}

/// Removes marks, invisible characters and repeated spaces; one pass.
pub(crate) fn clean(raw: &str) -> Clean {
    let mut out = Clean::default();
    let mut italic: Option<usize> = None;
    let mut rest = raw;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let previous = rest_before(raw, rest);
        if starts_url(rest) && !previous.is_some_and(char::is_alphanumeric) {
            let end = rest
                .find(|c: char| c.is_whitespace() || "<>\"”|".contains(c))
                .unwrap_or(rest.len());
            let end = rest[..end].find("](").unwrap_or(end);
            let url = rest[..end].replace("\\_", "_").replace("\\&", "&").replace("\\~", "~");
            // Marks around an address close after it.
            let trimmed = url.trim_end_matches('*');
            out.text.push_str(trimmed);
            rest = &rest[end - (url.len() - trimmed.len())..];
            if url.len() != trimmed.len() {
                rest = rest.trim_start_matches('*');
                close(&mut out, &mut italic);
            }
            continue;
        }
        match c {
            '\\' if after.starts_with(|c: char| c.is_ascii_punctuation()) => {
                rest = after;
                let mark = rest.chars().next().unwrap_or_default();
                out.text.push(mark);
                rest = &rest[mark.len_utf8()..];
                continue;
            }
            '*' => {
                let run = rest.bytes().take_while(|b| *b == b'*').count();
                toggle(&mut out, &mut italic, run);
                rest = &rest[run..];
                continue;
            }
            '_' => {
                let run = rest.bytes().take_while(|b| *b == b'_').count();
                let next = rest[run..].chars().next();
                let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                if word(previous) && word(next) || run > 3 {
                    out.text.push_str(&rest[..run]);
                } else {
                    toggle(&mut out, &mut italic, run);
                }
                rest = &rest[run..];
                continue;
            }
            '<' => {
                let limit = rest.floor_char_boundary(300);
                match rest[..limit].find('>') {
                    Some(end) if is_tag(&rest[1..end]) => {
                        let name = rest[1..end].trim_end_matches('/').trim().to_ascii_lowercase();
                        match name.as_str() {
                            "i" | "em" | "cite" => italic = italic.or(Some(out.text.len())),
                            "/i" | "/em" | "/cite" => close(&mut out, &mut italic),
                            "br" => push_space(&mut out.text),
                            _ => {}
                        }
                        rest = &rest[end + 1..];
                        continue;
                    }
                    // An address in angle brackets.
                    Some(end) if starts_url(&rest[1..]) || rest[1..end].contains('@') => {
                        rest = after;
                        continue;
                    }
                    _ => out.text.push('<'),
                }
            }
            '>' if out.text.rsplit(' ').next().is_some_and(|word| word.contains("://")) => {}
            '[' => {
                if let Some((text, url, after)) = link(rest) {
                    let text = clean_link_text(text);
                    out.text.push_str(&text);
                    let shows_url = text.contains(url) || url.contains(text.as_str());
                    if !shows_url || !text.contains("://") {
                        out.links.push(url.to_owned());
                    }
                    rest = after;
                    continue;
                }
                out.text.push('[');
            }
            '&' if after.starts_with("amp;") => {
                out.text.push('&');
                rest = &after[4..];
                continue;
            }
            '`' => {}
            c if c.is_whitespace() => push_space(&mut out.text),
            c if is_invisible(c) => {}
            c => out.text.push(c),
        }
        rest = after;
    }
    close(&mut out, &mut italic);
    out.text.truncate(out.text.trim_end().len());
    let length = out.text.len();
    out.italics.retain_mut(|span| {
        span.end = span.end.min(length);
        span.start < span.end
    });
    out
}

fn rest_before(raw: &str, rest: &str) -> Option<char> {
    raw[..raw.len() - rest.len()].chars().next_back()
}

fn push_space(text: &mut String) {
    if !text.is_empty() && !text.ends_with(' ') {
        text.push(' ');
    }
}

/// One mark or three are italic; two are bold.
fn toggle(out: &mut Clean, italic: &mut Option<usize>, run: usize) {
    if run.is_multiple_of(2) {
        return;
    }
    match italic {
        Some(_) => close(out, italic),
        None => *italic = Some(out.text.len()),
    }
}

fn close(out: &mut Clean, italic: &mut Option<usize>) {
    if let Some(start) = italic.take()
        && start < out.text.len()
    {
        out.italics.push(start..out.text.len());
    }
}

fn starts_url(text: &str) -> bool {
    let scheme = text.get(..8.min(text.len())).unwrap_or_default();
    scheme.starts_with("http://") || scheme.starts_with("https://")
}

fn is_tag(inner: &str) -> bool {
    let name = inner.trim_start_matches('/');
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !inner.contains(':')
        && !inner.contains('@')
        || inner.starts_with("a ")
        || inner.starts_with("!--")
}

/// `[text](url)`: both, and what follows.
fn link(text: &str) -> Option<(&str, &str, &str)> {
    let limit = text.floor_char_boundary(2_000);
    let middle = text[..limit].find("](")?;
    let label = text[..middle].strip_prefix('[')?;
    let target = &text[middle + 2..];
    let mut depth = 0_usize;
    let end = target.char_indices().take(2_000).find_map(|(at, c)| match c {
        '(' => {
            depth += 1;
            None
        }
        ')' if depth == 0 => Some(at),
        ')' => {
            depth -= 1;
            None
        }
        _ => None,
    })?;
    if label.contains('[') && !label.starts_with('[') {
        return None;
    }
    let url = target[..end].split(' ').next().unwrap_or_default().trim_matches(['<', '>']);
    Some((label, url, &target[end + 1..]))
}

fn clean_link_text(text: &str) -> String {
    let text: String = text.chars().filter(|c| !matches!(c, '*' | '[' | ']' | '`')).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Zero-width characters, soft hyphens, and marks of direction.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || c.is_control()
}
