//! How far a passage supports a claim.

use std::collections::{HashMap, HashSet};

use super::order::is_swapped;
use super::polarity::Direction;
use super::reading::{Kind, Reading, Token};
use crate::prose::{Language, sentences};
use crate::words::fold;

const MAX_CLAIM_BYTES: usize = 4_000;
const MAX_PASSAGE_BYTES: usize = 256 << 10;
/// The most content words of a claim that count, and the most sentences of a passage.
const MAX_TERMS: usize = 64;
const MAX_SENTENCES: usize = 4_000;

/// The weight of a word that only a sentence next to the supporting one has.
const NEAR: f64 = 0.6;
/// The weight of a word that is elsewhere in the passage.
const ELSEWHERE: f64 = 0.35;

/// Which sentences are compared: those that share nearly as much with the claim as the best one.
const SIMILAR: f64 = 0.9;

/// The share of a claim's content words that one sentence of the passage has, from 0 to 1.
///
/// Words are compared by stem. Numbers and names count more than once; what the sentences around it have counts less. A
/// claim whose number the passage lacks, that negates the sentence, says its opposite or turns its order round stays
/// below 0.5, or far below what its words alone would reach.
pub fn support(claim: &str, passage: &str) -> f64 {
    let claim_text = &claim[..claim.floor_char_boundary(MAX_CLAIM_BYTES)];
    let passage = &passage[..passage.floor_char_boundary(MAX_PASSAGE_BYTES)];
    let language = Language::detect(passage).or_else(|| Language::detect(claim_text));
    let language = language.unwrap_or(Language::ENGLISH);
    let claim = Reading::of(claim_text, language);
    let terms = terms(&claim);
    if terms.is_empty() {
        let (claim, passage) = (fold(claim_text.trim()), fold(passage));
        return if !claim.is_empty() && passage.contains(&claim) { 1.0 } else { 0.0 };
    }
    let sentences: Vec<Words> = sentences(passage)
        .take(MAX_SENTENCES)
        .map(|sentence| Words::of(Reading::of(sentence.text, language)))
        .collect();
    let credits: Vec<Vec<f64>> = sentences
        .iter()
        .map(|words| terms.iter().map(|term| words.credit(term.token)).collect())
        .collect();
    let anywhere: Vec<f64> = (0..terms.len())
        .map(|at| credits.iter().map(|credits| credits[at]).fold(0.0, f64::max))
        .collect();
    let lacking = missing_facts(&terms, &anywhere);
    let total: f64 = terms.iter().map(|term| term.weight).sum();
    let own: Vec<f64> = credits
        .iter()
        .map(|credits| terms.iter().zip(credits).map(|(term, credit)| term.weight * credit).sum())
        .collect();
    let most = own.iter().copied().fold(0.0, f64::max);
    // Only sentences about the same as the claim: others would hide what the best one denies.
    let best = (0..sentences.len())
        .filter(|&at| own[at] > 0.0 && own[at] >= SIMILAR * most)
        .map(|at| {
            let around = [at.checked_sub(1), Some(at + 1)];
            let near = |term: usize| {
                around.iter().flatten().filter_map(|at| credits.get(*at)).map(move |one| one[term])
            };
            let credit = |term: usize| {
                let near = NEAR * near(term).fold(0.0, f64::max);
                credits[at][term].max(near).max(ELSEWHERE * anywhere[term])
            };
            let shared: f64 =
                terms.iter().enumerate().map(|(at, term)| term.weight * credit(at)).sum();
            shared / total * agreement(&claim, &terms, &sentences[at].reading, &credits[at])
        })
        .fold(0.0, f64::max);
    (best * lacking).clamp(0.0, 1.0)
}

/// A content word of the claim.
struct Term<'a> {
    token: &'a Token,
    weight: f64,
}

fn terms(claim: &Reading) -> Vec<Term<'_>> {
    let mut known = HashSet::new();
    let mut terms = Vec::new();
    let mut words = 0;
    for token in claim.content() {
        if !known.insert(token.key.as_str()) {
            continue;
        }
        let weight = match token.kind {
            Kind::Number => 3.0,
            Kind::Name => 2.0,
            Kind::Light => 0.4,
            // A claim begins with what it is about.
            _ if words < 2 => 1.5,
            _ => 1.0,
        };
        words += usize::from(token.kind == Kind::Word);
        terms.push(Term { token, weight });
        if terms.len() == MAX_TERMS {
            break;
        }
    }
    terms
}

