//! The tools and the graph of which output fits which input.

use std::collections::HashMap;

use language::words::related_stems;
use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef as _;

use crate::score::{belongs_to, types_agree};
use crate::tool::ToolSpec;

/// The most producers that are remembered for one input.
const MAX_PRODUCERS: usize = 24;

/// Up to how many different words the description of a tool counts fully.
const FOCUSED_WORDS: f32 = 100.0;

/// Names of fields that say nothing about what they hold.
const VAGUE: [&str; 16] = [
    "name",
    "id",
    "type",
    "status",
    "result",
    "results",
    "data",
    "value",
    "text",
    "output",
    "input",
    "title",
    "description",
    "message",
    "content",
    "query",
];

/// An output of one tool that fits a required input of another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SchemaEdge {
    pub(crate) output: u16,
    pub(crate) input: u16,
}

/// Tools and their graph.
#[derive(Debug)]
pub struct Toolbox {
    pub(crate) tools: Vec<ToolSpec>,
    graph: DiGraph<(), SchemaEdge, u32>,
    rank: Vec<f32>,
    vocabulary: HashMap<String, u32>,
    /// For each tool the words that it knows, by number, sorted.
    known: Vec<Box<[u32]>>,
}

/// A word of a request, by the numbers that the tools have for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Term {
    own: Option<u32>,
    related: Vec<u32>,
}

impl Toolbox {
    /// Builds the graph; the same tools give the same graph.
    pub fn new(mut tools: Vec<ToolSpec>) -> Self {
        let mut vocabulary: HashMap<String, u32> = HashMap::new();
        let mut known = Vec::with_capacity(tools.len());
        for tool in &mut tools {
            let mut numbers: Vec<u32> = std::mem::take(&mut tool.stems)
                .into_iter()
                .map(|stem| {
                    let next = u32::try_from(vocabulary.len()).unwrap_or(u32::MAX);
                    *vocabulary.entry(stem).or_insert(next)
                })
                .collect();
            numbers.sort_unstable();
            known.push(numbers.into_boxed_slice());
        }
        let mut graph: DiGraph<(), SchemaEdge, u32> = DiGraph::new();
        for _ in &tools {
            graph.add_node(());
        }
        let mut by_last: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
        for (tool, spec) in tools.iter().enumerate() {
            for (output, field) in spec.outputs.iter().enumerate() {
                if let Some(last) = field.name_stems.last() {
                    by_last.entry(last).or_default().push((tool, output));
                }
            }
        }
        for (tool, spec) in tools.iter().enumerate() {
            for (input, field) in spec.inputs.iter().enumerate().filter(|(_, field)| field.required)
            {
                let outputs = field.name_stems.last().and_then(|last| by_last.get(last));
                let mut found = 0;
                for &(producer, output) in outputs.into_iter().flatten() {
                    if producer == tool || !fits(spec, input, &tools[producer], output) {
                        continue;
                    }
                    found += 1;
                    if found > MAX_PRODUCERS {
                        break;
                    }
                    let edge = SchemaEdge {
                        output: u16::try_from(output).unwrap_or(u16::MAX),
                        input: u16::try_from(input).unwrap_or(u16::MAX),
                    };
                    graph.add_edge(node(producer), node(tool), edge);
                }
            }
        }
        let rank = page_rank(&graph);
        Self { tools, graph, rank, vocabulary, known }
    }

    /// Whether a text is the id of a visible tool, with or without that of its server.
    pub(crate) fn has_tool(&self, text: &str, visible: &dyn Fn(usize) -> bool) -> bool {
        // Ids of tools have a separator or several words; few values of a request look like that.
        let is_id = |id: &str| {
            id.strip_suffix(text).is_some_and(|rest| rest.is_empty() || rest.ends_with([':', '.']))
        };
        let mut tools = self.tools.iter().enumerate();
        text.contains([':', '.', '_', '/', '-'])
            && tools.any(|(place, tool)| is_id(&tool.id) && visible(place))
    }

    /// The weight of the words that a tool knows, from 0 to 1. A tool with very many words, such as one whose description
    /// lists every possible request, matches the words of a step by chance.
    pub(crate) fn focus(&self, tool: usize) -> f32 {
        (FOCUSED_WORDS / self.known[tool].len().max(1) as f32).min(1.0)
    }

