//! The schemas of a document as a graph: which of them are applied to the same value, and which to its parts.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::document::{Document, Place, Target, address, each_subschema};
use super::pattern;
use super::{SchemaFault, fault};

/// How often `unevaluated…` makes the schemas beside it run again, to learn what they covered.
const UNEVALUATED: u64 = 4;

/// Comparing with this many listed values costs about as much as one schema.
const LISTED_PER_STEP: usize = 16;

/// What the meta-schema costs at each part of a value.
const META_SCHEMA_STEPS: u64 = 64;

/// More ways from schema to schema than any honest document has.
const MAX_WAYS: usize = 200_000;

/// How many references in a row are taken as one.
const MAX_HOPS: usize = 32;

/// What may stand beside a `$ref` without doing anything.
const REMARKS: [&str; 8] =
    ["$ref", "$comment", "title", "description", "default", "examples", "deprecated", "readOnly"];

/// A schema and how many times it is applied.
pub(super) type Way = (usize, u64);

/// All that is applied where one schema is applied.
#[derive(Default)]
pub(super) struct Spread {
    /// Steps at the value itself.
    pub(super) steps: u64,
    /// The weight of all patterns for its text or its members' names.
    pub(super) patterns: u64,
    pub(super) members: Parts,
    pub(super) items: Parts,
    /// What is applied to the names of members.
    pub(super) names: Vec<Way>,
}

impl Spread {
    /// All schemas that the parts of a value can meet, some of them several times.
    pub(super) fn targets(&self) -> impl Iterator<Item = usize> {
        [&self.members, &self.items]
            .into_iter()
            .flat_map(|parts| parts.groups.iter().flatten().chain(&parts.every))
            .map(|(target, _)| *target)
    }
}

/// What is applied to the parts of a value.
#[derive(Default)]
pub(super) struct Parts {
    /// Of these, one group for each part.
    pub(super) groups: Vec<Vec<Way>>,
    /// These for every part.
    pub(super) every: Vec<Way>,
}

