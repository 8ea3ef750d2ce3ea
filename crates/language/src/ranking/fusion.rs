//! Combines ranked lists: reciprocal rank fusion.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// The constant of reciprocal rank fusion.
const RANK_OFFSET: f64 = 60.0;

/// An item of a fused list.
#[derive(Clone, Debug, PartialEq)]
pub struct Fused<T> {
    pub item: T,
    /// The sum of `1 / (60 + rank)` over the lists that have it.
    pub score: f64,
}

/// Fuses ranked lists. Items of one key are one item, the one that was seen first; equal scores keep the order of the
/// lists.
pub fn fuse<T, K: Eq + Hash>(lists: Vec<Vec<T>>, key: impl Fn(&T) -> K) -> Vec<T> {
    let fused = fuse_merging(lists, |item| Some(key(item)), |_, _| {});
    fused.into_iter().map(|fused| fused.item).collect()
}

/// Fuses ranked lists and returns scores. Items without a key are left out; `merge` adds the fields of a later item of a key
/// to the first.
pub fn fuse_merging<T, Key: Eq + Hash>(
    lists: Vec<Vec<T>>,
    key: impl Fn(&T) -> Option<Key>,
    mut merge: impl FnMut(&mut T, T),
) -> Vec<Fused<T>> {
    let mut items: Vec<Fused<T>> = Vec::new();
    let mut index: HashMap<Key, usize> = HashMap::new();
    for list in lists {
        // A second occurrence in one list is no second vote.
        let mut voted = HashSet::new();
        for item in list {
            let Some(key) = key(&item) else { continue };
            let at = match index.get(&key) {
                Some(&at) => {
                    merge(&mut items[at].item, item);
                    at
                }
                None => {
                    index.insert(key, items.len());
                    items.push(Fused { item, score: 0.0 });
                    items.len() - 1
                }
            };
            if voted.insert(at) {
                items[at].score += 1.0 / (RANK_OFFSET + voted.len() as f64);
            }
        }
    }
    items.sort_by(|a, b| b.score.total_cmp(&a.score));
    items
}

#[cfg(test)]
mod tests;
