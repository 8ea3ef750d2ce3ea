//! The emotion of a text by word lists: English, German, French, Spanish, and emoji in any language.
//!
//! The rules are those of VADER (Hutto and Gilbert 2014): a word counts by its valence, boosters before it strengthen or
//! weaken it, negations turn it, and the total is brought to the range from -1 to 1.

mod lexicon;
mod tokens;

use std::ops::Range;

use lexicon::Lexicon;
use tokens::{Token, tokens};

/// How much a booster adds to a word directly after it.
const BOOST: f64 = 0.293;

/// What a negation multiplies a word's valence with.
const NEGATED: f64 = -0.74;

/// A negation or booster counts for the words up to this distance.
const REACH: usize = 3;

/// Brings totals to the range from -1 to 1: VADER's constant.
const SPREAD: f64 = 15.0;

/// Beyond this many words, those with an emotion count less for the intensity.
const LONG: f64 = 25.0;

/// At most this many tokens are read.
const MOST_TOKENS: usize = 50_000;

/// The emotion of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Sentiment {
    /// From -1 (negative) to 1 (positive).
    pub valence: f64,
    /// How strong its words are, whether positive or negative: from 0 to 1.
    pub intensity: f64,
    /// The words and emoji with an emotion, in their order.
    pub words: Vec<EmotionWord>,
}

/// A word with an emotion.
#[derive(Debug, Clone, PartialEq)]
pub struct EmotionWord {
    /// Its bytes in the text.
    pub place: Range<usize>,
    /// From about -4 to 4, after negation.
    pub valence: f64,
}

/// Whether there is a list for a language.
pub fn knows(language: &str) -> bool {
    Lexicon::of(language).is_some()
}

/// The emotion of a text; `None` if there is no list for its language and it has no emoji of the list.
pub fn measure(text: &str, language: Option<&str>) -> Option<Sentiment> {
    let lexicon = language.and_then(Lexicon::of);
    let tokens: Vec<Token<'_>> = tokens(text).take(MOST_TOKENS).collect();
    let mut words = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let valence = match (token.emoji, lexicon) {
            (true, _) => lexicon::emoji(token.text),
            (false, Some(lexicon)) => weigh(lexicon, &tokens, index),
            (false, None) => None,
        };
        let Some(valence) = valence else { continue };
        words.push(EmotionWord { place: token.start..token.start + token.text.len(), valence });
    }
    if lexicon.is_none() && words.is_empty() {
        return None;
    }
    let total: f64 = words.iter().map(|word| word.valence).sum();
    // A few strong words are a small part of a long text.
    let part = LONG / (tokens.len() as f64).max(LONG);
    let strength: f64 = words.iter().map(|word| word.valence.abs()).sum::<f64>() * part.sqrt();
    let scale = |total: f64| total / (total * total + SPREAD).sqrt();
    Some(Sentiment { valence: scale(total), intensity: scale(strength), words })
}

/// The valence of a word among the others.
fn weigh(lexicon: &Lexicon, tokens: &[Token<'_>], index: usize) -> Option<f64> {
    let token = &tokens[index];
    let mut valence = lexicon.valence(&token.folded)?;
    let before = tokens[..index].iter().rev().take(REACH);
    let mut negated = false;
    for (distance, other) in before.enumerate() {
        if other.clause != token.clause {
            break;
        }
        let step = lexicon.boost(&other.folded) * BOOST * (1.0 - 0.05 * distance as f64);
        valence += step * valence.signum();
        negated |= lexicon.negates(&other.folded);
    }
    negated |= lexicon.negates_backwards() && is_negated_after(lexicon, tokens, index);
    // Capitals among words that have none shout.
    if token.shouted {
        valence += 0.733 * valence.signum();
    }
    Some(if negated { valence * NEGATED } else { valence })
}

/// German puts the negation after the verb: "das gefällt mir nicht".
fn is_negated_after(lexicon: &Lexicon, tokens: &[Token<'_>], index: usize) -> bool {
    let clause = tokens[index].clause;
    let same = |other: &&Token<'_>| other.clause == clause;
    let after = &tokens[index + 1..];
    let Some(place) =
        after.iter().take_while(same).take(REACH).position(|other| lexicon.negates(&other.folded))
    else {
        return false;
    };
    // A negation before another such word belongs to that one.
    let rest = after[place + 1..].iter().take_while(same).take(REACH);
    !rest.into_iter().any(|other| lexicon.valence(&other.folded).is_some())
}

#[cfg(test)]
mod tests;
