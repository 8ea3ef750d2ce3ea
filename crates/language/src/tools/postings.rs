//! The tools, or other texts, that contain a term, with BM25 weights.

/// BM25's k1: how fast repeated uses of a term stop counting.
const SATURATION: f32 = 1.2;

/// Maps terms to tools with precomputed BM25 weights, so that a search only adds.
#[derive(Debug)]
pub(crate) struct Postings {
    /// Where the entries of each term start; one more than there are terms.
    starts: Vec<u32>,
    entries: Vec<Entry>,
    rarity: Vec<f32>,
}

/// A tool that holds a term.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) tool: u32,
    pub(crate) weight: f32,
}

impl Postings {
    /// `tools` lists for every tool its different terms and how often, for its length, it uses each.
    pub(crate) fn build(tools: &[Vec<(u32, f32)>], terms: usize) -> Self {
        let mut starts = vec![0u32; terms + 1];
        for &(term, _) in tools.iter().flatten() {
            starts[term as usize + 1] += 1;
        }
        let count = tools.len() as f32;
        let rarity: Vec<f32> = starts[1..]
            .iter()
            .map(|&holders| (1.0 + (count - holders as f32 + 0.5) / (holders as f32 + 0.5)).ln())
            .collect();
        for term in 0..terms {
            starts[term + 1] += starts[term];
        }
        let mut next = starts.clone();
        let mut entries = vec![Entry::default(); starts[terms] as usize];
        for (tool, held) in (0u32..).zip(tools) {
            for &(term, uses) in held {
                let term = term as usize;
                let weight = rarity[term] * uses * (SATURATION + 1.0) / (uses + SATURATION);
                entries[next[term] as usize] = Entry { tool, weight };
                next[term] += 1;
            }
        }
        Self { starts, entries, rarity }
    }

    /// The tools that hold a term, in their order.
    pub(crate) fn of(&self, term: u32) -> &[Entry] {
        let term = term as usize;
        &self.entries[self.starts[term] as usize..self.starts[term + 1] as usize]
    }

    /// How rare a term is: its inverse document frequency.
    pub(crate) fn rarity(&self, term: u32) -> f32 {
        self.rarity[term as usize]
    }
}
