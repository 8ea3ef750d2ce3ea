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
