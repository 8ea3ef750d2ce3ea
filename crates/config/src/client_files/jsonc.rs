//! JSON with comments and trailing commas, as editors write it.

use std::ops::Range;

use schema::yaml::{Field, Outline, Shape};

/// How deep a document may be nested.
const MAX_DEPTH: usize = 128;

/// The text as plain JSON of the same length: comments and trailing commas are replaced by spaces, and escapes of half a
/// character, which JavaScript writes where it cuts one, by U+FFFD. So positions stay the same.
pub(crate) fn to_json(text: &str) -> String {
    let mut json = text.as_bytes().to_vec();
    let bytes = text.as_bytes();
    let (mut at, mut comma) = (0, None);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let end = string_end(bytes, at);
                replace_halves(&mut json[at..end]);
                at = end;
                comma = None;
                continue;
            }
            b'/' if matches!(bytes.get(at + 1), Some(b'/' | b'*')) => {
                let end = comment_end(text, at);
                blank(&mut json, at..end);
                at = end;
                continue;
            }
            b',' => comma = Some(at),
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    json[comma] = b' ';
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        at += 1;
    }
    // A byte order mark is no JSON.
    if text.starts_with('\u{feff}') {
        blank(&mut json, 0..3);
    }
    String::from_utf8(json).unwrap_or_else(|_| text.to_owned())
}

/// Overwrites a range with spaces, except for the ends of its lines.
fn blank(json: &mut [u8], range: Range<usize>) {
    for byte in &mut json[range] {
        if !matches!(*byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

/// Replaces the escapes of one half of a surrogate pair in a string.
fn replace_halves(string: &mut [u8]) {
    let mut at = 0;
    while at < string.len() {
        if string[at] != b'\\' {
            at += 1;
            continue;
        }
        match half_at(string, at) {
            None => at += 2,
            Some(Half::First) if matches!(half_at(string, at + 6), Some(Half::Second)) => at += 12,
            Some(_) => {
                string[at + 2..at + 6].copy_from_slice(b"fffd");
                at += 6;
            }
        }
    }
}

enum Half {
    First,
    Second,
}

/// The half of a surrogate pair that is escaped here.
fn half_at(string: &[u8], at: usize) -> Option<Half> {
    let digits = string.get(at..at + 6)?.strip_prefix(b"\\u")?;
    match u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()? {
        0xd800..=0xdbff => Some(Half::First),
        0xdc00..=0xdfff => Some(Half::Second),
        _ => None,
    }
}

fn comment_end(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    let length = if rest.starts_with("//") {
        rest.find('\n')
    } else {
        rest[2..].find("*/").map(|end| end + 4)
    };
    length.map_or(text.len(), |length| at + length)
}

/// The position after the string that begins here.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    at += 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'"' => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// Where the values of a document are. `json` is what [`to_json`] returned, and valid.
pub(crate) fn outline(json: &str) -> Option<Outline> {
    let mut reader = Reader { json, at: 0 };
    reader.skip_space();
    reader.value(0)
}

struct Reader<'a> {
    json: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Option<Outline> {
        if depth > MAX_DEPTH {
            return None;
        }
        let start = self.at;
        let shape = match self.peek()? {
            b'{' => self.map(depth)?,
            b'[' => {
                self.items(b']', |reader| reader.value(depth + 1).map(drop))?;
                Shape::List
            }
            b'"' => {
                self.at = string_end(self.json.as_bytes(), self.at);
                Shape::Scalar(unquote(&self.json[start..self.at])?)
            }
            _ => {
                let ends = |c: char| c.is_ascii_whitespace() || matches!(c, ',' | '}' | ']');
                let rest = &self.json[start..];
                self.at += rest.find(ends).unwrap_or(rest.len());
                Shape::Scalar(self.json[start..self.at].to_owned())
            }
        };
        Some(Outline { range: start..self.at, shape })
    }

    fn map(&mut self, depth: usize) -> Option<Shape> {
        let mut fields = Vec::new();
        self.items(b'}', |reader| {
            let start = reader.at;
            reader.at = string_end(reader.json.as_bytes(), start);
            let key = start..reader.at;
            let name = unquote(&reader.json[key.clone()]);
            reader.skip_space();
            if reader.peek()? != b':' {
                return None;
            }
            reader.at += 1;
            let colon = reader.at;
            reader.skip_space();
            let value = reader.value(depth + 1)?;
            fields.push(Field { name, key, colon, value });
            Some(())
        })?;
        Some(Shape::Map { flow: true, fields })
    }

    /// The items between brackets.
    fn items(&mut self, close: u8, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.at += 1;
        loop {
            self.skip_space();
            if self.peek()? == close {
                self.at += 1;
                return Some(());
            }
            item(self)?;
            self.skip_space();
            match self.peek()? {
                b',' => self.at += 1,
                byte if byte == close => {}
                _ => return None,
            }
        }
    }
}

fn unquote(text: &str) -> Option<String> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests;
