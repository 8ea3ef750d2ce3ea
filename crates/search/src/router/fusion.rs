//! Combines ranked lists: reciprocal rank fusion.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use crate::links::{canonical_url, web_url};
use crate::providers::Hit;

/// The constant of reciprocal rank fusion.
const K: f64 = 60.0;

/// Fuses ranked lists: an item's score is the sum of `1 / (60 + rank)` over the lists that have it. Items of one key
/// are merged into the one that was seen first. Equal scores keep the order of the lists.
pub fn fuse<T, Key: Eq + Hash>(
    lists: Vec<Vec<T>>,
    key: impl Fn(&T) -> Option<Key>,
    mut merge: impl FnMut(&mut T, T),
) -> Vec<T> {
    let mut items: Vec<(T, f64)> = Vec::new();
    let mut index: HashMap<Key, usize> = HashMap::new();
    for list in lists {
        // A second occurrence in one list is no second vote.
        let mut voted = HashSet::new();
        for item in list {
            let Some(key) = key(&item) else { continue };
            let at = match index.get(&key) {
                Some(&at) => {
                    merge(&mut items[at].0, item);
                    at
                }
                None => {
                    index.insert(key, items.len());
                    items.push((item, 0.0));
                    items.len() - 1
                }
            };
            if voted.insert(at) {
                items[at].1 += 1.0 / (K + voted.len() as f64);
            }
        }
    }
    items.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    items.into_iter().map(|(item, _)| item).collect()
}

/// Fuses results, each page once. What one provider does not know is taken from another.
pub(super) fn fuse_hits(lists: Vec<Vec<Hit>>) -> Vec<Hit> {
    fuse(lists, hit_key, merge_hits)
}

fn hit_key(hit: &Hit) -> Option<String> {
    match &hit.image {
        // The same page may show many images.
        Some(image) => web_url(&image.link).map(String::from),
        None => canonical_url(&hit.url),
    }
}

fn merge_hits(kept: &mut Hit, other: Hit) {
    if kept.title.is_empty() {
        kept.title = other.title;
    }
    if kept.snippet.is_empty() {
        kept.snippet = other.snippet;
    }
    kept.published = kept.published.take().or(other.published);
    kept.source = kept.source.take().or(other.source);
}

#[cfg(test)]
mod tests;
