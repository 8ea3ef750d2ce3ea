//! Titles whose noun is in no list of roles, by their form and place.

use std::sync::LazyLock;

use regex::Regex;

/// The longest title that is known by its form, in words.
const MAX_TITLE_WORDS: usize = 5;

/// A place before the article of a title: "für unseren Standort Graz einen".
static BEFORE_ARTICLE: LazyLock<Regex> = LazyLock::new(|| {
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(r"(?i)^(?:für|for|pour|para|in|at|en|à|am|im|ab|zum|zur|bei)\s[^.;:!?]{1,80}?\s(?P<t>(?:an?|eine?n?|une?|una?)\s.+)$")
        .expect("a pattern that compiles")
});

/// Words of a title that are no name of what a company may also look for.
static NO_TITLE: LazyLock<Regex> = LazyLock::new(|| {
    // cannot fail: the pattern is a constant, and a test uses it.
    Regex::new(r"(?i)\b(?:department|division|services?|abteilung|département|group|team|gmbh|ltd|inc|careers?|jobs?|about|how|why|our|we|you|your|wir|unser|nous|notre|nuestro)\b")
        .expect("a pattern that compiles")
});

/// What follows a place that precedes the title.
pub(super) fn after_place(after: &str) -> &str {
    let found = BEFORE_ARTICLE.captures(after).and_then(|found| found.name("t"));
    found.map_or(after, |title| title.as_str())
}

/// Whether a text has the form of a title: few words, the first with a capital, and no numbers.
pub(super) fn looks_like_title(text: &str) -> bool {
    let words = text.split_whitespace().count();
    (1..=MAX_TITLE_WORDS).contains(&words)
        && text.starts_with(char::is_uppercase)
        && text.contains(char::is_alphabetic)
        && !text.contains(|sign: char| sign.is_ascii_digit() || ".:;!?,@".contains(sign))
        && !NO_TITLE.is_match(text)
}
