//! Finds tools by words.

use std::sync::Arc;

use strip::catalog::{Entry, Snapshot};

/// How many words of a query count.
const MAX_WORDS: usize = 16;

/// The tools that contain every word; those with the words in their names first.
pub(super) fn search<'a>(tools: &'a Snapshot, query: &str) -> Vec<&'a Arc<Entry>> {
    let words: Vec<String> =
        query.split_whitespace().take(MAX_WORDS).map(str::to_lowercase).collect();
    let mut found: Vec<_> =
        tools.entries().iter().filter_map(|entry| Some((rank(entry, &words)?, entry))).collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, entry)| entry).collect()
}

/// The rank of a tool for the words, lower is better; `None` if it lacks one of them.
fn rank(entry: &Entry, words: &[String]) -> Option<usize> {
    let descriptor = &entry.descriptor;
    let id = descriptor.id.as_str().to_lowercase();
    let title = descriptor.title.as_deref().unwrap_or_default().to_lowercase();
    let description = descriptor.description.to_lowercase();
    words.iter().try_fold(0, |far, word| {
        let step = if id.contains(word) {
            0
        } else if title.contains(word) {
            1
        } else if description.contains(word) {
            2
        } else {
            return None;
        };
        Some(far + step)
    })
}
