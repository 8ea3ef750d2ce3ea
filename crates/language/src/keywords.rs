//! Keyword extraction from a single text.
//!
//! A phrase is weighted by how often it occurs outside of longer phrases (the idea of the C-value), by the frequency of its
//! words in the text, by how early it occurs, and by capitals.

mod candidates;

use std::collections::HashMap;

use crate::prose::{Case, Prose, Term};
use candidates::{Candidate, candidates};

/// The most terms that one phrase may have.
pub const LONGEST: usize = 4;

/// The weight of an occurrence within a longer phrase.
const WITHIN: f64 = 0.3;

/// The weight of a name or an acronym, relative to a plain word.
const NAME: f64 = 1.3;

/// A phrase and the reasons for its rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyword {
    /// In its most frequent spelling.
    pub phrase: String,
    /// From 1 for the best of this text downwards.
    pub score: f64,
    /// The number of occurrences.
    pub occurrences: usize,
    /// The first sentence that has it, counted from 0.
    pub first_sentence: usize,
}

/// The best phrases of a text, best first, without redundant ones.
pub fn keywords(prose: &Prose<'_>, limit: usize, longest: usize) -> Vec<Keyword> {
    let mut weighed: Vec<(f64, Candidate)> = candidates(prose, longest.clamp(1, LONGEST))
        .into_iter()
        .map(|candidate| (weight(prose, &candidate), candidate))
        .collect();
    weighed.sort_by(|(a, one), (b, other)| {
        b.total_cmp(a).then(one.starts[0].cmp(&other.starts[0])).then(other.length.cmp(&one.length))
    });
    let best = weighed.first().map_or(1.0, |(best, _)| *best);
    let mut chosen: Vec<&(f64, Candidate)> = Vec::new();
    for entry in &weighed {
        if chosen.len() == limit {
            break;
        }
        if !chosen.iter().any(|(_, better)| is_redundant(better, &entry.1)) {
            chosen.push(entry);
        }
    }
    chosen.into_iter().map(|(weight, candidate)| keyword(prose, candidate, weight / best)).collect()
}

fn weight(prose: &Prose<'_>, candidate: &Candidate) -> f64 {
    let first = &prose.terms[candidate.starts[0]..][..candidate.length];
    let frequency = (candidate.alone() as f64 + WITHIN * candidate.within as f64).powf(0.7);
    let words = candidate.counts.iter().map(|count| f64::from(*count).ln_1p()).sum::<f64>()
        / candidate.length as f64;
    let sentences = prose.sentences.len() as f64;
    let early = 1.0 + 0.5 * (-(first[0].sentence as f64) / (3.0 + 0.1 * sentences)).exp();
    let names = first.iter().filter(|term| is_name(term)).count() as f64 / candidate.length as f64;
    (1.0 + candidate.length as f64).log2()
        * frequency
        * words
        * early
        * (1.0 + (NAME - 1.0) * names)
}

/// A capital at the beginning of a sentence does not make a name.
fn is_name(term: &Term<'_>) -> bool {
    match term.case {
        Case::Acronym => true,
        Case::Capital => !term.first,
        Case::Plain => false,
    }
}

/// Whether a weaker phrase is redundant next to a better one.
fn is_redundant(better: &Candidate, weaker: &Candidate) -> bool {
    let (one, other) = (better.stems(), weaker.stems());
    let shared = other.iter().filter(|stem| one.contains(stem)).count();
    let once = weaker.starts.len() == 1;
    if one.len() > other.len() && one.windows(other.len()).any(|part| part == other) {
        // A part that occurs often enough by itself is a phrase of its own.
        return weaker.alone() < (better.starts.len() / 2).max(2);
    }
    // Occurs once and mostly shares the words of the better phrase, or has the same words in another order.
    (once && shared * 2 >= other.len()) || (one.len() == other.len() && shared == other.len())
}

fn keyword(prose: &Prose<'_>, candidate: &Candidate, score: f64) -> Keyword {
    let mut spellings: HashMap<String, usize> = HashMap::new();
    for start in &candidate.starts {
        *spellings.entry(written(&prose.terms[*start..][..candidate.length])).or_default() += 1;
    }
    let spelling = spellings.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
    Keyword {
        phrase: spelling.map(|(phrase, _)| phrase).unwrap_or_default(),
        score,
        occurrences: candidate.starts.len(),
        first_sentence: prose.terms[candidate.starts[0]].sentence,
    }
}

/// A phrase as written in the text, with the first word of a sentence in lower case.
fn written(phrase: &[Term<'_>]) -> String {
    let mut text = String::new();
    for (index, term) in phrase.iter().enumerate() {
        if index > 0 && !(term.is_dense() && phrase[index - 1].is_dense()) {
            text.push(' ');
        }
        if term.first && term.case == Case::Capital {
            text.push_str(&term.text.to_lowercase());
        } else {
            text.push_str(term.text);
        }
    }
    text
}

#[cfg(test)]
mod tests;
