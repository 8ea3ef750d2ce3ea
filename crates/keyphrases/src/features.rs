//! What speaks for a candidate.

use language::prose::{Case, Prose};

use crate::candidates::Candidate;
use crate::tags::{Role, Word};

/// The text that the candidates are from.
pub(crate) struct Text<'a> {
    pub(crate) prose: &'a Prose<'a>,
    pub(crate) words: &'a [Word],
    /// The mean number of words in a phrase: a text that names things with long phrases has long keywords.
    pub(crate) density: f64,
}

impl Text<'_> {
    /// The log-odds that a reader would choose the candidate, up to a constant of the text. The weights were fitted by
    /// logistic regression on phrases that people chose, and rounded.
    pub(crate) fn weigh(&self, candidate: &Candidate) -> f64 {
        let (first, length) = (candidate.first(), candidate.length);
        let words = &self.words[first..first + length];
        let terms = &self.prose.terms[first..first + length];
        let often = candidate.starts.len() as f64;
        let size = self.prose.terms.len() as f64;
        let mean = |sum: f64| sum / length as f64;
        let flag = |fact: bool, weight: f64| if fact { weight } else { 0.0 };
        let rarity = words.iter().map(|word| word.rarity);

        let frequency = 1.0 * (candidate.whole as f64).ln_1p()
            + 0.55 * candidate.trailing as f64 / often
            + 0.55 * candidate.leading as f64 / often
            + 0.1
                * mean(candidate.counts[..length].iter().map(|count| f64::from(*count).ln()).sum())
            + 0.4 * often.ln() * (size / 100.0).ln().max(0.0);
        // A part that occurs only within one longer phrase says nothing more.
        let parts = match candidate.within {
            0 => -0.6,
            within => {
                0.3 * (within as f64 / often).ln() + flag(within == candidate.starts.len(), -0.8)
            }
        };
        let position = -0.4 * (first as f64).ln_1p() + 0.55 * first as f64 / size;
        let acronyms = terms.iter().filter(|term| term.case == Case::Acronym).count() as f64;
        let spelling = 0.65 * mean(self.names(candidate) as f64)
            + 0.5 * mean(acronyms)
            + flag(terms.iter().any(|term| term.text.contains(char::is_numeric)), -0.65);
        let shape = match length {
            1 => {
                0.55 - 1.0 * self.density
                    + 0.3 * words[0].rarity
                    + flag(terms[0].folded.chars().nth(3).is_none() && !terms[0].is_dense(), -0.7)
            }
            2 => 0.0,
            3 => -0.75,
            _ => -2.1,
        };
        frequency
            + parts
            + position
            + spelling
            + shape
            + 0.5 * length as f64 * self.density
            + 0.1 * mean(rarity.sum())
            + flag(words[0].role == Role::Modifier, 0.35)
    }

    /// How many of its words are written as names wherever it occurs.
    fn names(&self, candidate: &Candidate) -> usize {
        let is_name =
            |at: &usize| candidate.starts.iter().all(|start| self.words[*start as usize + at].name);
        (0..candidate.length).filter(is_name).count()
    }
}
