//! The mind map of a topic as a graph. Schemas do not describe its parts: every client would pay for that.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::outline::Outline;

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

impl Graph {
    /// The map of an outline that a person may have changed: its sections and questions, with the concepts that this graph
    /// has for them. It is equal to this graph if the outline is that of the plan.
    pub fn follow(&self, outline: &Outline) -> Self {
        let mut map = Self::default();
        let planned = self.nodes.iter().find(|node| node.kind == NodeKind::Topic);
        let root = planned.map_or_else(|| "t-topic".to_owned(), |node| node.id.clone());
        map.add(&root, &outline.title, NodeKind::Topic, None);
        for section in &outline.sections {
            let known = self
                .label(&section.id)
                .filter(|name| section.heading.to_lowercase().contains(&name.to_lowercase()));
            let label = known.unwrap_or(&section.heading);
            map.add(&section.id, label, NodeKind::Perspective, Some((&root, "has")));
            for question in &section.questions {
                let parent = Some((section.id.as_str(), "asks"));
                map.add(&question.id, &question.text, NodeKind::Question, parent);
                let about = |edge: &&Edge| edge.from == question.id && edge.kind == "about";
                for edge in self.edges.iter().filter(about) {
                    let label = self.label(&edge.to).unwrap_or_default();
                    let parent = Some((question.id.as_str(), "about"));
                    map.add(&edge.to, label, NodeKind::Concept, parent);
                }
            }
        }
        map
    }

    /// What a node is called.
    pub fn label(&self, id: &str) -> Option<&str> {
        self.nodes.iter().find(|node| node.id == id).map(|node| node.label.as_str())
    }

    /// Adds a node unless it is there, and the edge to it.
    fn add(&mut self, id: &str, label: &str, kind: NodeKind, parent: Option<(&str, &str)>) {
        if !self.nodes.iter().any(|node| node.id == id) {
            let parent = parent.map(|(parent, _)| parent.to_owned());
            let (id, label) = (id.to_owned(), label.to_owned());
            self.nodes.push(Node { id, label, kind, parent });
        }
        if let Some((from, kind)) = parent {
            let edge = Edge { from: from.to_owned(), to: id.to_owned(), kind: kind.to_owned() };
            if !self.edges.contains(&edge) {
                self.edges.push(edge);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::outline::{OutlineQuestion, OutlineSection};
    use crate::perspectives::{Request, plan};

    #[test]
    fn a_map_follows_the_outline_of_a_person() {
        let names = ["history".to_owned(), "cost".to_owned()];
        let request =
            Request { topic: "heat pumps", perspectives: &names, per_perspective: 2, chunks: &[] };
        let plan = plan(request);
        assert_eq!(plan.graph.follow(&plan.outline), plan.graph);
        let mut outline = plan.outline.clone();
        let moved = outline.sections[0].questions.remove(0);
        outline.sections[0].heading = "The past".to_owned();
        let new = OutlineQuestion { id: "q-1".to_owned(), text: "Who pays?".to_owned() };
        outline.sections[1].questions = vec![moved.clone()];
        outline.sections.push(OutlineSection {
            id: "p-money".to_owned(),
            heading: "Money".to_owned(),
            questions: vec![new],
        });
        let map = plan.graph.follow(&outline);
        let parent = |id: &str| map.nodes.iter().find(|node| node.id == id)?.parent.clone();
        assert_eq!(parent(&moved.id).as_deref(), Some("p-cost"));
        assert_eq!(parent("q-1").as_deref(), Some("p-money"));
        assert_eq!(map.label("p-history"), Some("The past"));
        // The questions that were removed are gone with their concepts.
        let gone = &plan.outline.sections[1].questions[0].id;
        assert!(map.label(gone).is_none() && map.edges.iter().all(|edge| edge.from != *gone));
    }
}
