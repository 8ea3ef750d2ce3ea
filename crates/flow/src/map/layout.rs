//! Places the nodes of a mind map: the topic in the middle, perspectives to both sides, their questions and concepts
//! outwards. Each subtree has a band of its own, so that nothing overlaps.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::label::{FONT, measure, visible, wrap};
use crate::graph::{Graph, Node, NodeKind};

/// Nodes that are drawn; the rest is counted.
pub(super) const MAX_NODES: usize = 2_000;

/// Columns on each side of the topic.
const MAX_DEPTH: usize = 5;

const LINE: f64 = FONT * 1.3;
const PADDING: f64 = 8.0;
/// The vertical distance between nodes, and the horizontal one between columns.
const ROW: f64 = 10.0;
const COLUMN: f64 = 44.0;
const MARGIN: f64 = 24.0;

/// A node in its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placed<'a> {
    pub(super) node: &'a Node,
    /// The whole label, for readers of the full text.
    pub(super) label: String,
    pub(super) lines: Vec<String>,
    /// The upper left corner.
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    /// The index of the node that it hangs on.
    pub(super) parent: Option<usize>,
    /// Whether it is left of its parent.
    pub(super) left: bool,
}

/// A map with all nodes in their places.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout<'a> {
    pub(super) nodes: Vec<Placed<'a>>,
    pub(super) width: f64,
    pub(super) height: f64,
    /// Nodes that were left out.
    pub(super) omitted: usize,
}

impl Layout<'_> {
    /// The index of a node by its id.
    pub(super) fn index(&self) -> HashMap<&str, usize> {
        self.nodes.iter().enumerate().map(|(at, placed)| (placed.node.id.as_str(), at)).collect()
    }
}

/// Places the nodes of a graph; `prefix` is written before the label of a node.
pub(super) fn layout<'a>(graph: &'a Graph, prefix: impl Fn(&Node) -> &'static str) -> Layout<'a> {
    let tree = Tree::of(graph);
    let mut nodes: Vec<Placed<'a>> =
        tree.order.iter().map(|item| place(item.node, item.parent, prefix(item.node))).collect();
    let heights = bands(&tree, &nodes);
    let sides = sides(&tree, &heights);
    let columns = columns(&tree, &nodes, &sides);
    set_x(&tree, &mut nodes, &sides, &columns);
    set_y(&tree, &mut nodes, &heights, &sides);
    fit(nodes, tree.omitted)
}

/// A node of the tree in breadth-first order: parents come before their children.
struct Item<'a> {
    node: &'a Node,
    parent: Option<usize>,
    depth: usize,
}

struct Tree<'a> {
    order: Vec<Item<'a>>,
    children: Vec<Vec<usize>>,
    omitted: usize,
}

impl<'a> Tree<'a> {
    /// The tree of the parents that nodes name. Nodes without one, or in a circle, hang on the topic.
    fn of(graph: &'a Graph) -> Self {
        let mut seen = HashSet::new();
        let nodes: Vec<&Node> =
            graph.nodes.iter().filter(|node| seen.insert(node.id.as_str())).collect();
        let omitted = nodes.len().saturating_sub(MAX_NODES);
        let nodes = &nodes[..nodes.len() - omitted];
        let mut below: BTreeMap<&str, Vec<&Node>> = BTreeMap::new();
        for node in nodes {
            below.entry(node.parent.as_deref().unwrap_or_default()).or_default().push(node);
        }
        let mut tree = Self { order: Vec::new(), children: Vec::new(), omitted };
        let root = nodes.iter().find(|node| node.kind == NodeKind::Topic).or(nodes.first());
        let Some(root) = root else { return tree };
        let mut reached = HashSet::from([root.id.as_str()]);
        tree.push(root, None, 0);
        tree.grow(0, &below, &mut reached);
        for node in nodes {
            if reached.insert(&node.id) {
                let from = tree.order.len();
                tree.push(node, Some(0), 1);
                tree.grow(from, &below, &mut reached);
            }
        }
        tree
    }

    fn push(&mut self, node: &'a Node, parent: Option<usize>, depth: usize) {
        let index = self.order.len();
        if let Some(parent) = parent {
            self.children[parent].push(index);
        }
        self.order.push(Item { node, parent, depth });
        self.children.push(Vec::new());
    }

    /// Adds all nodes below those from this index on.
    fn grow(
        &mut self,
        mut from: usize,
        below: &BTreeMap<&str, Vec<&'a Node>>,
        reached: &mut HashSet<&'a str>,
    ) {
        while from < self.order.len() {
            let (id, depth) = (self.order[from].node.id.as_str(), self.order[from].depth);
            for node in below.get(id).into_iter().flatten() {
                if reached.insert(&node.id) {
                    // Beyond the last column nodes hang on the parent of their parent.
                    let deep = depth + 1 > MAX_DEPTH;
                    let parent = if deep { self.order[from].parent.unwrap_or(0) } else { from };
                    self.push(node, Some(parent), (depth + 1).min(MAX_DEPTH));
                }
            }
            from += 1;
        }
    }
}

