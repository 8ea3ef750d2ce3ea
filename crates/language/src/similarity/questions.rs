//! Whether two questions are one.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::order::is_swapped;
use super::reading::{Kind, Reading, Token};
use crate::prose;
use crate::stems::language_of;
use crate::words::fold;

/// The most bytes of a text that are read.
const MAX_BYTES: usize = 4_000;

/// The most that texts reach of which each says something that the other does not.
const DIFFERENT: f64 = 0.8;

/// Words that ask for the same, one line each.
const EQUIVALENTS: [&[&str]; 10] = [
    &["affect", "effect", "impact", "influence", "consequence"],
    &["cause", "reason", "driver"],
    &["method", "approach", "technique"],
    &["begin", "start", "origin", "originate"],
    &["benefit", "advantage"],
    &["drawback", "disadvantage", "downside"],
    &["measure", "quantify"],
    &["reduce", "decrease", "mitigate", "mitigation", "lower"],
    &["definition", "define", "meaning"],
    &["city", "town"],
];

/// How similar two short texts such as questions are, from 0 to 1; from 0.85 on they ask the same.
///
/// It compares content words by stem, and takes away for other numbers, names and negations, for opposites, and for
/// words in the reverse order.
pub fn similarity(a: &str, b: &str) -> f64 {
    let (a, b) = (clip(a), clip(b));
    let language = language_of(&format!("{} {}", a.min(b), a.max(b)));
    let (first, second) = (Reading::of(a, language), Reading::of(b, language));
    let (own, other) = (Contents::of(&first), Contents::of(&second));
    let weight = own.weight + other.weight;
    if weight == 0.0 {
        let (a, b) = (fold(a.trim()), fold(b.trim()));
        return if a == b && !a.is_empty() { 1.0 } else { 0.0 };
    }
    let (in_other, in_own) = (own.shared_with(&other), other.shared_with(&own));
    let dice = (in_other.weight + in_own.weight) / weight;
    let mut similarity = dice / (2.0 - dice);
    if in_other.lacks_word && in_own.lacks_word || in_other.lacks_fact || in_own.lacks_fact {
        similarity = similarity.min(DIFFERENT);
    }
    if asked(&first) != asked(&second) {
        similarity *= 0.8;
    }
    if first.negates(&second) {
        similarity *= 0.5;
    }
    if first.opposes(&second) {
        similarity *= 0.6;
    }
    if is_swapped(&first, &second) || is_swapped(&second, &first) {
        similarity *= 0.7;
    }
    similarity.clamp(0.0, 1.0)
}

fn clip(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_BYTES)]
}

/// What a question asks for, where its question word says so.
fn asked(reading: &Reading) -> Option<&str> {
    let keys = || reading.tokens.iter().map(|token| token.key.as_str());
    let asks = |key: &&str| matches!(*key, "who" | "whose" | "where" | "when" | "why");
    let counts = || {
        keys()
            .zip(keys().skip(1))
            .any(|(how, many)| how == "how" && matches!(many, "many" | "much"))
    };
    keys()
        .take(6)
        .find(asks)
        .map(|key| if key.starts_with("who") { "who" } else { key })
        .or_else(|| counts().then_some("how many"))
}

/// The different content words of a text with their weights.
struct Contents<'a> {
    tokens: Vec<(&'a Token, &'a str, f64)>,
    keys: HashSet<&'a str>,
    weight: f64,
}

/// What a text shares with another.
struct Shared {
    weight: f64,
    /// Whether the other text lacks a content word.
    lacks_word: bool,
    /// Whether the other text lacks a number or a name.
    lacks_fact: bool,
}

impl<'a> Contents<'a> {
    fn of(reading: &'a Reading) -> Self {
        let mut contents = Self { tokens: Vec::new(), keys: HashSet::new(), weight: 0.0 };
        for token in reading.content() {
            let key = meaning(token);
            if !contents.keys.insert(key) {
                continue;
            }
            contents.keys.insert(&token.wide);
            let weight = match token.kind {
                Kind::Number => 2.0,
                Kind::Name => 1.5,
                Kind::Light => 0.25,
                _ => 1.0,
            };
            contents.weight += weight;
            contents.tokens.push((token, key, weight));
        }
        contents
    }

    fn shared_with(&self, other: &Self) -> Shared {
        let mut shared = Shared { weight: 0.0, lacks_word: false, lacks_fact: false };
        for (token, key, weight) in &self.tokens {
            if other.keys.contains(key) || other.keys.contains(token.wide.as_str()) {
                shared.weight += weight;
                continue;
            }
            shared.lacks_word |= token.kind != Kind::Light;
            shared.lacks_fact |= matches!(token.kind, Kind::Number | Kind::Name);
        }
        shared
    }
}

/// The key that words of one meaning share.
fn meaning(token: &Token) -> &str {
    MEANINGS.get(&token.key).copied().unwrap_or(&token.key)
}

static MEANINGS: LazyLock<HashMap<String, &str>> = LazyLock::new(|| {
    let lines = EQUIVALENTS.iter();
    lines.flat_map(|line| line.iter().map(|word| (prose::stem(word), line[0]))).collect()
});
