//! Identifiers in a request: of files, of stored answers, and others that have a form of their own.

use super::characters::is_word_char;

/// What an identifier names, as far as its form shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdKind {
    /// `file_…`: an upload or an artifact.
    File,
    /// `ref_…`: a stored part of an answer.
    Reference,
    /// `doc_…`, `run_…`: hex digits after another word.
    Named,
    Uuid,
    /// `10.0.0.1`, `v1.2.3`: a machine or a version.
    Dotted,
}

/// How many hex digits make a random identifier.
const MIN_DIGITS: usize = 16;

/// The identifier at the start of a text, and its length in bytes.
pub(super) fn id_at(text: &str) -> Option<(IdKind, usize)> {
    let (kind, length) = prefixed(text).or_else(|| uuid(text)).or_else(|| dotted(text))?;
    let mut after = text[length..].chars();
    // `file_….txt` is a file with that name.
    let goes_on = match after.next() {
        Some('.' | '/' | '-' | '@') => after.next().is_some_and(is_word_char),
        Some(c) => is_word_char(c) || c == '_',
        None => false,
    };
    (!goes_on).then_some((kind, length))
}

/// `file_`, `ref_` or another word, and many hex digits.
fn prefixed(text: &str) -> Option<(IdKind, usize)> {
    let (prefix, rest) = text.split_once('_')?;
    let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
    let is_word =
        (2..=16).contains(&prefix.len()) && prefix.bytes().all(|c| c.is_ascii_lowercase());
    if !is_word || digits < MIN_DIGITS {
        return None;
    }
    let kind = match prefix {
        "file" => IdKind::File,
        "ref" => IdKind::Reference,
        _ => IdKind::Named,
    };
    Some((kind, prefix.len() + 1 + digits))
}

/// `550e8400-e29b-41d4-a716-446655440000`.
fn uuid(text: &str) -> Option<(IdKind, usize)> {
    const LENGTH: usize = 36;
    let bytes = text.as_bytes().get(..LENGTH)?;
    let fits = bytes.iter().enumerate().all(|(place, byte)| match place {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    fits.then_some((IdKind::Uuid, LENGTH))
}

/// `10.0.0.1`, `10.0.0.1:8080`, `10.0.0.0/24`, `v1.2.3`: more points than a number has.
fn dotted(text: &str) -> Option<(IdKind, usize)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let plain = text.strip_prefix('v').unwrap_or(text);
    let mut length = digits(plain);
    let mut points = 0;
    while length > 0
        && let Some(rest) = plain[length..].strip_prefix('.')
        && digits(rest) > 0
    {
        length += 1 + digits(rest);
        points += 1;
    }
    if points < 2 {
        return None;
    }
    if let Some(rest) = plain[length..].strip_prefix([':', '/'])
        && digits(rest) > 0
    {
        length += 1 + digits(rest);
    }
    Some((IdKind::Dotted, text.len() - plain.len() + length))
}

#[cfg(test)]
mod tests {
    use super::{IdKind, id_at};

    #[test]
    fn identifiers_are_read_whole_and_nothing_else_is_one() {
        let file = "file_0123456789abcdef0123456789abcdef";
        for (text, kind) in [
            (file, IdKind::File),
            ("ref_0123456789abcdef0123456789abcdef", IdKind::Reference),
            ("run_0123456789abcdef0123456789abcdef", IdKind::Named),
            ("550e8400-e29b-41d4-a716-446655440000", IdKind::Uuid),
            ("10.0.0.1", IdKind::Dotted),
            ("10.0.0.1:8080", IdKind::Dotted),
            ("v1.2.3", IdKind::Dotted),
        ] {
            assert_eq!(id_at(text), Some((kind, text.len())), "{text}");
            for after in [" now", ".", ". Then", ", and", "'s text", "和"] {
                let found = id_at(&format!("{text}{after}"));
                assert_eq!(found, Some((kind, text.len())), "{text}{after}");
            }
        }
        let named = format!("{file}.txt");
        for text in [named.as_str(), "file_name", "file_1", "1.5", "3.14", "1...3", "v2", "a_b"] {
            assert_eq!(id_at(text), None, "{text}");
        }
    }
}
