//! Ranking by words and vectors, and fusion of ranked lists: the formulas that every search here uses.

mod fusion;
pub(crate) mod postings;
mod relevance;

pub use fusion::{Fused, fuse, fuse_merging};
pub use relevance::{Listed, relevance};

/// BM25 with its two parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25 {
    /// How fast repeated uses of a term stop counting.
    pub k1: f32,
    /// How much the length of a text reduces the weight of its terms, from 0 to 1.
    pub b: f32,
}

impl Default for Bm25 {
    fn default() -> Self {
        Self { k1: 1.2, b: 0.75 }
    }
}

impl Bm25 {
    /// How rare a term is that `df` of so many documents hold. Never negative.
    pub fn idf(&self, documents: u64, df: u64) -> f64 {
        let held = df.min(documents) as f64;
        (1.0 + (documents as f64 - held + 0.5) / (held + 0.5)).ln()
    }

    /// The weight, before [`Self::idf`], of a term that a text of this length uses `tf` times.
    pub fn weight(&self, tf: f64, length: f64, average: f64) -> f64 {
        self.saturate(tf / self.length_norm(length, average))
    }

    /// By how much the uses of a term in a text of this length are divided; 1 for a text of average length.
    pub fn length_norm(&self, length: f64, average: f64) -> f64 {
        let b = f64::from(self.b);
        let share = if average > 0.0 { length / average } else { 1.0 };
        (1.0 - b + b * share).max(f64::MIN_POSITIVE)
    }

    /// The weight of uses that are already divided by [`Self::length_norm`].
    pub fn saturate(&self, uses: f64) -> f64 {
        let k1 = f64::from(self.k1);
        if uses > 0.0 { uses * (k1 + 1.0) / (uses + k1) } else { 0.0 }
    }
}

/// The cosine of the angle between two vectors, from -1 to 1; 0 if one of them is zero or they differ in dimension.
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    if a.len() != b.len() {
        return 0.0;
    }
    let length = (product(a, a) * product(b, b)).sqrt();
    if length.is_normal() { (product(a, b) / length).clamp(-1.0, 1.0) as f32 } else { 0.0 }
}

/// Eight lanes, so that the sum has one order on every machine and the compiler can vectorize it.
fn product(a: &[f32], b: &[f32]) -> f64 {
    let (a_blocks, a_rest) = a.as_chunks::<8>();
    let (b_blocks, b_rest) = b.as_chunks::<8>();
    let mut lanes = [0.0f32; 8];
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for i in 0..8 {
            lanes[i] += a[i] * b[i];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    f64::from(lanes.iter().sum::<f32>() + rest)
}

#[cfg(test)]
mod tests;
