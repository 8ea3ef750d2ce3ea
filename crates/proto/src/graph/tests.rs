use proptest::prelude::*;

use super::*;

#[test]
fn layers_follow_the_longest_path() {
    // 3 depends on 0 directly and through 1 and 2.
    let graph = [vec![], vec![0], vec![1], vec![0, 2], vec![]];
    assert_eq!(layers(&graph), Ok(vec![0, 1, 2, 3, 0]));
    assert_eq!(layers(&[]), Ok(vec![]));
}

#[test]
fn a_cycle_is_named_in_order() {
    let graph = [vec![], vec![3, 0], vec![1], vec![4], vec![2]];
    let found = cycle(&graph).unwrap();
    assert_eq!(found, [1, 3, 4, 2]);
    let name = |node: usize| ["a", "b", "c", "d", "e"][node];
    assert_eq!(show_cycle(&found, name), "b → d → e → c → b");
    assert_eq!(cycle(&[vec![0]]), Some(vec![0]), "on itself");
    assert_eq!(cycle(&[vec![1], vec![]]), None);
}

#[test]
fn a_long_chain_needs_no_deep_stack() {
    let chain: Vec<Vec<usize>> =
        (0..100_000).map(|n| if n == 0 { vec![] } else { vec![n - 1] }).collect();
    assert_eq!(layers(&chain).unwrap()[99_999], 99_999);
}

proptest! {
    #[test]
    fn either_all_edges_go_down_or_a_real_cycle_is_named(
        graph in prop::collection::vec(prop::collection::vec(0_usize..12, 0..4), 12)
    ) {
        match layers(&graph) {
            Ok(layers) => {
                for (node, others) in graph.iter().enumerate() {
                    let above = others.iter().map(|other| layers[*other] + 1).max();
                    prop_assert_eq!(layers[node], above.unwrap_or(0));
                }
            }
            Err(cycle) => {
                for (place, node) in cycle.iter().enumerate() {
                    let next = cycle[(place + 1) % cycle.len()];
                    prop_assert!(graph[*node].contains(&next), "{:?} {:?}", cycle, graph);
                }
            }
        }
    }
}
