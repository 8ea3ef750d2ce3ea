//! The mind map of a graph as SVG. Equal graphs give equal bytes.

mod label;
mod layout;
mod svg;

use std::collections::BTreeMap;

use crate::graph::{Graph, Node, NodeKind};

pub(crate) use self::svg::Change;
use self::svg::Drawing;

/// Draws a mind map.
pub fn draw(graph: &Graph) -> String {
    let layout = layout::layout(graph, |_| "");
    let drawing = Drawing {
        title: format!("Mind map: {}", topic(graph)),
        description: describe(graph, layout.omitted),
        edges: &graph.edges,
        changes: vec![Change::None; layout.nodes.len()],
        legend: false,
        layout: &layout,
    };
    drawing.draw()
}

/// Draws a map in which some nodes have changed. Each change has a colour and a symbol.
pub(crate) fn draw_changes(graph: &Graph, change: impl Fn(&Node) -> Change) -> String {
    let layout = layout::layout(graph, |node| change(node).prefix());
    let changes: Vec<Change> = layout.nodes.iter().map(|placed| change(placed.node)).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for change in &changes {
        *counts.entry(change.name()).or_default() += 1;
    }
    let counts: Vec<String> =
        counts.into_iter().map(|(name, count)| format!("{count} {name}")).collect();
    let drawing = Drawing {
        title: format!("Changes of the mind map: {}", topic(graph)),
        description: format!("{}.", counts.join(", ")),
        edges: &[],
        changes,
        legend: true,
        layout: &layout,
    };
    drawing.draw()
}

fn topic(graph: &Graph) -> String {
    let topic = graph.nodes.iter().find(|node| node.kind == NodeKind::Topic);
    label::visible(topic.or(graph.nodes.first()).map_or("", |node| &node.label))
}

/// The map in words, for readers who do not see it.
fn describe(graph: &Graph, omitted: usize) -> String {
    let count = |kind| graph.nodes.iter().filter(|node| node.kind == kind).count();
    let perspectives: Vec<String> = graph
        .nodes
        .iter()
        .filter(|node| node.kind == NodeKind::Perspective)
        .take(20)
        .map(|node| label::visible(&node.label))
        .collect();
    let mut text = format!(
        "{} perspectives ({}), {} questions and {} concepts around one topic.",
        count(NodeKind::Perspective),
        perspectives.join(", "),
        count(NodeKind::Question),
        count(NodeKind::Concept),
    );
    if omitted > 0 {
        text.push_str(&format!(" {omitted} nodes are not drawn."));
    }
    text
}

#[cfg(test)]
mod tests;