    /// A stem and those related to it, as the tools know them.
    pub(crate) fn term(&self, stem: &str) -> Term {
        let number = |stem: &str| self.vocabulary.get(stem).copied();
        let related = related_stems(stem).iter().filter_map(|other| number(other)).collect();
        Term { own: number(stem), related }
    }

    /// 1 if a tool knows a word, about a half if it knows a related one.
    pub(crate) fn word_fit(&self, tool: usize, term: &Term) -> f32 {
        let knows = |number: &u32| self.known[tool].binary_search(number).is_ok();
        if term.own.as_ref().is_some_and(knows) {
            1.0
        } else {
            // Several related words, such as `memory` and `add` for `remember`, say a little more.
            match term.related.iter().filter(|number| knows(number)).count() {
                0 => 0.0,
                1 => 0.5,
                _ => 0.65,
            }
        }
    }

    /// The tools, by index.
    pub fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    /// Tools that produce an input of a tool: their index and output.
    pub(crate) fn producers(&self, tool: usize, input: usize) -> Vec<(usize, usize)> {
        let edges = self.graph.edges_directed(node(tool), Direction::Incoming);
        let mut found: Vec<(usize, usize)> = edges
            .filter(|edge| usize::from(edge.weight().input) == input)
            .map(|edge| (edge.source().index(), usize::from(edge.weight().output)))
            .collect();
        found.sort_unstable();
        found
    }

    /// How central a tool is, and how many adjacent tools two tools share (Adamic-Adar): small numbers that decide between
    /// producers that fit equally well.
    pub(crate) fn affinity(&self, producer: usize, consumer: usize) -> f32 {
        let near: Vec<NodeIndex<u32>> = self.graph.neighbors_undirected(node(consumer)).collect();
        let mut common: Vec<NodeIndex<u32>> = self
            .graph
            .neighbors_undirected(node(producer))
            .filter(|other| near.contains(other))
            .collect();
        common.sort_unstable();
        common.dedup();
        let shared: f32 = common
            .iter()
            .map(|other| 1.0 / (2.0 + self.graph.neighbors_undirected(*other).count() as f32).ln())
            .sum();
        (0.1 * shared).min(0.5) + self.rank.get(producer).copied().unwrap_or_default()
    }
}

/// PageRank by power iteration; petgraph's own takes time in the square of the tools.
fn page_rank(graph: &DiGraph<(), SchemaEdge, u32>) -> Vec<f32> {
    const DAMPING: f32 = 0.85;
    let count = graph.node_count();
    let even = 1.0 / count.max(1) as f32;
    let mut rank = vec![even; count];
    let degree: Vec<f32> =
        graph.node_indices().map(|node| graph.neighbors(node).count() as f32).collect();
    for _ in 0..8 {
        let mut next = vec![(1.0 - DAMPING) * even; count];
        for edge in graph.edge_references() {
            let (from, to) = (edge.source().index(), edge.target().index());
            next[to] += DAMPING * rank[from] / degree[from].max(1.0);
        }
        rank = next;
    }
    rank
}

fn node(tool: usize) -> NodeIndex<u32> {
    NodeIndex::new(tool)
}

fn fits(consumer: &ToolSpec, input: usize, producer: &ToolSpec, output: usize) -> bool {
    let (field, output) = (&consumer.inputs[input], &producer.outputs[output]);
    if types_agree(field, output).is_none_or(|fit| fit < -1.5) {
        return false;
    }
    let vague = field.name_words.iter().all(|word| VAGUE.contains(&word));
    let family = !consumer.family.is_empty() && consumer.family == producer.family;
    // Any text is a `content`: no tool is called for it that the request does not ask for.
    let is_specific = !vague || family && !field.takes_any_text();
    let same = field.name_stems == output.name_stems && is_specific;
    same || belongs_to(field, producer, output) || role_of(field, output)
}

/// Whether `originSkyId` is a `skyId` with a role.
fn role_of(field: &crate::tool::Field, output: &crate::tool::Field) -> bool {
    output.name_stems.len() > 1 && field.name_stems.iter().skip(1).eq(output.name_stems.iter())
}
