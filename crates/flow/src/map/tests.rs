use proptest::prelude::{any, proptest};

use super::layout::{Layout, layout};
use super::*;
use crate::graph::Edge;
use crate::perspectives::{Request, plan};

fn large() -> Graph {
    let names: Vec<String> =
        ["history", "methods", "equity", "evidence", "cost", "law", "risk", "noise"]
            .map(str::to_owned)
            .to_vec();
    plan(Request {
        topic: "urban heat islands",
        perspectives: &names,
        per_perspective: 8,
        chunks: &[],
    })
    .graph
}

fn assert_apart(layout: &Layout<'_>) {
    for (at, one) in layout.nodes.iter().enumerate() {
        assert!(one.x >= 0.0 && one.y >= 0.0);
        assert!(one.x + one.width <= layout.width && one.y + one.height <= layout.height);
        for other in &layout.nodes[at + 1..] {
            let apart = one.x + one.width <= other.x
                || other.x + other.width <= one.x
                || one.y + one.height <= other.y
                || other.y + other.height <= one.y;
            assert!(apart, "{one:?} {other:?}");
        }
    }
}

#[test]
fn nothing_overlaps_in_a_large_map() {
    let graph = large();
    assert!(graph.nodes.len() > 100);
    let layout = layout(&graph, |_| "");
    assert_eq!(layout.nodes.len(), graph.nodes.len());
    assert_apart(&layout);
    assert!(
        layout.width < 1_500.0 && layout.height < 3_500.0,
        "{} {}",
        layout.width,
        layout.height
    );
}

#[test]
fn the_drawing_is_safe_and_can_be_read_aloud() {
    let mut graph = large();
    graph.nodes[1].label = "<script>alert('x')</script> & \"more\" \u{0}\u{202e}".to_owned();
    graph.nodes[2].id = "a\"><b>".to_owned();
    let svg = draw(&graph);
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert!(svg.contains("<title id=\"map-title\">Mind map: Urban heat islands</title>"));
    assert!(svg.contains("<desc id=\"map-desc\">8 perspectives"));
    assert!(svg.contains("prefers-color-scheme: dark"));
    assert!(!svg.contains("<script") && !svg.contains("<b>") && !svg.contains("href"));
    assert!(!svg.contains('\u{0}') && !svg.contains('\u{202e}'));
    assert!(svg.contains("&lt;script&gt;"));
    assert_eq!(svg, draw(&graph));
}

#[test]
fn circles_orphans_and_long_chains_are_drawn() {
    let node = |id: &str, parent: Option<&str>, kind| Node {
        id: id.to_owned(),
        label: id.to_owned(),
        kind,
        parent: parent.map(str::to_owned),
    };
    let mut nodes = vec![
        node("t", None, NodeKind::Topic),
        node("a", Some("b"), NodeKind::Concept),
        node("b", Some("a"), NodeKind::Concept),
        node("self", Some("self"), NodeKind::Question),
        node("orphan", Some("nothing"), NodeKind::Question),
        node("t", None, NodeKind::Topic),
    ];
    for at in 0..500 {
        let parent = if at == 0 { "t".to_owned() } else { format!("n{}", at - 1) };
        nodes.push(node(&format!("n{at}"), Some(&parent), NodeKind::Concept));
    }
    let edges = vec![Edge { from: "a".to_owned(), to: "orphan".to_owned(), kind: "x".to_owned() }];
    let graph = Graph { nodes, edges };
    let layout = layout(&graph, |_| "");
    assert_eq!(layout.nodes.len(), 505);
    assert_apart(&layout);
    assert!(draw(&graph).contains("stroke-dasharray=\"3 4\""));
    assert!(draw(&Graph::default()).ends_with("</svg>\n"));
}

proptest! {
    #[test]
    fn any_labels_fit_their_boxes(labels in proptest::collection::vec(any::<String>(), 1..20)) {
        let nodes = labels.iter().enumerate().map(|(at, label)| Node {
            id: at.to_string(),
            label: label.clone(),
            kind: if at == 0 { NodeKind::Topic } else { NodeKind::Question },
            parent: (at > 0).then(|| (at / 2).to_string()),
        });
        let graph = Graph { nodes: nodes.collect(), edges: Vec::new() };
        let layout = layout(&graph, |_| "+ ");
        assert_apart(&layout);
        for placed in &layout.nodes {
            for line in &placed.lines {
                assert!(label::measure(line) <= placed.width, "{line}");
            }
        }
    }
}
