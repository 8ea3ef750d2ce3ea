//! Facts of a text: numbers, dates, names and skills. A tailored résumé has none that its source lacks.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plain_words;
use crate::fit::Words;
use crate::skills::{SpanKind, listed_terms, synonyms};

/// A fact that a text adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewFact {
    pub kind: FactKind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FactKind {
    /// Digits, words for numbers, and the names of months.
    Number,
    /// People, organisations, places, products: words with a capital.
    Name,
    /// A term of the lists of skills.
    Skill,
}

/// What a source states.
pub struct Facts {
    words: Words,
    stems: HashSet<String>,
    numbers: HashSet<String>,
}

impl Facts {
    pub fn of(source: &str) -> Self {
        let words = Words::of(source);
        let stems = words.stems().map(str::to_owned).collect();
        let numbers = tokens(source).flat_map(|token| numbers(token.text, token.unit)).collect();
        Self { words, stems, numbers }
    }

    /// The facts of a text that the source lacks, in order, each once.
    pub fn new_in(&self, text: &str) -> Vec<NewFact> {
        let mut found: Vec<NewFact> = Vec::new();
        let mut add = |kind, text: &str| {
            if !found.iter().any(|fact| fact.text == text) {
                found.push(NewFact { kind, text: text.to_owned() });
            }
        };
        for token in tokens(text) {
            if token.text.contains(|sign: char| sign.is_numeric()) {
                for number in numbers(token.text, token.unit) {
                    if !self.numbers.contains(&number) {
                        add(FactKind::Number, &number);
                    }
                }
            } else if plain_words::is_number(token.text) {
                if !self.has_all(token.text) {
                    add(FactKind::Number, token.text);
                }
            } else if token.text.contains(char::is_uppercase) && !self.knows(&token) {
                add(FactKind::Name, token.text);
            }
        }
        for span in listed_terms(text).iter().filter(|span| span.kind == SpanKind::Knowledge) {
            let term = &text[span.start..span.end];
            let names = std::iter::once(term).chain(synonyms(term));
            if !names.into_iter().any(|name| self.words.find(&Words::of(name)).is_some()) {
                add(FactKind::Skill, term);
            }
        }
        found
    }

    /// Whether a word with a capital is in the source, or is no name.
    fn knows(&self, token: &Token<'_>) -> bool {
        self.has_all(token.text)
            || token.begins && plain_words::is_plain(token.text)
            || plain_words::is_german_noun(token.text)
    }

    /// Whether the source has every part of a word.
    fn has_all(&self, word: &str) -> bool {
        Words::of(word).stems().all(|stem| self.stems.contains(stem))
    }
}

/// A word, a number or a mixture of both.
struct Token<'a> {
    text: &'a str,
    /// Whether a sentence begins with it.
    begins: bool,
    /// A percent sign or a currency next to it.
    unit: Option<char>,
}

const UNITS: [char; 5] = ['%', '€', '$', '£', '¥'];

fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let inside = |sign: char| {
        sign.is_alphanumeric() || matches!(sign, '\'' | '’' | '.' | ',' | '+' | '#' | '&')
    };
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(char::is_alphanumeric)?;
        let length = text[start..].find(|sign| !inside(sign)).unwrap_or(text.len() - start);
        at = start + length;
        let token = text[start..at]
            .trim_end_matches(|sign: char| !(sign.is_alphanumeric() || matches!(sign, '+' | '#')));
        let before = text[..start].trim_end_matches([' ', '"', '“', '„', '(', '*', '_', '[']);
        let begins = before.is_empty()
            || before.ends_with(['.', '!', '?', ':', ';', '\n', '-', '–', '•', '·', '|']);
        let after = text[start + token.len()..].trim_start_matches([' ', '\u{a0}', '\u{202f}']);
        let unit = after.chars().next().filter(|sign| UNITS.contains(sign));
        let unit =
            unit.or_else(|| before.chars().next_back().filter(|sign| UNITS[1..].contains(sign)));
        Some(Token { text: token, begins, unit })
    })
}

/// The numbers of a word in one form: lower case, without the separators of thousands, with their unit.
fn numbers(token: &str, unit: Option<char>) -> Vec<String> {
    if !token.contains(|sign: char| sign.is_numeric()) {
        return Vec::new();
    }
    let parts = split_number(token.trim_end_matches(['+', '#']));
    let last = parts.len().saturating_sub(1);
    let with_unit = |(at, part): (usize, String)| match unit {
        Some(unit) if at == last => vec![format!("{part}{unit}"), part],
        _ => vec![part],
    };
    parts.into_iter().enumerate().flat_map(with_unit).collect()
}

/// Splits `12.03.2018` at its signs, but not `4.5`, and removes those of `1,200`.
fn split_number(token: &str) -> Vec<String> {
    let lower = token.to_lowercase();
    let groups: Vec<&str> =
        lower.split(['.', ',', '\'', '’', '&']).filter(|group| !group.is_empty()).collect();
    let thousands = groups.len() > 1
        && groups[1..]
            .iter()
            .all(|group| group.len() == 3 && group.bytes().all(|c| c.is_ascii_digit()))
        && groups[0].len() <= 3;
    if thousands {
        return vec![groups.concat()];
    }
    match groups[..] {
        [whole, fraction] => vec![format!("{whole}.{fraction}")],
        _ => groups.into_iter().map(str::to_owned).collect(),
    }
}
