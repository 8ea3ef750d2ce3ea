//! One list of several: results of one page, or with one text, are one result.

use std::collections::HashMap;

use language::ranking::{Fused, fuse_merging};
use search::links::canonical_url;

/// The most passages of one result.
const MAX_TEXTS: usize = 20;
/// Pages with a shorter text in common may be different pages: `Sign in to continue.`
const TELLING_TEXT: usize = 100;

/// A result of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidate {
    pub title: Option<String>,
    pub text: String,
    pub url: Option<String>,
    /// Where a chunk comes from: chunks of one page are several results.
    pub source: Option<String>,
    /// A date such as `2024-05-03`.
    pub published: Option<String>,
    /// Passages of the same page that other results had.
    pub more: Vec<String>,
}

/// A candidate with something that its caller keeps with it.
#[derive(Clone, Debug)]
pub(super) struct Entry<T> {
    pub(super) candidate: Candidate,
    pub(super) item: T,
}

/// Fuses lists by reciprocal rank, the best first.
pub(super) fn merge<T>(lists: Vec<Vec<Entry<T>>>) -> Vec<Fused<Entry<T>>> {
    // Two addresses of one text are one result, whatever the order in which they come.
    let mut of_text: HashMap<String, String> = HashMap::new();
    for entry in lists.iter().flatten() {
        if let Some(url) = address(&entry.candidate) {
            let text = text_key(&entry.candidate.text);
            if text.len() >= TELLING_TEXT {
                of_text.entry(text).or_insert(url);
            }
        }
    }
    let key = |entry: &Entry<T>| {
        let text = text_key(&entry.candidate.text);
        let url = of_text.get(&text).cloned().or_else(|| address(&entry.candidate));
        Some(url.unwrap_or_else(|| format!("text:{text}")))
    };
    fuse_merging(lists, key, |kept, other| kept.candidate.add(other.candidate))
}

impl Candidate {
    /// Adds what another result of the same page knows.
    fn add(&mut self, other: Self) {
        self.title = self.title.take().filter(|title| !title.is_empty()).or(other.title);
        self.url = self.url.take().or(other.url);
        self.published = self.published.take().or(other.published);
        if self.text.is_empty() {
            self.text = other.text;
            return;
        }
        let is_new = other.text != self.text && !self.more.contains(&other.text);
        if is_new && !other.text.is_empty() && self.more.len() + 1 < MAX_TEXTS {
            self.more.push(other.text);
        }
    }
}

fn address(candidate: &Candidate) -> Option<String> {
    candidate.url.as_deref().and_then(canonical_url)
}

/// The text without differences of white space and case.
fn text_key(text: &str) -> String {
    let mut key = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !key.is_empty() {
            key.push(' ');
        }
        key.extend(word.chars().flat_map(char::to_lowercase));
    }
    key
}
