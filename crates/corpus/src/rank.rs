//! The order of a search's candidates: the same on both engines.

use std::collections::HashMap;

use language::ranking::Bm25;

use super::joined;

/// The shares of words and vectors in a hybrid score; each part counts relative to the best candidate's.
pub const WORDS_WEIGHT: f64 = 0.6;
pub const VECTORS_WEIGHT: f64 = 0.4;

/// The share of the words' part that a chunk gets for the names of the query, if the query has no other words.
const NAMES_WEIGHT: f64 = 0.5;

/// The words of a query, and how common they are in the collections that are searched.
#[derive(Clone, Debug, Default)]
pub(super) struct QueryWords {
    /// Each with its weight for a rare or common word, sorted.
    terms: Vec<(String, f64)>,
    /// The average length of a chunk.
    average: f64,
    /// Names such as `dpkg-deb`, with the weight of their words as a share of all.
    names: Vec<(String, f64)>,
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
    /// BM25 as a share of the most that the query can reach, and names.
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
        Self { terms, average, names: Vec::new() }
    }

    /// Chunks that have these names count more than those that have their words apart. Each name comes with its words.
    pub(super) fn with_names(self, names: impl Iterator<Item = (String, Vec<String>)>) -> Self {
        let all: f64 = self.terms.iter().map(|(_, idf)| idf).sum();
        let weight = |words: &Vec<String>| -> f64 {
            let own = self.terms.iter().filter(|(term, _)| words.contains(term));
            own.map(|(_, idf)| idf).sum()
        };
        let shares = names.map(|(name, words)| {
            let weight = weight(&words);
            (name, if all > 0.0 { weight / all } else { 0.0 })
        });
        let names = shares.filter(|(_, share)| *share > 0.0).collect();
        Self { names, ..self }
    }

    /// Whether the texts of chunks matter.
    pub(super) fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// The share of a chunk by its words, and by the names in its text.
    pub(super) fn fit_with_text(&self, terms: &str, length: u64, text: &str) -> f64 {
        let words = self.fit(terms, length);
        if self.names.is_empty() {
            return words;
        }
        let text = text.to_lowercase();
        let held = self.names.iter().filter(|(name, _)| joined::has(&text, name));
        // Names that share words count them once.
        let held: f64 = held.map(|(_, share)| share).sum::<f64>().min(1.0);
        let all: f64 = self.names.iter().map(|(_, share)| share).sum::<f64>().min(1.0);
        (1.0 - NAMES_WEIGHT * all) * words + NAMES_WEIGHT * held
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

    /// The place of each text in the order of the ranking alone.
    fn order(query: &str, texts: &[&str]) -> Vec<usize> {
        let chunks: Vec<_> = texts.iter().map(|text| crate::terms::of_chunk(text)).collect();
        let of_query = |query: &str| crate::terms::of_query(query, ["en"].into_iter());
        let mut counts = HashMap::new();
        for term in of_query(query) {
            let has =
                |chunk: &&crate::terms::ChunkStems| chunk.terms.split(' ').any(|own| own == term);
            let df = chunks.iter().filter(has).count() as u64;
            counts.insert(term, df);
        }
        counts.retain(|_, df| *df > 0);
        let words = chunks.iter().map(|chunk| chunk.length).sum();
        let names = joined::names(query).into_iter().map(|name| {
            let words = of_query(&name);
            (name, words)
        });
        let query = QueryWords::new(Totals { chunks: texts.len() as u64, words }, &counts)
            .with_names(names);
        let fit =
            |at: &usize| query.fit_with_text(&chunks[*at].terms, chunks[*at].length, texts[*at]);
        let mut order: Vec<_> = (0..texts.len()).collect();
        order.sort_by(|a, b| fit(b).total_cmp(&fit(a)));
        order
    }

    #[test]
    fn a_text_with_the_name_itself_comes_first() {
        let padding = "It is described here at some length with its files, its exit status and a word on older systems.";
        let name_itself = [
            (
                "dpkg-deb --build",
                format!("Call dpkg-deb --build to pack a folder into one file. {padding}"),
            ),
            (
                "SO_REUSEADDR",
                format!("The option SO_REUSEADDR lets a server start again. {padding}"),
            ),
            (
                "fs.readFileSync",
                format!("Node has fs.readFileSync(path) for small files. {padding}"),
            ),
            ("MPL-1.1", format!("The licence field says MPL-1.1, of the year 1999. {padding}")),
            ("s3api delete-bucket", format!("Use s3api delete-bucket for empty ones. {padding}")),
        ];
        let scattered = [
            "dpkg build, deb build, dpkg: build a deb with dpkg. Build the deb.",
            "Reuseaddr is an option; so is keepalive. Reuseaddr, reuseaddr.",
            "fs and readFileSync: fs, readFileSync, fs readFileSync.",
            "MPL 1 and 1 of MPL: the MPL, section 1. MPL 1, MPL 1.",
            "s3api delete-bucket-policy: s3api, bucket, delete. Delete the bucket policy; s3api delete-bucket-tagging.",
        ];
        let mut texts: Vec<&str> = scattered.to_vec();
        texts.extend(name_itself.iter().map(|(_, text)| text.as_str()));
        for (at, (query, _)) in name_itself.iter().enumerate() {
            assert_eq!(order(query, &texts)[0], scattered.len() + at, "{query}");
        }
        // Words without a joint are ranked by BM25 alone.
        assert_eq!(order("build a deb", &texts)[0], 0);
    }

    proptest! {
        #[test]
        fn names_keep_shares_between_nothing_and_everything(
            query in "[ab.-]{0,12}( [ab.-]{1,6}){0,4}", text in "[ab .-]{0,60}", df in 0_u64..20,
        ) {
            let names = joined::names(&query).into_iter().map(|name| (name, vec!["a".to_owned()]));
            let query = words(&[("a", df), ("b", 1)], Totals { chunks: 20, words: 100 });
            let query = query.with_names(names);
            let share = query.fit_with_text(&text, 10, &text);
            prop_assert!((0.0..=1.000_001).contains(&share), "{share}");
        }

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
