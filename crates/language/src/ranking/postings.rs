//! The texts that contain a term, with BM25 weights.

use super::Bm25;

/// Maps terms to texts with precomputed BM25 weights, so that a search only adds.
#[derive(Debug)]
pub(crate) struct Postings {
    /// Where the entries of each term start; one more than there are terms.
    starts: Vec<u32>,
    entries: Vec<Entry>,
    rarity: Vec<f32>,
}

/// A text that holds a term.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) text: u32,
    pub(crate) weight: f32,
}

impl Postings {
    /// `texts` lists for every text its different terms and how often, for its length, it uses each.
    pub(crate) fn build(texts: &[Vec<(u32, f32)>], terms: usize) -> Self {
        let mut starts = vec![0u32; terms + 1];
        for &(term, _) in texts.iter().flatten() {
            starts[term as usize + 1] += 1;
        }
        let bm25 = Bm25::default();
        let count = texts.len() as u64;
        let rarity: Vec<f32> =
            starts[1..].iter().map(|&df| bm25.idf(count, u64::from(df)) as f32).collect();
        for term in 0..terms {
            starts[term + 1] += starts[term];
        }
        let mut next = starts.clone();
        let mut entries = vec![Entry::default(); starts[terms] as usize];
        for (text, held) in (0u32..).zip(texts) {
            for &(term, uses) in held {
                let term = term as usize;
                let weight = rarity[term] * bm25.saturate(f64::from(uses)) as f32;
                entries[next[term] as usize] = Entry { text, weight };
                next[term] += 1;
            }
        }
        Self { starts, entries, rarity }
    }

    /// The texts that hold a term, in their order.
    pub(crate) fn of(&self, term: u32) -> &[Entry] {
        let term = term as usize;
        &self.entries[self.starts[term] as usize..self.starts[term + 1] as usize]
    }

    /// How rare a term is: its inverse document frequency.
    pub(crate) fn rarity(&self, term: u32) -> f32 {
        self.rarity[term as usize]
    }
}
