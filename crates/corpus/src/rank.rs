//! The order of a search's candidates: the same on both engines.

use std::collections::HashMap;

use language::ranking::Bm25;

/// The shares of words and vectors in a hybrid score; each part counts relative to the best candidate's.
pub const WORDS_WEIGHT: f64 = 0.6;
pub const VECTORS_WEIGHT: f64 = 0.4;

/// The words of a query, and how common they are in the collections that are searched.
#[derive(Clone, Debug, Default)]
pub(super) struct QueryWords {
    /// Each with its weight for a rare or common word, sorted.
    terms: Vec<(String, f64)>,
    /// The average length of a chunk.
    average: f64,
}

/// The figures of all collections that are searched.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) chunks: u64,
    pub(super) words: u64,
}

/// How well a candidate fits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Fit {
    /// BM25 as a share of the most that the query can reach.
    pub(super) words: Option<f64>,
    /// The cosine.
    pub(super) vectors: Option<f64>,
}

impl QueryWords {
    /// The terms that occur, with the number of chunks that have each.
    pub(super) fn new(totals: Totals, counts: &HashMap<String, u64>) -> Self {
        let formula = Bm25::default();
        let mut terms: Vec<_> = counts
            .iter()
            .map(|(term, df)| (term.clone(), formula.idf(totals.chunks, *df)))
            .collect();
        terms.sort_by(|a, b| a.0.cmp(&b.0));
        let average = totals.words as f64 / totals.chunks.max(1) as f64;
        Self { terms, average }
    }

    /// The share of a chunk with these terms.
    pub(super) fn fit(&self, terms: &str, length: u64) -> f64 {
        let formula = Bm25::default();
        let mut uses = vec![0_u32; self.terms.len()];
        for term in terms.split(' ') {
            if let Ok(at) = self.terms.binary_search_by(|(known, _)| known.as_str().cmp(term)) {
                uses[at] += 1;
            }
        }
        let mut sum = 0.0;
        let mut most = 0.0;
        for ((_, idf), uses) in self.terms.iter().zip(uses) {
            sum += idf * formula.weight(f64::from(uses), length as f64, self.average);
            most += idf * (f64::from(formula.k1) + 1.0);
        }
        if most > 0.0 { sum / most } else { 0.0 }
    }

    /// The terms with their weights in thousandths, the rarest first, for an engine that looks for candidates.
    pub(super) fn for_engine(&self, counts: &HashMap<String, u64>) -> Vec<(String, u64)> {
        let mut terms: Vec<_> = self
            .terms
            .iter()
            .filter(|(term, _)| counts.contains_key(term))
            .map(|(term, idf)| (term.clone(), (idf * 1_000.0) as u64))
            .collect();
        terms.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        terms
    }
}

/// The scores of candidates: a part that was not searched counts nothing.
pub(super) fn scores(fits: &[Fit]) -> Vec<f64> {
    let best = |part: fn(&Fit) -> Option<f64>| fits.iter().filter_map(part).fold(0.0, f64::max);
    let (best_words, best_vectors) = (best(|fit| fit.words), best(|fit| fit.vectors));
    let share = |part: f64, best: f64| if best > 0.0 { part.max(0.0) / best } else { 0.0 };
    fits.iter()
        .map(|fit| match (fit.words, fit.vectors) {
            (Some(words), Some(vectors)) => rounded(
                WORDS_WEIGHT * share(words, best_words)
                    + VECTORS_WEIGHT * share(vectors, best_vectors),
            ),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => 0.0,
        })
        .collect()
}

/// To six digits, so that equal fits are equal on every machine.
pub(super) fn rounded(score: f64) -> f64 {
    (score * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(counts: &[(&str, u64)], totals: Totals) -> QueryWords {
        QueryWords::new(
            totals,
            &counts.iter().map(|(term, df)| ((*term).to_owned(), *df)).collect(),
        )
    }

    #[test]
    fn rare_words_and_short_chunks_count_more() {
        let query = words(&[("heat", 50), ("albedo", 2)], Totals { chunks: 100, words: 1_000 });
        let fit = |terms: &str, length| query.fit(terms, length);
        assert!(fit("albedo x", 10) > fit("heat x", 10));
        assert!(fit("albedo heat", 10) > fit("albedo x", 10));
        assert!(fit("heat x", 5) > fit("heat x", 20));
        assert!(fit("heat heat", 10) > fit("heat x", 10));
        assert_eq!(fit("roof", 10), 0.0);
        assert!(fit("heat ".repeat(500).as_str(), 1) <= 1.0);
    }

    #[test]
    fn a_hybrid_score_is_the_published_mean_of_both_parts() {
        let fit = |words, vectors| Fit { words: Some(words), vectors: Some(vectors) };
        let scores = scores(&[fit(0.5, 0.4), fit(0.25, 0.8), fit(0.0, -0.5)]);
        assert_eq!(scores, [0.8, 0.7, 0.0]);
        assert_eq!(super::scores(&[Fit { words: Some(0.3), vectors: None }]), [0.3]);
        assert_eq!(super::scores(&[]), [0.0; 0]);
    }

    proptest! {
        #[test]
        fn shares_stay_between_nothing_and_everything(
            text in "[abcd ]{0,60}", df in 0_u64..20, chunks in 1_u64..20, total in 0_u64..500,
        ) {
            let query = words(&[("a", df), ("b", 1)], Totals { chunks, words: total });
            let length = text.split(' ').filter(|term| !term.is_empty()).count() as u64;
            let share = query.fit(&text, length);
            prop_assert!((0.0..=1.0).contains(&share), "{share}");
        }
    }
}
