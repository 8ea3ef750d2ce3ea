//! A text with parts in other languages, and its small words: articles that are attached, particles, forms of address.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use crate::languages::{Sort, Words};
use crate::lists::{self, GIVEN};
use crate::tokens::Token;
use crate::{Finding, Kind};

/// A text with parts in other languages.
pub(super) struct Text<'t> {
    pub(super) text: &'t str,
    pub(super) tokens: &'t [Token],
    /// Words of the lists of names that this text writes in lower case, or after an article.
    nouns: HashSet<&'t str>,
}

impl<'t> Text<'t> {
    pub(super) fn new(
        text: &'t str,
        tokens: &'t [Token],
        parts: &[(Range<usize>, &'static Words)],
    ) -> Self {
        Self { text, tokens, nouns: nouns(tokens, parts) }
    }

    /// Whether a word in lower case is mostly no name, in the language or in this text.
    pub(super) fn is_common(&self, words: &Words, word: &str) -> bool {
        words.is_common(word) || lists::name(word) & GIVEN == 0 && self.nouns.contains(word)
    }
}

/// Words of the lists of names that are other words in this text.
fn nouns<'t>(tokens: &'t [Token], parts: &[(Range<usize>, &'static Words)]) -> HashSet<&'t str> {
    let mut nouns = HashSet::new();
    for (part, words) in parts {
        let mut article = false;
        for token in &tokens[part.clone()] {
            let noun = if words.is_german() { token.capital && article } else { !token.capital };
            if token.is_word() && noun && lists::name(&token.lower) != 0 {
                nouns.insert(token.lower.as_str());
            }
            article = token.is_word() && words.is(Sort::Article, &token.lower);
        }
    }
    nouns
}

/// A word without an article that is attached to it, as in `l'Anna`.
pub(super) struct Bare<'t> {
    pub(super) lower: &'t str,
    pub(super) start: usize,
    /// Whether it begins with a capital.
    pub(super) capital: bool,
    /// Whether something was attached to it.
    pub(super) elided: bool,
}

/// What is attached to a word with an apostrophe.
static ELIDED: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("elided"));

pub(super) fn bare<'t>(text: &'t str, token: &'t Token) -> Bare<'t> {
    let whole =
        Bare { lower: &token.lower, start: token.start, capital: token.capital, elided: false };
    let Some(at) = token.lower.find(['\'', '’']) else { return whole };
    let (before, rest) = token.lower.split_at(at);
    if !ELIDED.contains(before) {
        return whole;
    }
    let mark = rest.chars().next().map_or(1, char::len_utf8);
    let start = token.start + at + mark;
    let capital = text[start..].starts_with(char::is_uppercase);
    // `D'Angelo` is a family name.
    let begins = text[token.start..].starts_with(char::is_uppercase);
    if begins && !token.first && lists::name(&token.lower) != 0 {
        return whole;
    }
    Bare { lower: &rest[mark..], start, capital, elided: true }
}

/// Small words inside names.
static PARTICLES: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("name-particle"));

pub(super) fn is_particle(word: &str) -> bool {
    PARTICLES.contains(word)
}

/// `d'Aubigny` and `al-Rahman` after a name.
pub(super) fn is_name_article(text: &str, token: &Token) -> bool {
    if !token.is_word() {
        return false;
    }
    let word = bare(text, token);
    let hyphen =
        ["al-", "el-", "abd-", "ul-"].iter().any(|article| token.lower.starts_with(article));
    word.elided && word.capital && token.lower.starts_with('d') || hyphen
}

/// Whether a token is a form of address. Short ones need a dot or a capital, or they are other words.
pub(super) fn is_address(text: &Text<'_>, words: &Words, at: usize) -> bool {
    let tokens = text.tokens;
    let Some(token) = tokens.get(at).filter(|token| token.is_word()) else { return false };
    let word = bare(text.text, token);
    if !words.is(Sort::Address, word.lower) {
        return false;
    }
    let dot = tokens.get(at + 1).is_some_and(|next| next.is_mark('.') && next.start == token.end);
    match word.lower.chars().count() {
        1 => word.capital && dot,
        2 => word.capital || dot,
        _ => word.capital || !words.is_german() && (dot || !token.first),
    }
}

/// Marks the forms of address before names.
pub(super) fn addresses(
    text: &Text<'_>,
    words: &Words,
    part: Range<usize>,
    found: &mut Vec<Finding>,
) {
    for at in part.clone() {
        if !is_address(text, words, at) {
            continue;
        }
        let end = address_end(text.tokens, at);
        let named = text.tokens.get(end).filter(|_| end < part.end).is_some_and(|next| {
            next.is_word() && (bare(text.text, next).capital || is_address(text, words, end))
        });
        if named {
            let place = bare(text.text, &text.tokens[at]).start..text.tokens[end - 1].end;
            found.push(Finding::new(Kind::Title, place, 0.8, "form of address before a name"));
        }
    }
}

/// The token after a form of address with what belongs to it: `Dr. med.`, `Sig.ra`, `Dott.ssa`.
pub(super) fn address_end(tokens: &[Token], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(token) = tokens.get(end) {
        let attached = token.start == tokens[end - 1].end;
        let ending = token.is_word()
            && attached
            && ["ra", "ssa", "na", "ri", "ª", "a"].contains(&token.lower.as_str());
        let degree = token.is_word() && DEGREES.contains(token.lower.as_str());
        if !(token.is_mark('.') && attached || ending || degree) {
            break;
        }
        end += 1;
    }
    end
}

static DEGREES: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("degree"));
