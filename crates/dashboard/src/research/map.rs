//! The mind map as a list, for narrow screens and for readers who do not see drawings.

use maud::{Markup, html};
use serde_json::Value;

use crate::words::short;

/// The most nodes that are listed.
const MAX_NODES: usize = 1_000;

/// How deep lists go: topic, perspectives, questions, concepts.
const MAX_DEPTH: usize = 4;

/// The nodes of a graph below their parents; nothing without a graph.
pub(super) fn as_list(graph: &Value) -> Markup {
    let nodes = graph["nodes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let nodes = &nodes[..nodes.len().min(MAX_NODES)];
    html! {
        @if !nodes.is_empty() {
            details.screen-only {
                summary { "The mind map as a list" }
                (below(nodes, None, 0))
            }
        }
    }
}

fn below(nodes: &[Value], parent: Option<&str>, depth: usize) -> Markup {
    let own: Vec<&Value> = nodes.iter().filter(|node| node["parent"].as_str() == parent).collect();
    html! {
        @if !own.is_empty() && depth < MAX_DEPTH {
            ul { @for node in own {
                li {
                    (short(node["label"].as_str().unwrap_or_default(), 200))
                    @if let Some(id) = node["id"].as_str() { (below(nodes, Some(id), depth + 1)) }
                }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nodes_are_listed_below_their_parents() {
        let graph = json!({"nodes": [
            {"id": "t", "label": "Heat"}, {"id": "p", "label": "Cost", "parent": "t"},
            {"id": "q", "label": "Who <pays>?", "parent": "p"}, {"id": "x", "label": "x", "parent": "x"},
        ]});
        let shown = as_list(&graph).into_string();
        let expected =
            "<ul><li>Heat<ul><li>Cost<ul><li>Who &lt;pays&gt;?</li></ul></li></ul></li></ul>";
        assert!(shown.contains(expected), "{shown}");
        assert_eq!(as_list(&Value::Null).into_string(), "");
    }
}
