//! What a reader sees of a text: without the marks of Markdown and HTML, and without characters that have no picture.

/// Whether a character is invisible or changes the order of others.
pub(super) fn is_hidden(sign: char) -> bool {
    matches!(sign,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
        || sign.is_control() && !matches!(sign, '\n' | '\t' | '\r')
}

/// A text without hidden characters, but for those that join the characters of some scripts.
pub(super) fn without_hidden(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        let joins = matches!(sign, '\u{200c}' | '\u{200d}')
            && out.chars().next_back().is_some_and(|before| before >= '\u{590}');
        if joins || !is_hidden(sign) {
            out.push(sign);
        }
    }
    out
}

/// The text as it is shown. Words on both sides of a mark are joined, as the reader sees them.
pub(super) fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut marks = Marks::default();
    while let Some(sign) = rest.chars().next() {
        let after = &rest[sign.len_utf8()..];
        let (skipped, replacement) = match sign {
            '<' => (marks.tag(rest), None),
            '&' => entity(rest),
            ']' if after.starts_with('(') => {
                (in_line(after, ")", &mut marks.link).map(|end| end + 2), None)
            }
            '!' if after.starts_with('[') => (Some(1), None),
            '$' => {
                let digit = |sign: Option<char>| sign.is_some_and(|sign| sign.is_ascii_digit());
                let before = out.chars().rev().find(|sign| *sign != ' ');
                let amount = digit(after.trim_start().chars().next()) || digit(before);
                ((!amount).then_some(1), None)
            }
            '*' | '_' | '`' | '~' | '\\' | '[' | ']' => (Some(1), None),
            // Accents of the character before.
            '\u{300}'..='\u{36f}' => (Some(sign.len_utf8()), None),
            _ if is_hidden(sign) => (Some(sign.len_utf8()), None),
            _ => (None, None),
        };
        match skipped {
            Some(length) => {
                out.extend(replacement.filter(|sign| !is_hidden(*sign)));
                rest = &rest[length..];
            }
            None => {
                out.push(sign);
                rest = after;
            }
        }
    }
    out
}

/// Where a mark was last looked for and not found: how much text is left at the end of that line.
struct Marks {
    tag: usize,
    comment: usize,
    link: usize,
}

impl Default for Marks {
    fn default() -> Self {
        Self { tag: usize::MAX, comment: usize::MAX, link: usize::MAX }
    }
}

impl Marks {
    /// The length of a tag or comment that a text begins with.
    fn tag(&mut self, text: &str) -> Option<usize> {
        if text.starts_with("<!--") {
            return in_line(text, "-->", &mut self.comment).map(|end| end + 3);
        }
        let opens = |sign: char| sign.is_ascii_alphabetic() || matches!(sign, '/' | '!' | '?');
        if !text[1..].starts_with(opens) {
            return None;
        }
        in_line(text, ">", &mut self.tag).map(|end| end + 1)
    }
}

/// Where a text has a mark before the end of its first line. `missing` keeps a line without it from being searched again.
fn in_line(text: &str, mark: &str, missing: &mut usize) -> Option<usize> {
    if text.len() > *missing {
        return None;
    }
    let (bytes, mark) = (text.as_bytes(), mark.as_bytes());
    for at in 0..bytes.len() {
        if bytes[at..].starts_with(mark) {
            return Some(at);
        }
        if bytes[at] == b'\n' {
            *missing = bytes.len() - at;
            return None;
        }
    }
    *missing = 0;
    None
}

/// The length of a character reference that a text begins with, and its character if it is given by number.
fn entity(text: &str) -> (Option<usize>, Option<char>) {
    let Some(end) = text.bytes().take(40).position(|sign| sign == b';') else {
        return (None, None);
    };
    let name = &text[1..end];
    let number = name.strip_prefix('#').map(|number| match number.strip_prefix(['x', 'X']) {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
        None => number.parse(),
    });
    match number {
        Some(Ok(number)) => (Some(end + 1), char::from_u32(number)),
        Some(Err(_)) => (None, None),
        None if name.len() > 1 && name.bytes().all(|sign| sign.is_ascii_alphanumeric()) => {
            (Some(end + 1), None)
        }
        None => (None, None),
    }
}
