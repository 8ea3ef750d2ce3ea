//! The marks of list items.

/// The bullet or number before a list item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    Bullet,
    Number(u32),
    /// A letter or a Roman numeral, which is kept as it is.
    Other,
}

const BULLETS: [char; 24] = [
    '•', '◦', '▪', '▫', '‣', '⁃', '∙', '●', '○', '■', '□', '◆', '◇', '►', '▶', '➢', '➤', '✓', '✔',
    '·', '–', '—', '-', '*',
];

/// Whether a word is the mark of a list item.
pub(super) fn is_marker(word: &str) -> bool {
    parse(word).is_some()
}

fn parse(word: &str) -> Option<Marker> {
    let mut characters = word.chars();
    if let (Some(first), None) = (characters.next(), characters.next())
        && BULLETS.contains(&first)
    {
        return Some(Marker::Bullet);
    }
    let inner = word.strip_suffix(['.', ')'])?;
    let inner = inner.strip_prefix('(').unwrap_or(inner);
    if (1..=3).contains(&inner.len()) && inner.bytes().all(|byte| byte.is_ascii_digit()) {
        return inner.parse().ok().map(Marker::Number);
    }
    let letter = inner.len() == 1 && inner.bytes().all(|byte| byte.is_ascii_lowercase());
    let roman = (1..=5).contains(&inner.len()) && inner.bytes().all(|byte| b"ivx".contains(&byte));
    (letter || roman).then_some(Marker::Other)
}

/// The mark at the start of a line and the text behind it.
pub(super) fn split(line: &str) -> Option<(Marker, &str)> {
    let line = line.trim_start();
    let end = line.find([' ', '\t'])?;
    let rest = line[end..].trim_start();
    (!rest.is_empty()).then_some(())?;
    parse(&line[..end]).map(|marker| (marker, rest))
}

#[cfg(test)]
mod tests {
    use super::{Marker, is_marker, split};

    #[test]
    fn marks_of_lists_are_known() {
        for mark in ["•", "–", "1.", "12)", "(3)", "a)", "iv."] {
            assert!(is_marker(mark), "{mark}");
        }
        for word in ["1", "word.", "A.", "1234.", "", ".", "(a", "3.5"] {
            assert!(!is_marker(word), "{word}");
        }
        assert_eq!(split("2. two words"), Some((Marker::Number(2), "two words")));
        assert_eq!(split("•\tword"), Some((Marker::Bullet, "word")));
        assert_eq!(split("word word"), None);
        assert_eq!(split("•"), None);
    }
}
