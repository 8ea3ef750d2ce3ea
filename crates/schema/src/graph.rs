//! The schemas of a document as a graph: which of them apply to the same value, and which to its parts.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::document::{AppliesTo, Document, Target, address, each_subschema};
use super::pattern;
use super::{SchemaFault, fault};

/// How often `unevaluated…` makes the schemas next to it run again, to find what they covered.
const UNEVALUATED: u64 = 4;

/// Comparing with this many listed values costs about as much as one schema.
const LISTED_PER_STEP: usize = 16;

/// The cost of the meta-schema at each part of a value.
const META_SCHEMA_STEPS: u64 = 64;

/// The most edges of a graph.
const MAX_EDGES: usize = 200_000;

/// How many references in a row are followed.
const MAX_HOPS: usize = 32;

/// Keywords without effect next to a `$ref`.
const REMARKS: [&str; 8] =
    ["$ref", "$comment", "title", "description", "default", "examples", "deprecated", "readOnly"];

/// A schema and how many times it applies.
pub(super) type Edge = (usize, u64);

/// Everything that applies where one schema applies.
#[derive(Default)]
pub(super) struct Spread {
    /// Steps at the value itself.
    pub(super) steps: u64,
    /// The weight of all patterns for its text or its members' names.
    pub(super) patterns: u64,
    pub(super) members: Parts,
    pub(super) items: Parts,
    /// What applies to the names of members.
    pub(super) names: Vec<Edge>,
}

impl Spread {
    /// All schemas that may apply to parts of a value, some of them several times.
    pub(super) fn targets(&self) -> impl Iterator<Item = usize> {
        [&self.members, &self.items]
            .into_iter()
            .flat_map(|parts| parts.groups.iter().flatten().chain(&parts.every))
            .map(|(target, _)| *target)
    }
}

/// What applies to the parts of a value.
#[derive(Default)]
pub(super) struct Parts {
    /// One group applies to each part.
    pub(super) groups: Vec<Vec<Edge>>,
    /// These apply to every part.
    pub(super) every: Vec<Edge>,
}

/// The spread of every schema that applies to a value or a part of it; the first is the root's.
pub(super) fn spreads(schema: &Value) -> Result<Vec<Spread>, SchemaFault> {
    let document = Document::new(schema);
    let mut graph = Graph { document: &document, nodes: Vec::new(), by_address: HashMap::new() };
    graph.grow()?;
    let order = graph.in_place_order()?;
    let mut spreads = Vec::with_capacity(graph.nodes.len());
    let mut edges = 0;
    for start in 0..graph.nodes.len() {
        let spread = if graph.nodes[start].applies_alone {
            graph.spread(start, &order, &mut edges)
        } else {
            Spread::default()
        };
        if edges > MAX_EDGES {
            return Err(fault(&graph.nodes[start].pointer, "it has too many branches"));
        }
        spreads.push(spread);
    }
    Ok(spreads)
}

struct Node<'a> {
    schema: Option<&'a Value>,
    pointer: String,
    steps: u64,
    patterns: u64,
    /// Applied to the same value.
    same: Vec<Edge>,
    parts: Vec<(AppliesTo<'a>, usize)>,
    /// Whether it applies to a value or a part of one by itself, not only together with another schema.
    applies_alone: bool,
}

struct Graph<'d, 'a> {
    document: &'d Document<'a>,
    nodes: Vec<Node<'a>>,
    by_address: HashMap<usize, usize>,
}

