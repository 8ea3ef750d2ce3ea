//! Phrases that may be keywords: a head with the words before it, and the parts of such phrases.

use std::collections::HashMap;

use language::prose::Prose;

use crate::tags::{Role, Word, joins};

/// The most terms that one phrase may have.
pub const LONGEST: usize = 4;

/// Stems by number, filled up with `NONE`.
type Key = [u32; LONGEST];

const NONE: u32 = u32::MAX;

pub(crate) struct Candidate {
    key: Key,
    pub(crate) length: usize,
    /// The index of its first term, for each occurrence.
    pub(crate) starts: Vec<u32>,
    /// Occurrences as a whole phrase, not as a part of one.
    pub(crate) whole: usize,
    /// Occurrences at the beginning, and at the end, of a phrase.
    pub(crate) leading: usize,
    pub(crate) trailing: usize,
    /// Occurrences of the most frequent phrase that it is a part of.
    pub(crate) within: usize,
    /// How often each of its stems occurs in the text.
    pub(crate) counts: [u32; LONGEST],
}

impl Candidate {
    pub(crate) fn stems(&self) -> &[u32] {
        &self.key[..self.length]
    }

    pub(crate) fn first(&self) -> usize {
        self.starts[0] as usize
    }
}

/// The longest phrases of a text, each from, and up to, an index.
pub(crate) struct Phrases(Vec<(usize, usize)>);

impl Phrases {
    pub(crate) fn find(prose: &Prose<'_>, words: &[Word]) -> Self {
        let mut found = Vec::new();
        let mut at = 0;
        while at < words.len() {
            if matches!(words[at].role, Role::Outside | Role::Number) {
                at += 1;
                continue;
            }
            let mut end = at + 1;
            while end < words.len()
                && joins(prose, end)
                && words[end].role != Role::Outside
                && !(words[end].begins && words[end - 1].role == Role::Head)
            {
                end += 1;
            }
            let head = words[at..end].iter().rposition(|word| word.role == Role::Head);
            found.extend(head.map(|last| (at, at + last + 1)));
            at = end;
        }
        Self(found)
    }

    /// The mean number of words in a phrase, at most two: few phrases of a short text say little.
    pub(crate) fn mean_length(&self) -> f64 {
        let total: usize = self.0.iter().map(|(begin, end)| (end - begin).min(LONGEST)).sum();
        (total as f64 / self.0.len().max(1) as f64).min(2.0)
    }

    /// The phrases and their parts, in the order of their first occurrence.
    pub(crate) fn candidates(
        &self,
        prose: &Prose<'_>,
        words: &[Word],
        longest: usize,
    ) -> Vec<Candidate> {
        let (ids, counts) = numbered(prose);
        let mut places: HashMap<Key, usize> = HashMap::new();
        let mut found: Vec<Candidate> = Vec::new();
        for &(begin, end) in &self.0 {
            for start in begin..end {
                if words[start].role == Role::Number {
                    continue;
                }
                for stop in start + 1..=end.min(start + longest) {
                    if words[stop - 1].role != Role::Head {
                        continue;
                    }
                    let part = &ids[start..stop];
                    // `word word`.
                    if part.windows(2).any(|pair| pair[0] == pair[1]) {
                        break;
                    }
                    let key = key(part);
                    let at = *places.entry(key).or_insert_with(|| {
                        let mut of_stems = [0; LONGEST];
                        for (count, id) in of_stems.iter_mut().zip(part) {
                            *count = counts[*id as usize];
                        }
                        found.push(Candidate {
                            key,
                            length: part.len(),
                            starts: Vec::new(),
                            whole: 0,
                            leading: 0,
                            trailing: 0,
                            within: 0,
                            counts: of_stems,
                        });
                        found.len() - 1
                    });
                    let candidate = &mut found[at];
                    candidate.starts.push(start as u32);
                    candidate.leading += usize::from(start == begin);
                    candidate.trailing += usize::from(stop == end);
                    candidate.whole += usize::from(start == begin && stop == end);
                }
            }
        }
        nest(&mut found, &places);
        found
    }
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

/// Finds for each candidate the most frequent phrase that it is a part of.
fn nest(found: &mut [Candidate], places: &HashMap<Key, usize>) {
    for at in 0..found.len() {
        let (whole, length) = (found[at].key, found[at].length);
        let often = found[at].starts.len();
        if often == 1 && found[at].whole == 0 {
            continue;
        }
        for part in 1..length {
            for window in whole[..length].windows(part) {
                if let Some(place) = places.get(&key(window)) {
                    found[*place].within = found[*place].within.max(often);
                }
            }
        }
    }
}
