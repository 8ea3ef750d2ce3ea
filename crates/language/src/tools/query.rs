//! A parsed request, shared by all three scores.

use std::collections::HashMap;

use crate::clauses::clauses;
use crate::words::{is_stop_word, spoken, stem, words};

/// The most bytes of a request that are read.
const MOST_BYTES: usize = 8 * 1024;
/// The most clauses that are scored separately; later ones count in the whole.
const MOST_CLAUSES: usize = 8;

/// A parsed request.
#[derive(Debug, Default)]
pub(super) struct Query<'a> {
    /// Different stems in the order of their first use.
    pub(super) terms: Vec<String>,
    /// Different words that carry content, folded.
    pub(super) words: Vec<String>,
    /// The text of the request.
    pub(super) whole: Vec<&'a str>,
    /// The clauses, where there are several.
    pub(super) clauses: Vec<Clause<'a>>,
}

/// One of several clauses.
#[derive(Debug)]
pub(super) struct Clause<'a> {
    /// Indices in `Query::terms`.
    pub(super) terms: Vec<usize>,
    pub(super) text: Vec<&'a str>,
}

impl<'a> Query<'a> {
    pub(super) fn read(text: &'a str) -> Self {
        let text = &text[..text.floor_char_boundary(MOST_BYTES)];
        let mut query = Self::default();
        let mut places = HashMap::new();
        for clause in clauses(text) {
            let content = words(clause).into_iter().filter(|word| !is_stop_word(word)).collect();
            let terms = query.take(content, &mut places);
            if !terms.is_empty() && query.clauses.len() < MOST_CLAUSES {
                query.clauses.push(Clause { terms, text: spoken(clause) });
            }
        }
        if query.terms.is_empty() {
            // "Who is it?" may still name a tool called `whois` or `who`.
            query.take(words(text), &mut places);
        }
        if query.clauses.len() < 2 {
            query.clauses.clear();
        }
        query.whole = spoken(text);
        query
    }

    /// Whether there is nothing to look for.
    pub(super) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Adds words, and returns the distinct indices of their stems.
    fn take(&mut self, words: Vec<String>, places: &mut HashMap<String, usize>) -> Vec<usize> {
        let mut taken = Vec::new();
        for word in words {
            let stem = stem(&word);
            let place = *places.entry(stem.clone()).or_insert_with(|| {
                self.terms.push(stem);
                self.terms.len() - 1
            });
            if !taken.contains(&place) {
                taken.push(place);
            }
            if !self.words.contains(&word) {
                self.words.push(word);
            }
        }
        taken
    }
}