impl<'a> Graph<'_, 'a> {
    fn node(&mut self, schema: &'a Value, pointer: impl FnOnce() -> String) -> usize {
        *self.by_address.entry(address(schema)).or_insert_with(|| {
            self.nodes.push(Node {
                schema: Some(schema),
                pointer: self.document.pointer(schema).map_or_else(pointer, str::to_owned),
                steps: 1,
                patterns: 0,
                same: Vec::new(),
                parts: Vec::new(),
                applies_alone: false,
            });
            self.nodes.len() - 1
        })
    }

    /// The meta-schema applies to every part of a value once.
    fn meta_schema(&mut self) -> usize {
        let index = self.nodes.len();
        let parts = vec![(AppliesTo::AnyMember, index), (AppliesTo::AnyItem, index)];
        self.nodes.push(Node {
            schema: None,
            pointer: String::new(),
            steps: META_SCHEMA_STEPS,
            patterns: META_SCHEMA_STEPS,
            same: Vec::new(),
            parts,
            applies_alone: true,
        });
        index
    }

    fn grow(&mut self) -> Result<(), SchemaFault> {
        let root = self.node(self.document.root(), String::new);
        self.nodes[root].applies_alone = true;
        let mut next = 0;
        while next < self.nodes.len() {
            if let Some(schema) = self.nodes[next].schema {
                self.connect(next, schema)?;
            }
            next += 1;
        }
        Ok(())
    }

    fn connect(&mut self, index: usize, schema: &'a Value) -> Result<(), SchemaFault> {
        let Value::Object(map) = schema else {
            return Ok(());
        };
        let pointer = self.nodes[index].pointer.clone();
        let listed = |keyword: &str| match map.get(keyword) {
            Some(Value::Array(items)) => items.len(),
            Some(Value::Object(entries)) => entries.len(),
            _ => 0,
        };
        let lists = listed("enum") + listed("required") + listed("dependentRequired");
        self.nodes[index].steps = 1 + u64::try_from(lists / LISTED_PER_STEP).unwrap_or(u64::MAX);

        let of_names = map.get("patternProperties").and_then(Value::as_object);
        let of_text = map.get("pattern").and_then(Value::as_str);
        self.nodes[index].patterns = of_text
            .into_iter()
            .chain(of_names.into_iter().flatten().map(|(pattern, _)| pattern.as_str()))
            .fold(0, |sum: u64, pattern| sum.saturating_add(pattern::weight(pattern)));

        let mut subschemas = Vec::new();
        each_subschema(map, |applies_to, step, item| subschemas.push((applies_to, step, item)));
        for (applies_to, step, item) in subschemas {
            let pointer = || format!("{pointer}{step}");
            match applies_to {
                AppliesTo::Same => {
                    let target = self.node(item, pointer);
                    self.nodes[index].same.push((target, 1));
                }
                AppliesTo::Definition => {
                    self.node(item, pointer);
                }
                // `true` and `false` take no time.
                _ if item.is_boolean() => {}
                applies_to => {
                    let item = self.follow(item, &pointer())?;
                    let target = self.node(item, pointer);
                    self.nodes[index].parts.push((applies_to, target));
                    self.nodes[target].applies_alone = true;
                }
            }
        }
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(reference) = map.get(keyword).and_then(Value::as_str) else {
                continue;
            };
            let target = self.resolve(schema, &pointer, keyword, reference)?;
            match target {
                Target::Meta => {
                    let target = self.meta_schema();
                    self.nodes[index].same.push((target, 1));
                }
                Target::Local(targets) => {
                    for target in targets {
                        let shown = || reference.chars().take(200).collect();
                        let target = self.node(target, shown);
                        self.nodes[index].same.push((target, 1));
                    }
                }
            }
        }
        if map.contains_key("unevaluatedProperties") || map.contains_key("unevaluatedItems") {
            self.nodes[index].same.iter_mut().for_each(|(_, times)| *times = UNEVALUATED);
        }
        Ok(())
    }

    fn resolve(
        &self,
        schema: &Value,
        pointer: &str,
        keyword: &str,
        reference: &str,
    ) -> Result<Target<'a>, SchemaFault> {
        if keyword == "$recursiveRef" {
            return Ok(self.document.resolve_recursive(schema));
        }
        self.document.resolve(schema, reference, keyword == "$dynamicRef").map_err(|reason| {
            let shown: String = reference.chars().take(200).collect();
            fault(&format!("{pointer}/{keyword}"), format!("`{shown}` {reason}"))
        })
    }

    /// Follows a schema that only refers to another one, so that all references to a schema share a node.
    fn follow(&self, start: &'a Value, pointer: &str) -> Result<&'a Value, SchemaFault> {
        let mut schema = start;
        for _ in 0..MAX_HOPS {
            let Some(map) = schema.as_object() else { break };
            let Some(reference) = map.get("$ref").and_then(Value::as_str) else { break };
            if map.keys().any(|key| !REMARKS.contains(&key.as_str())) {
                break;
            }
            match self.resolve(schema, pointer, "$ref", reference)? {
                Target::Local(targets) if targets.len() == 1 => schema = targets[0],
                _ => break,
            }
        }
        Ok(schema)
    }

    /// A rank for each schema, such that schemas applied by another one come after it. A cycle of schemas that apply to
    /// the same value has no such order and is an error.
    fn in_place_order(&self) -> Result<Vec<usize>, SchemaFault> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut states = vec![State::New; self.nodes.len()];
        let mut finished = Vec::with_capacity(self.nodes.len());
        for start in 0..self.nodes.len() {
            if states[start] != State::New {
                continue;
            }
            states[start] = State::Open;
            let mut path = vec![(start, 0)];
            while let Some((node, next)) = path.last_mut() {
                match self.nodes[*node].same.get(*next) {
                    Some((target, _)) => {
                        *next += 1;
                        match states[*target] {
                            State::Open => {
                                let pointer = &self.nodes[*node].pointer;
                                let message = "the schema refers to itself without end";
                                return Err(fault(pointer, message));
                            }
                            State::New => {
                                states[*target] = State::Open;
                                path.push((*target, 0));
                            }
                            State::Done => {}
                        }
                    }
                    None => {
                        states[*node] = State::Done;
                        finished.push(*node);
                        path.pop();
                    }
                }
            }
        }
        let mut rank = vec![0; self.nodes.len()];
        for (position, node) in finished.iter().rev().enumerate() {
            rank[*node] = position;
        }
        Ok(rank)
    }

    fn spread(&self, start: usize, rank: &[usize], edges: &mut usize) -> Spread {
        // By rank, so that a schema's count is complete before it is propagated.
        let mut open = BTreeMap::from([(rank[start], (start, 1_u64))]);
        let mut applied: Vec<Edge> = Vec::new();
        while let Some((_, (node, times))) = open.pop_first() {
            applied.push((node, times));
            for (target, each) in &self.nodes[node].same {
                let more = times.saturating_mul(*each);
                let entry = open.entry(rank[*target]).or_insert((*target, 0));
                entry.1 = entry.1.saturating_add(more);
                *edges += 1;
            }
            if *edges > MAX_EDGES {
                return Spread::default();
            }
        }
        let mut spread = Spread::default();
        for (node, times) in &applied {
            let steps = self.nodes[*node].steps.saturating_mul(*times);
            spread.steps = spread.steps.saturating_add(steps);
            let patterns = self.nodes[*node].patterns.saturating_mul(*times);
            spread.patterns = spread.patterns.saturating_add(patterns);
            let named = self.nodes[*node].parts.iter().filter(|(p, _)| *p == AppliesTo::MemberName);
            spread.names.extend(named.map(|(_, target)| (*target, *times)));
        }
        spread.members = self.parts(&applied, edges, |applies_to| match applies_to {
            AppliesTo::Member(_) => Some(Reach::One),
            AppliesTo::OtherMembers => Some(Reach::Others),
            AppliesTo::AnyMember => Some(Reach::Every),
            _ => None,
        });
        spread.items = self.parts(&applied, edges, |applies_to| match applies_to {
            AppliesTo::Item(_) => Some(Reach::One),
            AppliesTo::OtherItems => Some(Reach::Others),
            AppliesTo::AnyItem => Some(Reach::Every),
            _ => None,
        });
        spread
    }

    fn parts(
        &self,
        applied: &[Edge],
        edges: &mut usize,
        reach: impl Fn(AppliesTo<'a>) -> Option<Reach>,
    ) -> Parts {
        let mut parts = Parts::default();
        let mut others: Vec<(usize, Edge)> = Vec::new();
        let mut groups: HashMap<AppliesTo<'a>, Vec<(usize, Edge)>> = HashMap::new();
        for (owner, times) in applied {
            for (applies_to, target) in &self.nodes[*owner].parts {
                let edge = (*target, *times);
                *edges += 1;
                match reach(*applies_to) {
                    Some(Reach::One) => groups.entry(*applies_to).or_default().push((*owner, edge)),
                    Some(Reach::Others) => others.push((*owner, edge)),
                    Some(Reach::Every) => parts.every.push(edge),
                    None => {}
                }
            }
        }
        // To a named part applies each schema's rule for that name, or else its rule for other parts.
        for group in groups.into_values() {
            *edges += others.len();
            if *edges > MAX_EDGES {
                return parts;
            }
            let ruled: Vec<usize> = group.iter().map(|(owner, _)| *owner).collect();
            let rest = others.iter().filter(|(owner, _)| !ruled.contains(owner));
            parts.groups.push(group.iter().chain(rest).map(|(_, edge)| *edge).collect());
        }
        parts.groups.push(others.into_iter().map(|(_, edge)| edge).collect());
        parts
    }
}

enum Reach {
    One,
    Others,
    Every,
}
