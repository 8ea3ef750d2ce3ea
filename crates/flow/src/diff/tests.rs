use super::*;
use crate::graph::NodeKind;
use crate::perspectives::{Request, plan};

fn graph(perspectives: &[&str], count: usize) -> Graph {
    let names: Vec<String> = perspectives.iter().map(|name| (*name).to_owned()).collect();
    plan(Request { topic: "heat pumps", perspectives: &names, per_perspective: count, chunks: &[] })
        .graph
}

#[test]
fn changes_have_ids_colours_and_symbols() {
    let before = graph(&["history", "cost"], 2);
    let mut after = graph(&["history", "noise"], 2);
    let question = after.nodes.iter().position(|node| node.kind == NodeKind::Question).unwrap();
    after.nodes[question].parent = Some("p-noise".to_owned());
    let found = diff(&before, &after);
    assert_eq!(
        found.moved,
        [Moved {
            id: after.nodes[question].id.clone(),
            from: "p-history".to_owned(),
            to: "p-noise".to_owned(),
            label: after.nodes[question].label.clone(),
            from_label: "history".to_owned(),
            to_label: "noise".to_owned(),
        }]
    );
    assert!(found.added.iter().any(|node| node.id == "p-noise"));
    assert!(found.removed.iter().any(|node| node.id == "p-cost"));
    assert!(found.svg.contains(">+ noise<") && found.svg.contains(">− cost<"), "{}", found.svg);
    assert!(found.svg.contains("↔ When"));
    assert!(found.svg.contains("class=\"added\"") && found.svg.contains("class=\"removed\""));
    assert!(found.svg.contains(">↔ moved<"));
}

#[test]
fn equal_graphs_do_not_differ() {
    let one = graph(&["history", "cost"], 3);
    let found = diff(&one, &one);
    assert!(found.added.is_empty() && found.removed.is_empty() && found.moved.is_empty());
    assert!(!found.svg.contains(">+ history<"));
    let nothing = diff(&Graph::default(), &one);
    assert_eq!(nothing.added.len(), one.nodes.len());
    assert_eq!(diff(&one, &Graph::default()).removed.len(), one.nodes.len());
}

#[test]
fn a_rewritten_question_is_renamed() {
    let before = graph(&["history", "cost"], 2);
    let mut after = before.clone();
    after.nodes[2].label = "When was the first one built?".to_owned();
    let found = diff(&before, &after);
    let renamed = Renamed {
        id: before.nodes[2].id.clone(),
        from: before.nodes[2].label.clone(),
        to: "When was the first one built?".to_owned(),
    };
    assert_eq!(found.renamed, [renamed]);
    assert!(found.added.is_empty() && found.removed.is_empty() && found.moved.is_empty());
}
