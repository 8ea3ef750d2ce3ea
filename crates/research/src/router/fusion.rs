//! Combines ranked lists: reciprocal rank fusion.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use crate::links::{canonical_url, web_url};
use crate::providers::Hit;

/// The constant of reciprocal rank fusion.
const K: f64 = 60.0;

/// Fuses ranked lists: an item's score is the sum of `1 / (60 + rank)` over the lists that have it. Items of one key
/// are merged into the one that was seen first. Equal scores keep the order of the lists.
pub(crate) fn fuse<T, Key: Eq + Hash>(
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
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::collections::BTreeSet;

    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    fn fused(lists: &[&[u8]]) -> Vec<u8> {
        fuse(lists.iter().map(|list| list.to_vec()).collect(), |item| Some(*item), |_, _| {})
    }

    #[test]
    fn what_several_lists_have_comes_first() {
        assert_eq!(fused(&[&[1, 2, 3], &[4, 3, 5]]), [3, 1, 4, 2, 5]);
        assert_eq!(fused(&[&[1, 2, 3]]), [1, 2, 3]);
        assert_eq!(fused(&[&[1, 1, 1, 2], &[2]]), [2, 1]);
    }

    #[test]
    fn addresses_of_one_page_are_one_result() {
        let hit = |url: &str, snippet: &str| Hit {
            url: url.to_owned(),
            snippet: snippet.to_owned(),
            ..Hit::default()
        };
        let hits = fuse_hits(vec![
            vec![hit("https://www.a.org/?utm_source=x", ""), hit("javascript:x", "")],
            vec![hit("https://b.org/", "b"), hit("https://a.org/#top", "a")],
        ]);
        assert_eq!(hits.len(), 2);
        assert_eq!(hits[0], hit("https://www.a.org/?utm_source=x", "a"));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_doubled(lists in proptest::collection::vec(
            proptest::collection::vec(0u8..20, 0..10), 0..5)) {
            let all: BTreeSet<u8> = lists.iter().flatten().copied().collect();
            let once = fuse(lists.clone(), |item| Some(*item), |_, _| {});
            prop_assert_eq!(once.len(), all.len());
            prop_assert_eq!(once.iter().copied().collect::<BTreeSet<_>>(), all);
            // First in every list means first.
            if let Some(first) = lists.first().and_then(|list| list.first())
                && lists.iter().all(|list| list.first() == Some(first)) {
                prop_assert_eq!(once[0], *first);
            }
            prop_assert!(once.len() <= lists.iter().map(Vec::len).sum());
        }
    }
}
