//! Prepares CSS for splitting at its punctuation.

use std::borrow::Cow;

/// CSS without comments and without the contents of strings and addresses, and with escapes replaced by their characters.
pub(super) fn clean(css: &str) -> Cow<'_, str> {
    let bytes = css.as_bytes();
    if !bytes.iter().any(|byte| matches!(byte, b'/' | b'\\' | b'"' | b'\'' | b'(')) {
        return Cow::Borrowed(css);
    }
    let mut out = String::with_capacity(css.len());
    let (mut at, mut copied) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        let mut letter = [0; 4];
        let (instead, end) = match byte {
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let end = css[at + 2..].find("*/").map_or(css.len(), |end| at + 2 + end + 2);
                // A comment ends a word.
                (" ", end)
            }
            b'"' | b'\'' => ("\"\"", end_of_string(bytes, at + 1, *byte)),
            b'(' if is_address(bytes, at) => ("()", end_of_address(bytes, at + 1)),
            b'\\' => {
                let (character, length) = unescape(&css[at + 1..]);
                (&*character.encode_utf8(&mut letter), at + 1 + length)
            }
            _ => {
                at += 1;
                continue;
            }
        };
        out.push_str(&css[copied..at]);
        out.push_str(instead);
        (at, copied) = (end, end);
    }
    out.push_str(&css[copied..]);
    Cow::Owned(out)
}

/// Where a string ends: behind its quote, or before the end of its line.
fn end_of_string(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            byte if *byte == quote => return at + 1,
            b'\n' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Whether an address without quotes begins here, in which nothing but the parenthesis has a meaning.
fn is_address(bytes: &[u8], open: usize) -> bool {
    let named = open >= 3 && bytes[open - 3..open].eq_ignore_ascii_case(b"url");
    let first = bytes[open + 1..].iter().find(|byte| !byte.is_ascii_whitespace());
    named && !matches!(first, Some(b'"' | b'\''))
}

fn end_of_address(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b')' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The character of an escape, and the bytes behind the backslash that belong to it. One that would change the
/// structure becomes a question mark.
fn unescape(rest: &str) -> (char, usize) {
    let digits = rest.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
    let (character, length) = if digits == 0 {
        let character = rest.chars().next().unwrap_or('?');
        (character, rest.chars().next().map_or(0, char::len_utf8))
    } else {
        let number = u32::from_str_radix(&rest[..digits], 16).ok();
        // White space ends the number.
        let space = rest[digits..].starts_with(|c: char| c.is_ascii_whitespace());
        (number.and_then(char::from_u32).unwrap_or('?'), digits + usize::from(space))
    };
    let plain = character.is_ascii_alphanumeric()
        || matches!(character, '-' | '_')
        || !character.is_ascii();
    (if plain { character } else { '?' }, length)
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn only_the_structure_is_left() {
        for (css, left) in [
            ("a{b:c}", "a{b:c}"),
            ("display:/**/none", "display: none"),
            ("a/* ; } */b /* open", "a b  "),
            ("x{content:\"/*\"}y{b:'\\'}'}", "x{content:\"\"}y{b:\"\"}"),
            ("a:\"open\nb:c", "a:\"\"\nb:c"),
            ("a:url(//x/*.png;{);b:c", "a:url();b:c"),
            ("a:URL( 'x)' ) b", "a:URL( \"\" ) b"),
            ("url(é\\)é)x", "url()x"),
            ("d\\69 splay:n\\6fne", "display:none"),
            ("\\64isplay", "\u{64}isplay"),
            (".md\\:a \\7b \\é", ".md?a ?é"),
            ("\\", "?"),
            ("\"\\", "\"\""),
            ("url(\\", "url()"),
            ("/*", " "),
        ] {
            assert_eq!(clean(css), left, "{css}");
        }
    }
}
