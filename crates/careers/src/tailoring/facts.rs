//! Facts of a text: numbers, dates, names and skills. A tailored résumé has none that its source lacks.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::shown;
use super::{plain_words, units};
use crate::fit::Words;
use crate::resumes::names::{is_company, is_institution};
use crate::skills::{SpanKind, listed_terms, synonyms};

/// The terms of the lists of skills in a text.
fn known_terms(text: &str) -> impl Iterator<Item = &str> {
    let spans = listed_terms(text).into_iter().filter(|span| span.kind == SpanKind::Knowledge);
    spans.map(|span| &text[span.start..span.end])
}

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
    /// The source as written, and as it is shown.
    text: String,
    words: Words,
    stems: HashSet<String>,
    /// The words of each line.
    lines: Vec<HashSet<String>>,
    numbers: HashSet<String>,
    /// The terms of the lists of skills, as it writes them: `C` next to a dash is no word.
    terms: HashSet<String>,
    /// The blocks of 256 characters that its alphabetic characters are of.
    alphabets: HashSet<u32>,
}

impl Facts {
    pub fn of(source: &str) -> Self {
        let text = format!("{source}\n{}", shown(source));
        let words = Words::of(&text);
        let stems = words.stems().map(str::to_owned).collect();
        let line = |line: &str| Words::of(line).stems().map(str::to_owned).collect();
        let lines = source.lines().map(line).collect();
        let numbers = tokens(&text).flat_map(|token| numbers(&token)).collect();
        let terms = known_terms(&text).map(str::to_owned).collect();
        let alphabets = text.chars().filter(|sign| sign.is_alphabetic()).map(alphabet).collect();
        Self { text, words, stems, lines, numbers, terms, alphabets }
    }

    /// The facts of a text that the source lacks, in order, each once. The text counts as written and as it is shown.
    pub fn new_in(&self, text: &str) -> Vec<NewFact> {
        let mut found: Vec<NewFact> = Vec::new();
        self.find_new(text, &mut found);
        let shown = shown(text);
        if shown != text {
            self.find_new(&shown, &mut found);
        }
        found
    }

    fn find_new(&self, text: &str, found: &mut Vec<NewFact>) {
        let mut add = |kind, text: &str| {
            if !found.iter().any(|fact| fact.text == text) {
                found.push(NewFact { kind, text: text.to_owned() });
            }
        };
        let mut before: Option<Token<'_>> = None;
        for token in tokens(text) {
            if token.text.contains(|sign: char| sign.is_numeric()) {
                for number in numbers(&token) {
                    if !self.numbers.contains(&number) {
                        add(FactKind::Number, &number);
                    }
                }
            } else if plain_words::is_number(token.text) {
                let counted = before.as_ref().is_some_and(|before| before.unit == Some("%"));
                let percent = counted && units::after(token.text) == Some("%");
                if !percent && !self.has_all(token.text) {
                    add(FactKind::Number, token.text);
                }
            } else if token.text.contains(char::is_uppercase) && !self.knows(&token)
                || !self.has_all(token.text) && plain_words::is_claim(token.text)
            {
                add(FactKind::Name, token.text);
            } else if self.is_foreign(token.text) {
                let counts = token.text.contains(plain_words::is_numeral);
                add(if counts { FactKind::Number } else { FactKind::Name }, token.text);
            }
            if let Some(before) = &before
                && let Some(name) = self.new_organisation(text, before, &token)
            {
                add(FactKind::Name, name);
            }
            before = Some(token);
        }
        for sign in plain_words::NUMBER_SIGNS {
            if text.contains(sign) && !self.text.contains(sign) {
                add(FactKind::Number, &sign.to_string());
            }
        }
        for address in text.split_whitespace().filter(|word| is_address(word)) {
            let address = address.trim_matches(|sign: char| !sign.is_alphanumeric());
            if !self.text.contains(address) {
                add(FactKind::Name, address);
            }
        }
        for term in known_terms(text) {
            let mut names = std::iter::once(term).chain(synonyms(term));
            let known = self.terms.contains(term)
                || names.any(|name| self.words.find(&Words::of(name)).is_some());
            if !known {
                add(FactKind::Skill, term);
            }
        }
    }

