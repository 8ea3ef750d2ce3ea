//! Ensembles of decision trees, as `training/train.py` writes them.

use std::sync::OnceLock;

/// The feature number of a leaf.
const LEAF: u16 = u16::MAX;

/// Bytes of a node.
const NODE: usize = 10;

static BLOCKS: &[u8] = include_bytes!("model/blocks.bin");
static CONTEXT: &[u8] = include_bytes!("model/context.bin");

/// A node of a tree: a test of a feature, or a leaf with a value.
#[derive(Debug, Clone, Copy, Default)]
struct Node {
    feature: u16,
    left: u16,
    right: u16,
    /// The largest value of the feature that goes left; the value of a leaf.
    value: f32,
}

/// A trained model.
#[derive(Debug, Default)]
pub(super) struct Model {
    trees: Vec<Vec<Node>>,
}

impl Model {
    /// Rates blocks by themselves.
    pub(super) fn blocks() -> &'static Self {
        static MODEL: OnceLock<Model> = OnceLock::new();
        MODEL.get_or_init(|| Self::parse(BLOCKS).unwrap_or_default())
    }

    /// Rates blocks by themselves and by the first ratings of the blocks around.
    pub(super) fn context() -> &'static Self {
        static MODEL: OnceLock<Model> = OnceLock::new();
        MODEL.get_or_init(|| Self::parse(CONTEXT).unwrap_or_default())
    }

    /// Reads trees, each as the number of its nodes and the nodes: feature, left, right, value.
    fn parse(mut bytes: &[u8]) -> Option<Self> {
        let mut trees = Vec::new();
        while !bytes.is_empty() {
            let (count, rest) = bytes.split_first_chunk::<2>()?;
            let count = usize::from(u16::from_le_bytes(*count));
            let (nodes, rest) = rest.split_at_checked(count * NODE)?;
            bytes = rest;
            let nodes: Vec<Node> = nodes.chunks_exact(NODE).map(read_node).collect();
            let sound = nodes.iter().enumerate().all(|(at, node)| {
                let below = |child: u16| (at + 1..count).contains(&usize::from(child));
                node.feature == LEAF || below(node.left) && below(node.right)
            });
            if !sound || nodes.is_empty() {
                return None;
            }
            trees.push(nodes);
        }
        Some(Self { trees })
    }

    /// The probability that a block with these features belongs to the main content.
    pub(super) fn rate(&self, features: &[f32]) -> f32 {
        let sum: f32 = self.trees.iter().map(|tree| leaf(tree, features)).sum();
        1.0 / (1.0 + (-sum).exp())
    }
}

fn read_node(bytes: &[u8]) -> Node {
    let short = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    Node {
        feature: short(0),
        left: short(2),
        right: short(4),
        value: f32::from_le_bytes([bytes[6], bytes[7], bytes[8], bytes[9]]),
    }
}

fn leaf(tree: &[Node], features: &[f32]) -> f32 {
    let mut node = tree[0];
    while node.feature != LEAF {
        let value = features.get(usize::from(node.feature)).copied().unwrap_or_default();
        node = tree[usize::from(if value <= node.value { node.left } else { node.right })];
    }
    node.value
}

#[cfg(test)]
mod tests {
    use super::super::context;
    use super::super::names;
    use super::{LEAF, Model};

    #[test]
    fn the_embedded_models_are_whole() {
        let known = names::names().len();
        for (model, features) in [(Model::blocks(), known), (Model::context(), context::FEATURES)] {
            assert!(model.trees.len() > 10);
            let mut nodes = model.trees.iter().flatten().filter(|node| node.feature != LEAF);
            assert!(nodes.all(|node| usize::from(node.feature) < features));
        }
    }

    #[test]
    fn a_damaged_model_is_refused() {
        assert!(Model::parse(&[1, 0, 0]).is_none());
        // A node that leads to itself would never end.
        assert!(Model::parse(&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).is_none());
    }
}
