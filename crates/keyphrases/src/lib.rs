//! Key phrases of a single text, in any language.
//!
//! Candidates are heads with the words before them: by part of speech in English, by capitals in German, and between
//! function words otherwise. What speaks for each is weighed together: how often it occurs by itself, how early, its
//! capitals, how rare its words are in the language, and how long phrases are in this text.

mod candidates;
mod features;
mod lexicon;
mod lines;
mod spelling;
mod tags;

use std::collections::HashSet;

use language::prose::Prose;

use candidates::{Candidate, Phrases};
use features::Text;
use spelling::Capitals;

pub use candidates::LONGEST;
pub use lines::part_lines;

/// A phrase and the reasons for its rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyphrase {
    /// In its most frequent spelling.
    pub phrase: String,
    /// From 1 for the best of this text downwards: the odds, relative to the best, that a reader would choose it.
    pub score: f64,
    /// The number of occurrences.
    pub occurrences: usize,
    /// The first sentence that has it, counted from 0.
    pub first_sentence: usize,
}

/// The best phrases of a text, best first, without redundant ones.
pub fn keyphrases(prose: &Prose<'_>, limit: usize, longest: usize) -> Vec<Keyphrase> {
    let words = tags::words(prose);
    let separates_verbs = tags::separates_verbs(prose);
    // Longer ones would be clauses.
    let longest = longest.clamp(1, if separates_verbs { LONGEST } else { LONGEST - 1 });
    let phrases = Phrases::find(prose, &words);
    let text = Text { prose, words: &words, density: phrases.mean_length() };
    let mut candidates = phrases.candidates(prose, &words, longest);
    if !separates_verbs {
        drop_clauses(&mut candidates);
    }
    let mut weighed: Vec<(f64, Candidate)> =
        candidates.into_iter().map(|candidate| (text.weigh(&candidate), candidate)).collect();
    weighed.sort_by(|(a, one), (b, other)| {
        b.total_cmp(a).then(one.first().cmp(&other.first())).then(other.length.cmp(&one.length))
    });
    let best = weighed.first().map_or(0.0, |(best, _)| *best);
    let capitals = Capitals::of(prose, &words);
    let mut chosen: Vec<&Candidate> = Vec::new();
    let mut spelled = HashSet::new();
    let mut found = Vec::new();
    for (weight, candidate) in &weighed {
        if found.len() == limit {
            break;
        }
        let overlaps = |better: &Candidate| !separates_verbs && overlaps_once(better, candidate);
        if chosen.iter().any(|better| is_redundant(better, candidate) || overlaps(better)) {
            continue;
        }
        let phrase = capitals.spell(prose, &words, candidate);
        // `e-mail` and `email`.
        if spelled.insert(language::words::fold(&phrase).replace([' ', '-', '\u{2010}'], "")) {
            found.push(Keyphrase {
                phrase,
                score: (weight - best).exp(),
                occurrences: candidate.starts.len(),
                first_sentence: prose.terms[candidate.first()].sentence,
            });
            chosen.push(candidate);
        }
    }
    found
}

/// Whether a weaker phrase is redundant next to a better one: a part that does not occur by itself, or the same words in
/// another order.
fn is_redundant(better: &Candidate, weaker: &Candidate) -> bool {
    let (one, other) = (better.stems(), weaker.stems());
    if one.len() > other.len() {
        return weaker.starts.len() <= better.starts.len()
            && one.windows(other.len()).any(|part| part == other);
    }
    one.len() == other.len() && other.iter().all(|stem| one.contains(stem))
}

/// Drops what occurs once and has a repeated phrase in it: `artificial intelligence changes`.
fn drop_clauses(candidates: &mut Vec<Candidate>) {
    let repeated: HashSet<Vec<u32>> = candidates
        .iter()
        .filter(|candidate| candidate.length > 1 && candidate.starts.len() > 1)
        .map(|candidate| candidate.stems().to_vec())
        .collect();
    let has_repeated = |stems: &[u32]| {
        (2..stems.len()).any(|part| stems.windows(part).any(|part| repeated.contains(part)))
    };
    candidates.retain(|candidate| candidate.starts.len() > 1 || !has_repeated(candidate.stems()));
}

/// Whether a phrase that occurs once mostly has the words of a better one: both are parts of one clause.
fn overlaps_once(better: &Candidate, weaker: &Candidate) -> bool {
    let shared = weaker.stems().iter().filter(|stem| better.stems().contains(stem)).count();
    weaker.starts.len() == 1 && weaker.length > 1 && 2 * shared >= weaker.length
}

#[cfg(test)]
mod tests;