    /// The words of a text, but for small ones, that the source lacks.
    pub(super) fn new_words(&self, text: &str) -> Vec<NewFact> {
        let shown = shown(text);
        let new = tokens(&shown)
            .filter(|token| !plain_words::is_small(token.text) && !self.has_all(token.text));
        new.map(|token| NewFact { kind: FactKind::Skill, text: token.text.to_owned() }).collect()
    }

    /// Whether one line of the source has all words of a text, but for small ones.
    pub(super) fn is_in_one_line(&self, text: &str) -> bool {
        let words: Vec<String> = text
            .split_whitespace()
            .filter(|word| !plain_words::is_small(&word.to_lowercase()))
            .flat_map(|word| Words::of(word).stems().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        !words.is_empty()
            && self.lines.iter().any(|line| words.iter().all(|word| line.contains(word)))
    }

    /// Two names next to each other that are an organisation, but not next to each other in the source.
    fn new_organisation<'a>(
        &self,
        text: &'a str,
        left: &Token<'a>,
        right: &Token<'a>,
    ) -> Option<&'a str> {
        let capital = |token: &Token<'_>| token.text.starts_with(char::is_uppercase);
        let between = &text[left.start + left.text.len()..right.start];
        let organisation = |token: &Token<'_>| is_company(token.text) || is_institution(token.text);
        if between != " "
            || !capital(left)
            || !capital(right)
            || left.begins && plain_words::is_plain(left.text)
            || !(organisation(left) || organisation(right))
        {
            return None;
        }
        let name = &text[left.start..right.start + right.text.len()];
        let is_known = self.text.contains(name) || self.words.find(&Words::of(name)).is_some();
        (!is_known).then_some(name)
    }

    /// Whether a word is in a script whose names cannot be recognised, or that the source does not have, and not in the source.
    fn is_foreign(&self, word: &str) -> bool {
        let foreign = |sign: char| {
            let cased = sign.is_lowercase() || sign.is_uppercase();
            sign.is_alphabetic()
                && !is_latin(sign)
                && (!cased || !self.alphabets.contains(&alphabet(sign)))
        };
        word.contains(foreign) && !self.text.contains(word)
    }

    /// Whether a word with a capital is in the source, or is no name.
    fn knows(&self, token: &Token<'_>) -> bool {
        self.has_all(token.text)
            || token.begins
                && (plain_words::is_plain(token.text) || plain_words::denies(token.text))
            || plain_words::is_german_noun(token.text)
    }

    /// Whether the source has every part of a word.
    pub(super) fn has_all(&self, word: &str) -> bool {
        Words::of(word).stems().all(|stem| self.stems.contains(stem))
    }
}

/// A word, a number or a mixture of both.
struct Token<'a> {
    text: &'a str,
    /// Where it begins, in bytes.
    start: usize,
    /// Whether a sentence begins with it.
    begins: bool,
    /// Its unit, if it counts a percentage, money or time.
    unit: Option<&'static str>,
}

fn is_latin(sign: char) -> bool {
    matches!(sign, '\0'..='\u{2af}' | '\u{1e00}'..='\u{1eff}')
}

fn alphabet(sign: char) -> u32 {
    u32::from(sign) >> 8
}

/// Whether a word is a mail address or a link.
fn is_address(word: &str) -> bool {
    word.contains("://")
        || word.starts_with("www.")
        || word
            .split_once('@')
            .is_some_and(|(user, host)| user.ends_with(char::is_alphanumeric) && host.contains('.'))
}

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
        let unit = units::after(&text[start + token.len()..]).or_else(|| units::before(before));
        Some(Token { text: token, start, begins, unit })
    })
}

/// The numbers of a word in one form: lower case, without the separators of thousands, with their unit.
fn numbers(token: &Token<'_>) -> Vec<String> {
    if !token.text.contains(|sign: char| sign.is_numeric()) {
        return Vec::new();
    }
    let mut parts = split_number(token.text.trim_end_matches(['+', '#']));
    if let (Some(last), Some(unit)) = (parts.last_mut(), token.unit) {
        last.push_str(unit);
    }
    parts
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
