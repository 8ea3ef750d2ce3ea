//! The mind map of a topic as a graph. Schemas do not describe its parts: every client would pay for that.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nodes and the edges between them; node ids depend on labels and kinds only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Graph {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
}

/// A topic, perspective, question or concept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "")]
pub struct Node {
    pub id: String,
    pub label: String,
    pub kind: NodeKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    Topic,
    Perspective,
    Question,
    Concept,
}

/// A relation of two nodes, such as `has`, `asks` or `about`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "")]
pub struct Edge {
    pub from: String,
    pub to: String,
    pub kind: String,
}
