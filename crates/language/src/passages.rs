//! The passages of a long text that fit a request, by BM25, and documents as chunks.

mod atoms;
mod chunks;

use std::collections::{BTreeMap, HashMap};

use crate::ranking::Bm25;
use crate::ranking::postings::Postings;
use crate::words::{is_stop_word, stem, words};

pub use chunks::{ChunkOptions, TextChunk, chunks};

/// A passage ends at the first line break after so many bytes.
const LEAST: usize = 600;
/// A longer passage is cut, between words if there are any.
const MOST: usize = 1_200;
/// The most different words of a request that count.
const MAX_TERMS: usize = 64;
/// How much the length of a passage reduces the weight of its words.
const LENGTH: Bm25 = Bm25 { k1: 1.2, b: 0.6 };

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage<'a> {
    /// Where it begins, in bytes.
    pub offset: usize,
    pub text: &'a str,
}

/// The passages that have words of the request, the best first.
pub fn passages<'a>(text: &'a str, request: &str) -> Vec<Passage<'a>> {
    let terms = terms(request);
    let parts = split(text);
    // Repeated words are stemmed once.
    let mut known: HashMap<String, Option<u32>> = HashMap::new();
    let mut counted = Vec::with_capacity(parts.len());
    let mut lengths = Vec::with_capacity(parts.len());
    for part in &parts {
        let (mut uses, mut length) = (BTreeMap::<u32, f32>::new(), 0.0_f32);
        for word in words(part.text) {
            length += 1.0;
            let term = match known.get(&word) {
                Some(term) => *term,
                None => {
                    let term = terms.get(stem(&word).as_str()).copied();
                    known.insert(word, term);
                    term
                }
            };
            if let Some(term) = term {
                *uses.entry(term).or_default() += 1.0;
            }
        }
        counted.push(uses);
        lengths.push(length);
    }
    let average = (lengths.iter().sum::<f32>() / lengths.len().max(1) as f32).max(1.0);
    let weighed: Vec<Vec<(u32, f32)>> = counted
        .into_iter()
        .zip(&lengths)
        .map(|(uses, length)| {
            let scale = LENGTH.length_norm((*length).into(), average.into()) as f32;
            uses.into_iter().map(|(term, uses)| (term, uses / scale)).collect()
        })
        .collect();
    let postings = Postings::build(&weighed, terms.len());
    let mut scores = vec![0.0_f32; parts.len()];
    for term in terms.values() {
        for entry in postings.of(*term) {
            scores[entry.text as usize] += entry.weight;
        }
    }
    let mut found: Vec<_> =
        parts.into_iter().zip(scores).filter(|(_, score)| *score > 0.0).collect();
    found.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.offset.cmp(&b.offset)));
    found.into_iter().map(|(part, _)| part).collect()
}

/// The stems of a request with a number for each, without stop words if it has others.
fn terms(request: &str) -> HashMap<String, u32> {
    let mut words = words(request);
    if words.iter().any(|word| !is_stop_word(word)) {
        words.retain(|word| !is_stop_word(word));
    }
    let mut terms = HashMap::new();
    for word in words.iter().take(MAX_TERMS) {
        let next = terms.len() as u32;
        terms.entry(stem(word)).or_insert(next);
    }
    terms
}

/// The passages of a text, one after the other without a gap.
fn split(text: &str) -> Vec<Passage<'_>> {
    let mut parts = Vec::new();
    let mut offset = 0;
    while offset < text.len() {
        let rest = &text[offset..];
        let longest = &rest[..rest.floor_char_boundary(MOST)];
        let end = if rest.len() <= MOST {
            rest.len()
        } else {
            let from = longest.floor_char_boundary(LEAST);
            let line = longest[from..].find('\n').map(|at| from + at + 1);
            let word = || longest.rfind(char::is_whitespace).filter(|at| *at >= from);
            // White space may have several bytes; the next passage begins with it.
            line.or_else(word).unwrap_or(longest.len())
        };
        parts.push(Passage { offset, text: &rest[..end] });
        offset += end;
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::*;

    #[test]
    fn the_passage_with_the_words_comes_first() {
        let filler = "The committee met on a rainy day and adjourned early.\n".repeat(200);
        let text = format!("{filler}Invoices are paid within thirty days of receipt.\n{filler}");
        let found = passages(&text, "when is an invoice paid?");
        assert!(found[0].text.contains("Invoices are paid"), "{found:?}");
        assert_eq!(&text[found[0].offset..][..found[0].text.len()], found[0].text);
        assert!(found.len() < 4, "{}", found.len());
        assert_eq!(passages(&text, "zebra"), []);
        assert_eq!(passages(&text, ""), []);
        assert_eq!(passages("", "invoice"), []);
    }

    proptest! {
        #[test]
        fn passages_cover_a_text_without_gaps(text in "(\\PC|\n| ){0,4000}") {
            let parts = split(&text);
            assert_eq!(parts.iter().map(|part| part.text).collect::<String>(), text);
            assert!(parts.iter().all(|part| !part.text.is_empty() && part.text.len() <= MOST));
        }

        #[test]
        fn any_request_is_answered(text in any::<String>(), request in any::<String>()) {
            for part in passages(&text, &request) {
                assert_eq!(&text[part.offset..][..part.text.len()], part.text);
            }
        }
    }
}
