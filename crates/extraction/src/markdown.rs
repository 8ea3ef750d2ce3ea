//! Markdown: escapes plain text and writes its elements.
//!
//! Functions that take `inline` expect Markdown, made by [`escape`], [`link`] and the like; those that take `text` expect
//! plain text. Blocks are returned without the blank line between them, which [`Text`](crate::text::Text) writes.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

/// Deeper list items are indented like this level.
const DEEPEST: usize = 8;

/// What comes before a list item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    Bullet,
    Number(u32),
}

/// Escapes what Markdown would take for markup. Characters that have no effect at their position are left as they are, since
/// every backslash makes the text harder to read.
pub fn escape(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut line_start = true;
    // Where the text of the line begins. It is kept, since looking for it would take as long as the line for each full stop.
    let mut first: Option<usize> = None;
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
        let after = bytes.get(at + 1).copied().unwrap_or(b' ');
        let needed = match byte {
            b'\\' => after.is_ascii_punctuation(),
            b'`' => true,
            b'*' => !(is_space(before) && is_space(after)),
            // Within a word an underscore is plain.
            b'_' => !(is_word(before) && is_word(after) || is_space(before) && is_space(after)),
            b'~' => before == b'~' || after == b'~',
            // Brackets are plain unless a target follows.
            b']' => matches!(after, b'(' | b'[' | b':'),
            b'<' => after.is_ascii_alphabetic() || matches!(after, b'/' | b'!' | b'?'),
            b'&' => is_entity(&bytes[at + 1..]),
            b'#' => line_start && starts_heading(&bytes[at..]),
            b'>' => line_start,
            b'+' | b'-' => line_start && (is_space(after) || is_rule(line_at(bytes, at))),
            b'=' => line_start && is_rule(line_at(bytes, at)),
            b'|' => line_start,
            b'.' | b')' => is_space(after) && is_number(&bytes[first.unwrap_or(at)..at]),
            _ => false,
        };
        if needed {
            out.push_str(&text[copied..at]);
            out.push('\\');
            copied = at;
        }
        line_start = byte == b'\n' || line_start && byte == b' ';
        first = if byte == b'\n' { None } else { first.or((!is_space(byte)).then_some(at)) };
    }
    if copied == 0 && out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

/// Bytes of other scripts count as alphanumeric.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || byte == b'_'
}

fn is_entity(rest: &[u8]) -> bool {
    let name =
        rest.iter().take(32).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'#');
    let name = name.count();
    name > 0 && rest.get(name) == Some(&b';')
}

fn starts_heading(rest: &[u8]) -> bool {
    let marks = rest.iter().take_while(|byte| **byte == b'#').count();
    marks <= 6 && rest.get(marks).is_none_or(|byte| is_space(*byte))
}

fn line_at(bytes: &[u8], at: usize) -> &[u8] {
    bytes[at..].split(|byte| *byte == b'\n').next().unwrap_or_default()
}

/// Whether a line of one character would be a rule or make a heading of the line above.
fn is_rule(line: &[u8]) -> bool {
    line.iter().all(|byte| *byte == line[0] || is_space(*byte))
}

/// Whether the start of a line is the number of a list item.
fn is_number(start: &[u8]) -> bool {
    (1..=9).contains(&start.len()) && start.iter().all(u8::is_ascii_digit)
}

/// A heading of level 1 to 6, on one line.
pub fn heading(level: usize, inline: &str) -> String {
    format!("{} {}", "#".repeat(level.clamp(1, 6)), one_line(inline))
}

/// A list item; `level` 0 is the outermost. Further lines are indented below the marker.
pub fn item(level: usize, marker: Marker, inline: &str) -> String {
    let indent = "  ".repeat(level.min(DEEPEST));
    let (mark, width) = match marker {
        Marker::Bullet => ("-".to_owned(), 2),
        Marker::Number(number) => {
            let mark = format!("{number}.");
            let width = mark.len() + 1;
            (mark, width)
        }
    };
    let mut out = format!("{indent}{mark} ");
    for (at, line) in inline.trim().lines().enumerate() {
        if at > 0 {
            out.push('\n');
            out.push_str(&indent);
            out.push_str(&" ".repeat(width));
        }
        out.push_str(line.trim());
    }
    out
}

/// A table row, one line.
pub fn row<C: AsRef<str>>(cells: &[C]) -> String {
    let mut out = String::from("|");
    for cell in cells {
        out.push(' ');
        for (at, part) in one_line(cell.as_ref()).split('|').enumerate() {
            if at > 0 && !out.ends_with('\\') {
                out.push('\\');
            }
            if at > 0 {
                out.push('|');
            }
            out.push_str(part);
        }
        out.push_str(" |");
    }
    out
}

