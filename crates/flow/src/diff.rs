//! What changed between the mind maps of two runs.

pub mod tool;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::graph::{Graph, Node};
use crate::map::{Change, draw_changes};

/// The difference of two graphs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GraphDiff {
    /// Nodes that only the second graph has.
    pub added: Vec<Node>,
    /// Nodes that only the first graph has.
    pub removed: Vec<Node>,
    /// Nodes that have another parent.
    pub moved: Vec<Moved>,
    /// Nodes that read differently.
    pub renamed: Vec<Renamed>,
    /// Both maps in one drawing.
    pub svg: String,
}

/// A node and its parents before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Moved {
    pub id: String,
    /// Empty if it had no parent.
    pub from: String,
    pub to: String,
    /// What the node and its parents are called.
    pub label: String,
    pub from_label: String,
    pub to_label: String,
}

/// A node and what it was called before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Renamed {
    pub id: String,
    pub from: String,
    pub to: String,
}

/// Compares two graphs by the ids of their nodes.
pub fn diff(before: &Graph, after: &Graph) -> GraphDiff {
    let (old, new) = (by_id(before), by_id(after));
    let only = |graph: &Graph, other: &BTreeMap<&str, &Node>| -> Vec<Node> {
        let mut seen = BTreeSet::new();
        let nodes = graph.nodes.iter().filter(|node| seen.insert(node.id.as_str()));
        nodes.filter(|node| !other.contains_key(node.id.as_str())).cloned().collect()
    };
    let moved: Vec<Moved> = new
        .iter()
        .filter_map(|(id, node)| {
            let was = old.get(id)?;
            let parent = |node: &Node| node.parent.clone().unwrap_or_default();
            (was.parent != node.parent).then(|| Moved {
                id: (*id).to_owned(),
                from: parent(was),
                to: parent(node),
                label: node.label.clone(),
                from_label: name_in(before, &parent(was)),
                to_label: name_in(after, &parent(node)),
            })
        })
        .collect();
    let renamed = new.iter().filter_map(|(id, node)| {
        let was = old.get(id).filter(|was| was.label != node.label)?;
        let (id, from, to) = ((*id).to_owned(), was.label.clone(), node.label.clone());
        Some(Renamed { id, from, to })
    });
    let renamed = renamed.collect();
    let (added, removed) = (only(after, &old), only(before, &new));
    let changes: BTreeMap<&str, Change> = moved
        .iter()
        .map(|moved| (moved.id.as_str(), Change::Moved))
        .chain(added.iter().map(|node| (node.id.as_str(), Change::Added)))
        .chain(removed.iter().map(|node| (node.id.as_str(), Change::Removed)))
        .collect();
    let svg = draw_changes(&union(after, &removed), |node| {
        changes.get(node.id.as_str()).copied().unwrap_or(Change::None)
    });
    GraphDiff { added, removed, moved, renamed, svg }
}

/// What a node of a graph is called, else its id.
fn name_in(graph: &Graph, id: &str) -> String {
    graph.label(id).unwrap_or(id).to_owned()
}

/// The first node of each id.
fn by_id(graph: &Graph) -> BTreeMap<&str, &Node> {
    let mut nodes = BTreeMap::new();
    for node in &graph.nodes {
        nodes.entry(node.id.as_str()).or_insert(node);
    }
    nodes
}

/// The second graph with the nodes of the first that it lost, at their old places.
fn union(after: &Graph, removed: &[Node]) -> Graph {
    let mut graph = after.clone();
    graph.nodes.extend(removed.iter().cloned());
    graph
}

#[cfg(test)]
mod tests;
