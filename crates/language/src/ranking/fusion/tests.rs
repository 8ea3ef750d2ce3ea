use std::collections::BTreeSet;

use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

use super::*;

fn fused(lists: &[&[u8]]) -> Vec<u8> {
    fuse(lists.iter().map(|list| list.to_vec()).collect(), |item| *item)
}

#[test]
fn items_of_several_lists_come_first() {
    assert_eq!(fused(&[&[1, 2, 3], &[4, 3, 5]]), [3, 1, 4, 2, 5]);
    assert_eq!(fused(&[&[1, 2, 3]]), [1, 2, 3]);
    assert_eq!(fused(&[&[1, 1, 1, 2], &[2]]), [2, 1]);
}

#[test]
fn a_later_item_adds_to_the_first_of_its_key() {
    let lists = vec![vec![(1, "a"), (0, "no key")], vec![(2, "b"), (1, "c")]];
    let key = |item: &(u8, &str)| (item.0 > 0).then_some(item.0);
    let merged = fuse_merging(lists, key, |kept, other| kept.1 = other.1);
    let items: Vec<_> = merged.iter().map(|fused| fused.item).collect();
    assert_eq!(items, [(1, "c"), (2, "b")]);
    assert_eq!(merged[0].score, 1.0 / 61.0 + 1.0 / 62.0);
}

proptest! {
    #[test]
    fn nothing_is_lost_or_doubled(lists in proptest::collection::vec(
        proptest::collection::vec(0u8..20, 0..10), 0..5)) {
        let all: BTreeSet<u8> = lists.iter().flatten().copied().collect();
        let once = fuse(lists.clone(), |item| *item);
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