/// The line below the first row of a table.
pub fn separator(columns: usize) -> String {
    format!("|{}", " --- |".repeat(columns.max(1)))
}

/// Text as it is, between fences that do not occur in it.
pub fn code_block(language: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    let language: String =
        language.chars().filter(|c| c.is_ascii_alphanumeric() || "+-#_.".contains(*c)).collect();
    let text = text.trim_matches(['\n', '\r']).trim_end();
    format!("{fence}{language}\n{text}\n{fence}")
}

/// Text as it is within a line.
pub fn code(text: &str) -> String {
    let text = one_line(text);
    if text.is_empty() {
        return text;
    }
    let fence = "`".repeat(longest_run(&text, '`') + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Raised text: digits as the characters for that, other text with a mark. Characters after a number (`1st`) need none.
pub fn superscript(inline: &str) -> String {
    const RAISED: [(char, char); 14] = [
        ('0', '⁰'),
        ('1', '¹'),
        ('2', '²'),
        ('3', '³'),
        ('4', '⁴'),
        ('5', '⁵'),
        ('6', '⁶'),
        ('7', '⁷'),
        ('8', '⁸'),
        ('9', '⁹'),
        ('+', '⁺'),
        ('-', '⁻'),
        ('−', '⁻'),
        ('n', 'ⁿ'),
    ];
    const ORDINALS: [&str; 10] = ["st", "nd", "rd", "th", "e", "er", "re", "ème", "o", "a"];
    let text = inline.trim();
    let raise = |c: char| RAISED.iter().find(|(plain, _)| *plain == c).map(|(_, raised)| *raised);
    if let Some(raised) = text.chars().map(raise).collect::<Option<String>>() {
        return raised;
    }
    if ORDINALS.contains(&text) || text.contains(['[', '(']) {
        inline.to_owned()
    } else {
        format!("^({text})")
    }
}

/// A link; without a target that is worth following, its text alone.
pub fn link(inline: &str, target: &str) -> String {
    let inline = one_line(inline);
    match (inline.is_empty(), self::target(target)) {
        (false, Some(target)) => format!("[{inline}]({target})"),
        _ => inline,
    }
}

/// Appends Markdown to Markdown. An exclamation mark before a link would make it a picture, and is escaped.
pub fn append(out: &mut String, inline: &str) {
    if inline.starts_with('[') && out.ends_with('!') {
        out.pop();
        out.push_str("\\!");
    }
    out.push_str(inline);
}

/// Bold text; white space at its ends stays outside.
pub fn strong(inline: &str) -> String {
    surround(inline, "**")
}

/// Italic text; white space at its ends stays outside.
pub fn emphasis(inline: &str) -> String {
    surround(inline, "*")
}

/// A quotation of one or more blocks.
pub fn quote(block: &str) -> String {
    let lines =
        block.lines().map(|line| if line.is_empty() { ">".into() } else { format!("> {line}") });
    lines.collect::<Vec<String>>().join("\n")
}

/// A target in the form that parentheses allow, or none if it runs code or carries its own data.
pub fn target(target: &str) -> Option<String> {
    let target = target.trim();
    if target.is_empty() || is_unsafe(target) {
        return None;
    }
    let mut out = String::with_capacity(target.len());
    for character in target.chars() {
        match character {
            '(' => out.push_str("%28"),
            ')' => out.push_str("%29"),
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '\\' => out.push_str("%5C"),
            ' ' => out.push_str("%20"),
            c if c.is_whitespace() || c.is_control() => {}
            c => out.push(c),
        }
    }
    Some(out)
}

/// Whether a target runs code or carries its own data. Browsers skip white space and control characters in a scheme.
pub fn is_unsafe(target: &str) -> bool {
    let scheme: String = target
        .chars()
        .filter(|c| !c.is_whitespace() && !c.is_control())
        .take("javascript:".len())
        .map(|c| c.to_ascii_lowercase())
        .collect();
    ["javascript:", "data:", "vbscript:", "blob:", "file:"]
        .iter()
        .any(|bad| scheme.starts_with(bad))
}

fn surround(inline: &str, mark: &str) -> String {
    let inner = inline.trim();
    if inner.is_empty() {
        return inline.to_owned();
    }
    let start = inline.len() - inline.trim_start().len();
    let (before, after) = (&inline[..start], &inline[start + inner.len()..]);
    // Emphasis does not reach over a paragraph's end.
    format!("{before}{mark}{}{mark}{after}", inner.replace('\n', " "))
}

fn longest_run(text: &str, character: char) -> usize {
    text.split(|c| c != character).map(str::len).max().unwrap_or(0)
}

fn one_line(text: &str) -> String {
    crate::text::on_one_line(text)
}
