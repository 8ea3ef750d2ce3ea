//! The sentences of a line.

use std::sync::LazyLock;

use regex::Regex;

use super::words::ending;

/// A bracket that is open for more bytes is not closed at all.
const MAX_BRACKET: usize = 100;

static SENTENCE_END: LazyLock<Regex> = LazyLock::new(|| {
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(r"[.!?]\s+(?:\p{Lu}|[¿¡])|;\s").expect("a pattern that compiles")
});

/// The sentences of a line; a semicolon ends one too.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for found in SENTENCE_END.find_iter(text) {
        // A single character before a full stop is an abbreviation: "z. B.".
        let end = found.start() + 1;
        let word = text[start..found.start()].rsplit(char::is_whitespace).next().unwrap_or("");
        if text[found.start()..].starts_with('.')
            && (word.chars().count() <= 2 || word.contains('.'))
            && word.chars().all(|sign| sign.is_alphabetic() || sign == '.')
        {
            continue;
        }
        // Nor does a day of German: "zum 1. September".
        if is_day(&text[start..found.start()]) {
            continue;
        }
        // Brackets are not split: "(Dipl.-Ing. FH)".
        let near = ending(&text[start..end], MAX_BRACKET);
        if near.matches('(').count() > near.matches(')').count() {
            continue;
        }
        sentences.push(text[start..end].trim());
        start = end;
    }
    sentences.push(text[start..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// Whether a text ends with a day before its month, as in "ab dem 15".
fn is_day(text: &str) -> bool {
    let mut words = text.rsplit(char::is_whitespace);
    let day = words.next().is_some_and(|word| word.parse().is_ok_and(|day: u8| day <= 31));
    day && words.next().is_some_and(|word| {
        ["zum", "ab", "am", "dem", "bis", "vom", "den"].contains(&word.to_lowercase().as_str())
    })
}
