use std::collections::{HashMap, HashSet};

use super::LONGEST;
use crate::prose::{Language, Prose};

/// Stems by number, filled up with `NONE`.
type Key = [u32; LONGEST];

const NONE: u32 = u32::MAX;

/// Terms that follow one another without a function word or punctuation between them.
pub(super) struct Candidate {
    key: Key,
    pub(super) length: usize,
    /// The index of its first term, for each occurrence.
    pub(super) starts: Vec<usize>,
    /// How often it occurs only as a part of a longer phrase that is repeated.
    pub(super) within: usize,
    /// How often each of its terms occurs in the text.
    pub(super) counts: Vec<u32>,
}

impl Candidate {
    pub(super) fn stems(&self) -> &[u32] {
        &self.key[..self.length]
    }

    /// How often it occurs outside of longer phrases.
    pub(super) fn alone(&self) -> usize {
        self.starts.len() - self.within
    }
}

/// All candidate phrases.
pub(super) fn candidates(prose: &Prose<'_>, longest: usize) -> Vec<Candidate> {
    let (ids, counts) = numbered(prose);
    let mut found: HashMap<Key, Candidate> = HashMap::new();
    for start in 0..ids.len() {
        for length in 1..=longest.min(ids.len() - start) {
            if !goes_on(prose, start, length) {
                break;
            }
            if !may_end(prose, start) || !may_end(prose, start + length - 1) {
                continue;
            }
            let key = key(&ids[start..start + length]);
            let candidate = found.entry(key).or_insert_with(|| {
                let counts = ids[start..start + length].iter().map(|id| counts[*id as usize]);
                Candidate { key, length, starts: Vec::new(), within: 0, counts: counts.collect() }
            });
            candidate.starts.push(start);
        }
    }
    nest(&mut found, &ids);
    found.into_values().collect()
}

/// Each term's stem as a number, and the frequency of each stem.
fn numbered(prose: &Prose<'_>) -> (Vec<u32>, Vec<u32>) {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut counts = Vec::new();
    let ids = prose.terms.iter().map(|term| {
        let next = counts.len() as u32;
        let id = *numbers.entry(term.stem.as_str()).or_insert(next);
        if id == next {
            counts.push(0);
        }
        counts[id as usize] += 1;
        id
    });
    (ids.collect(), counts)
}

fn key(ids: &[u32]) -> Key {
    let mut key = [NONE; LONGEST];
    key[..ids.len()].copy_from_slice(ids);
    key
}

/// Whether the last of so many terms still belongs to the phrase.
fn goes_on(prose: &Prose<'_>, start: usize, length: usize) -> bool {
    let last = &prose.terms[start + length - 1];
    let joined = length == 1 || (!last.apart && last.sentence == prose.terms[start].sentence);
    joined && !last.stop
}

/// Whether a phrase may begin or end with a term: numbers and English adverbs may not.
fn may_end(prose: &Prose<'_>, index: usize) -> bool {
    let term = &prose.terms[index];
    let english = prose.language.map(Language::code) == Some("en");
    let adverb = english && term.folded.len() > 4 && term.folded.ends_with("ly");
    term.carries_meaning() && !adverb
}

/// Counts how often each phrase is only a part of a longer one that is repeated.
fn nest(found: &mut HashMap<Key, Candidate>, ids: &[u32]) {
    let mut parts: HashSet<(usize, usize)> = HashSet::new();
    for candidate in found.values().filter(|long| long.length > 1 && long.starts.len() > 1) {
        for start in &candidate.starts {
            for length in 1..candidate.length {
                parts.extend((0..=candidate.length - length).map(|at| (start + at, length)));
            }
        }
    }
    for (start, length) in parts {
        if let Some(part) = found.get_mut(&key(&ids[start..start + length])) {
            part.within += 1;
        }
    }
}