/// By how much a claim is reduced for numbers and names that the passage does not have.
fn missing_facts(terms: &[Term<'_>], anywhere: &[f64]) -> f64 {
    let lacks = |kind: Kind| {
        terms.iter().zip(anywhere).any(|(term, credit)| term.token.kind == kind && *credit == 0.0)
    };
    let numbers = if lacks(Kind::Number) { 0.45 } else { 1.0 };
    let names = if lacks(Kind::Name) { 0.6 } else { 1.0 };
    numbers * names
}

/// By how much a claim is reduced for what it says otherwise than a sentence.
fn agreement(claim: &Reading, terms: &[Term<'_>], sentence: &Reading, credits: &[f64]) -> f64 {
    let mut share = 1.0;
    let lacks = |kind: Kind| {
        terms.iter().zip(credits).any(|(term, credit)| term.token.kind == kind && *credit == 0.0)
    };
    if lacks(Kind::Number) {
        share *= 0.7;
    }
    if claim.negates(sentence) {
        share *= 0.45;
    }
    if claim.opposes(sentence) {
        share *= 0.5;
    }
    if is_swapped(claim, sentence) {
        share *= 0.55;
    }
    if !names_subject(terms, sentence, credits) {
        share *= 0.75;
    }
    share
}

/// Whether a sentence has what the claim is about, or a pronoun for it.
fn names_subject(terms: &[Term<'_>], sentence: &Reading, credits: &[f64]) -> bool {
    let subject = terms
        .iter()
        .zip(credits)
        .find(|(term, _)| matches!(term.token.kind, Kind::Word | Kind::Name));
    let pronoun = || {
        sentence.tokens.first().is_some_and(|token| {
            let key = token.key.as_str();
            matches!(
                key,
                "it" | "its" | "they" | "their" | "this" | "these" | "those" | "he" | "she"
            )
        })
    };
    subject.is_none_or(|(_, credit)| *credit > 0.0) || pronoun()
}

/// The words of a sentence, to be looked up.
struct Words {
    reading: Reading,
    keys: HashSet<String>,
    wide: HashSet<String>,
    directions: HashSet<Direction>,
    /// Longer words by their first characters.
    beginnings: HashMap<String, Vec<String>>,
}

/// The characters by which forms of a word are found that no stem unites: `economy`, `economic`.
const BEGINNING: usize = 5;
/// The most words of one beginning that are compared.
const MAX_FORMS: usize = 8;

impl Words {
    fn of(reading: Reading) -> Self {
        let mut words = Self {
            keys: HashSet::new(),
            wide: HashSet::new(),
            directions: HashSet::new(),
            beginnings: HashMap::new(),
            reading: Reading::default(),
        };
        for token in &reading.tokens {
            words.directions.extend(token.direction);
            if !token.is_content() {
                continue;
            }
            words.keys.insert(token.key.clone());
            words.wide.insert(token.wide.clone());
            if let Some(beginning) = token.key.get(..BEGINNING) {
                let forms = words.beginnings.entry(beginning.to_owned()).or_default();
                if forms.len() < MAX_FORMS {
                    forms.push(token.key.clone());
                }
            }
        }
        words.reading = reading;
        words
    }

    /// How far the sentence has a word, from 0 to 1.
    fn credit(&self, token: &Token) -> f64 {
        if self.keys.contains(&token.key) {
            return 1.0;
        }
        if token.kind == Kind::Number {
            return 0.0;
        }
        if self.wide.contains(&token.wide) {
            return 0.9;
        }
        if token.kind == Kind::Name {
            return 0.0;
        }
        if token.direction.is_some_and(|direction| self.directions.contains(&direction)) {
            return 0.8;
        }
        let forms = token.key.get(..BEGINNING).and_then(|start| self.beginnings.get(start));
        let alike = |form: &String| {
            let shared = form.bytes().zip(token.key.bytes()).take_while(|(a, b)| a == b).count();
            shared * 4 >= form.len().max(token.key.len()) * 3
        };
        if forms.is_some_and(|forms| forms.iter().any(alike)) { 0.7 } else { 0.0 }
    }
}