/// The spread of every schema that a value or a part of it can meet; the first is the root's.
pub(super) fn spreads(schema: &Value) -> Result<Vec<Spread>, SchemaFault> {
    let document = Document::new(schema);
    let mut graph = Graph { document: &document, nodes: Vec::new(), by_address: HashMap::new() };
    graph.grow()?;
    let order = graph.in_place_order()?;
    let mut spreads = Vec::with_capacity(graph.nodes.len());
    let mut ways = 0;
    for start in 0..graph.nodes.len() {
        let spread = if graph.nodes[start].is_met {
            graph.spread(start, &order, &mut ways)
        } else {
            Spread::default()
        };
        if ways > MAX_WAYS {
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
    same: Vec<Way>,
    parts: Vec<(Place<'a>, usize)>,
    /// Applied to a value or a part of one, not only beside another schema.
    is_met: bool,
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
                is_met: false,
            });
            self.nodes.len() - 1
        })
    }

    /// The meta-schema meets every part of a value again, and no more than once.
    fn meta_schema(&mut self) -> usize {
        let index = self.nodes.len();
        let parts = vec![(Place::AnyMember, index), (Place::AnyItem, index)];
        self.nodes.push(Node {
            schema: None,
            pointer: String::new(),
            steps: META_SCHEMA_STEPS,
            patterns: META_SCHEMA_STEPS,
            same: Vec::new(),
            parts,
            is_met: true,
        });
        index
    }

    fn grow(&mut self) -> Result<(), SchemaFault> {
        let root = self.node(self.document.root(), String::new);
        self.nodes[root].is_met = true;
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
        each_subschema(map, |place, step, item| subschemas.push((place, step, item)));
        for (place, step, item) in subschemas {
            let pointer = || format!("{pointer}{step}");
            match place {
                Place::Same => {
                    let target = self.node(item, pointer);
                    self.nodes[index].same.push((target, 1));
                }
                Place::Definition => {
                    self.node(item, pointer);
                }
                // `true` and `false` take no time.
                _ if item.is_boolean() => {}
                place => {
                    let item = self.through(item, &pointer())?;
                    let target = self.node(item, pointer);
                    self.nodes[index].parts.push((place, target));
                    self.nodes[target].is_met = true;
                }
            }
        }
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(reference) = map.get(keyword).and_then(Value::as_str) else {
                continue;
            };
            let target = self.document.resolve(schema, reference, keyword == "$dynamicRef");
            let shown: String = reference.chars().take(200).collect();
            let refused =
                |reason| fault(&format!("{pointer}/{keyword}"), format!("`{shown}` {reason}"));
            match target.map_err(refused)? {
                Target::Meta => {
                    let target = self.meta_schema();
                    self.nodes[index].same.push((target, 1));
                }
                Target::Local(targets) => {
                    for target in targets {
                        let target = self.node(target, || shown.clone());
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
        self.document.resolve(schema, reference, keyword == "$dynamicRef").map_err(|reason| {
            let shown: String = reference.chars().take(200).collect();
            fault(&format!("{pointer}/{keyword}"), format!("`{shown}` {reason}"))
        })
    }

    /// What a schema that only refers to another one stands for, so that every way to a schema leads to the same node.
    fn through(&self, start: &'a Value, pointer: &str) -> Result<&'a Value, SchemaFault> {
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

    /// The rank of each schema, such that whatever is applied beside another one comes after it. A circle of schemas
    /// that all apply to the same value has no such order, and no end.
    fn in_place_order(&self) -> Result<Vec<usize>, SchemaFault> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            Unseen,
            Open,
            Done,
        }
        let mut marks = vec![Mark::Unseen; self.nodes.len()];
        let mut finished = Vec::with_capacity(self.nodes.len());
        for start in 0..self.nodes.len() {
            if marks[start] != Mark::Unseen {
                continue;
            }
            marks[start] = Mark::Open;
            let mut path = vec![(start, 0)];
            while let Some((node, next)) = path.last_mut() {
                match self.nodes[*node].same.get(*next) {
                    Some((target, _)) => {
                        *next += 1;
                        match marks[*target] {
                            Mark::Open => {
                                let pointer = &self.nodes[*node].pointer;
                                let message = "the schema refers to itself without end";
                                return Err(fault(pointer, message));
                            }
                            Mark::Unseen => {
                                marks[*target] = Mark::Open;
                                path.push((*target, 0));
                            }
                            Mark::Done => {}
                        }
                    }
                    None => {
                        marks[*node] = Mark::Done;
                        finished.push(*node);
                        path.pop();
                    }
                }
            }
        }
        let mut rank = vec![0; self.nodes.len()];
        for (place, node) in finished.iter().rev().enumerate() {
            rank[*node] = place;
        }
        Ok(rank)
    }

    fn spread(&self, start: usize, rank: &[usize], ways: &mut usize) -> Spread {
        // By rank, so that a schema's count is complete before it is handed on.
        let mut open = BTreeMap::from([(rank[start], (start, 1_u64))]);
        let mut applied: Vec<Way> = Vec::new();
        while let Some((_, (node, times))) = open.pop_first() {
            applied.push((node, times));
            for (target, each) in &self.nodes[node].same {
                let more = times.saturating_mul(*each);
                let entry = open.entry(rank[*target]).or_insert((*target, 0));
                entry.1 = entry.1.saturating_add(more);
                *ways += 1;
            }
            if *ways > MAX_WAYS {
                return Spread::default();
            }
        }
        let mut spread = Spread::default();
        for (node, times) in &applied {
            let steps = self.nodes[*node].steps.saturating_mul(*times);
            spread.steps = spread.steps.saturating_add(steps);
            let patterns = self.nodes[*node].patterns.saturating_mul(*times);
            spread.patterns = spread.patterns.saturating_add(patterns);
            let named = self.nodes[*node].parts.iter().filter(|(p, _)| *p == Place::MemberName);
            spread.names.extend(named.map(|(_, target)| (*target, *times)));
        }
        spread.members = self.parts(&applied, ways, |place| match place {
            Place::Member(_) => Some(Reach::One),
            Place::OtherMembers => Some(Reach::Others),
            Place::AnyMember => Some(Reach::Every),
            _ => None,
        });
        spread.items = self.parts(&applied, ways, |place| match place {
            Place::Item(_) => Some(Reach::One),
            Place::OtherItems => Some(Reach::Others),
            Place::AnyItem => Some(Reach::Every),
            _ => None,
        });
        spread
    }

    fn parts(
        &self,
        applied: &[Way],
        ways: &mut usize,
        reach: impl Fn(Place<'a>) -> Option<Reach>,
    ) -> Parts {
        let mut parts = Parts::default();
        let mut others: Vec<(usize, Way)> = Vec::new();
        let mut groups: HashMap<Place<'a>, Vec<(usize, Way)>> = HashMap::new();
        for (owner, times) in applied {
            for (place, target) in &self.nodes[*owner].parts {
                let way = (*target, *times);
                *ways += 1;
                match reach(*place) {
                    Some(Reach::One) => groups.entry(*place).or_default().push((*owner, way)),
                    Some(Reach::Others) => others.push((*owner, way)),
                    Some(Reach::Every) => parts.every.push(way),
                    None => {}
                }
            }
        }
        // A named part is met by each schema's own rule for that name, or else by its rule for other parts.
        for group in groups.into_values() {
            *ways += others.len();
            if *ways > MAX_WAYS {
                return parts;
            }
            let ruled: Vec<usize> = group.iter().map(|(owner, _)| *owner).collect();
            let rest = others.iter().filter(|(owner, _)| !ruled.contains(owner));
            parts.groups.push(group.iter().chain(rest).map(|(_, way)| *way).collect());
        }
        parts.groups.push(others.into_iter().map(|(_, way)| way).collect());
        parts
    }
}

enum Reach {
    One,
    Others,
    Every,
}