fn place<'a>(node: &'a Node, parent: Option<usize>, prefix: &str) -> Placed<'a> {
    // Bold text is wider.
    let weight =
        if matches!(node.kind, NodeKind::Topic | NodeKind::Perspective) { 1.12 } else { 1.03 };
    let (width, most) = match node.kind {
        NodeKind::Topic => (190.0, 6),
        NodeKind::Perspective => (140.0, 3),
        NodeKind::Question => (250.0, 5),
        NodeKind::Concept => (150.0, 3),
    };
    let label = visible(&node.label);
    let lines = wrap(&format!("{prefix}{label}"), width, most);
    let text = lines.iter().map(|line| measure(line)).fold(24.0, f64::max);
    Placed {
        node,
        label,
        width: (text * weight + 2.0 * PADDING).round(),
        height: (lines.len().max(1) as f64 * LINE + 2.0 * PADDING).round(),
        lines,
        x: 0.0,
        y: 0.0,
        parent,
        left: false,
    }
}

/// The height of each subtree.
fn bands(tree: &Tree<'_>, nodes: &[Placed<'_>]) -> Vec<f64> {
    let mut bands = vec![0.0; nodes.len()];
    for index in (0..nodes.len()).rev() {
        bands[index] = stack(&tree.children[index], &bands).max(nodes[index].height);
    }
    bands
}

/// The height of nodes below each other.
fn stack(children: &[usize], bands: &[f64]) -> f64 {
    let gaps = children.len().saturating_sub(1) as f64 * ROW;
    children.iter().map(|child| bands[*child]).sum::<f64>() + gaps
}

/// Whether each node is on the left: the last perspectives are, so that both sides are about as high.
fn sides(tree: &Tree<'_>, bands: &[f64]) -> Vec<bool> {
    let mut left = vec![false; tree.order.len()];
    let top = tree.children.first().map(Vec::as_slice).unwrap_or_default();
    let total = stack(top, bands);
    let mut above = 0.0;
    for child in top {
        // The node is on the right if most of it is above the middle.
        left[*child] = above + bands[*child] / 2.0 > total / 2.0;
        above += bands[*child] + ROW;
    }
    for index in 0..tree.order.len() {
        if let Some(parent) = tree.order[index].parent.filter(|parent| *parent > 0) {
            left[index] = left[parent];
        }
    }
    left
}

/// The width of each column, by side and depth.
fn columns(tree: &Tree<'_>, nodes: &[Placed<'_>], sides: &[bool]) -> [Vec<f64>; 2] {
    let mut widths = [vec![0.0_f64; MAX_DEPTH + 1], vec![0.0_f64; MAX_DEPTH + 1]];
    for (index, item) in tree.order.iter().enumerate() {
        let width = &mut widths[usize::from(sides[index])][item.depth];
        *width = width.max(nodes[index].width);
    }
    widths
}

fn set_x(tree: &Tree<'_>, nodes: &mut [Placed<'_>], sides: &[bool], columns: &[Vec<f64>; 2]) {
    let middle = nodes.first().map_or(0.0, |root| root.width);
    for (index, item) in tree.order.iter().enumerate() {
        if item.depth == 0 {
            continue;
        }
        let left = sides[index];
        let inner: f64 = columns[usize::from(left)][1..item.depth]
            .iter()
            .map(|width| width + COLUMN)
            .sum::<f64>()
            + COLUMN;
        nodes[index].left = left;
        nodes[index].x = if left { -inner - nodes[index].width } else { middle + inner };
    }
}

/// Each node is in the middle of its children; each side is in the middle of the map.
fn set_y(tree: &Tree<'_>, nodes: &mut [Placed<'_>], bands: &[f64], sides: &[bool]) {
    let mut tops = vec![0.0; nodes.len()];
    for index in 0..nodes.len() {
        let children = &tree.children[index];
        let groups: [Vec<usize>; 2] = if index == 0 {
            let (left, right) = children.iter().partition(|child| sides[**child]);
            [left, right]
        } else {
            [children.clone(), Vec::new()]
        };
        for group in groups {
            let mut top = tops[index] + (bands[index] - stack(&group, bands)) / 2.0;
            for child in group {
                tops[child] = top;
                top += bands[child] + ROW;
            }
        }
        nodes[index].y = tops[index] + (bands[index] - nodes[index].height) / 2.0;
    }
}

/// Moves all nodes so that the map begins at the margin.
fn fit(mut nodes: Vec<Placed<'_>>, omitted: usize) -> Layout<'_> {
    let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
    let x = least(&mut nodes.iter().map(|node| node.x));
    let y = least(&mut nodes.iter().map(|node| node.y));
    let (mut width, mut height) = (2.0 * MARGIN, 2.0 * MARGIN);
    for node in &mut nodes {
        node.x = (node.x - x + MARGIN).round();
        node.y = (node.y - y + MARGIN).round();
        width = width.max(node.x + node.width + MARGIN);
        height = height.max(node.y + node.height + MARGIN);
    }
    Layout { nodes, width, height, omitted }
}
