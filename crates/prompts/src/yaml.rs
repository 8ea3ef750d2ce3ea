use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use serde_saphyr::options::{AliasLimits, MergeKeyPolicy};
use serde_saphyr::{Options, Spanned};

/// The largest YAML file that is read.
pub(super) const MAX_BYTES: usize = 64 * 1024;

/// A YAML document that remembers where each of its keys stands.
pub(super) struct Document {
    root: Node,
}

/// What is wrong with a file, and the line if it is known.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) line: Option<usize>,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(line: Option<usize>, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

impl Document {
    /// Reads one document: no merge keys, few aliases, `yes` and `NO` are words.
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        let root = serde_saphyr::from_str_with_options(text, strict()).map_err(|error| {
            let line = error.location().and_then(|at| usize::try_from(at.line()).ok());
            let message = error.without_snippet().to_string();
            let first = message.lines().next().unwrap_or_default().chars().take(300).collect();
            Fault { line: line.filter(|line| *line > 0), message: first }
        })?;
        Ok(Self { root })
    }

    /// The document as JSON.
    pub(super) fn json(&self) -> Value {
        self.root.json()
    }

    /// The line of the place that a JSON Pointer names, or of the nearest place above it that exists.
    pub(super) fn line(&self, pointer: &str) -> Option<usize> {
        let mut node = &self.root;
        let mut line = None;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            let (at, next) = match node {
                Node::Map(entries) => match entries.iter().find(|(key, _)| key.value == step) {
                    Some((key, item)) => (key.referenced, item),
                    None => break,
                },
                Node::Seq(items) => match step.parse().ok().and_then(|at: usize| items.get(at)) {
                    Some(item) => (item.referenced, &item.value),
                    None => break,
                },
                Node::Scalar(_) => break,
            };
            line = usize::try_from(at.line()).ok();
            node = next;
        }
        line
    }
}

fn strict() -> Options {
    let mut aliases = AliasLimits::default();
    aliases.max_total_replayed_events = 2_000;
    aliases.max_replay_stack_depth = 4;
    aliases.max_alias_expansions_per_anchor = 100;
    serde_saphyr::options! {
        strict_booleans: true,
        merge_keys: MergeKeyPolicy::Error,
        alias_limits: aliases,
        with_snippet: false,
        budget: serde_saphyr::budget! {
            max_documents: 1,
            max_depth: 64,
            max_events: 20_000,
            max_nodes: 10_000,
            max_aliases: 100,
            max_anchors: 100,
            max_total_scalar_bytes: 2 * MAX_BYTES,
        },
    }
}

enum Node {
    Map(Vec<(Spanned<String>, Node)>),
    Seq(Vec<Spanned<Node>>),
    Scalar(Value),
}

impl Node {
    fn json(&self) -> Value {
        match self {
            Node::Map(entries) => Value::Object(
                entries
                    .iter()
                    .map(|(key, item)| (key.value.clone(), item.json()))
                    .collect::<Map<_, _>>(),
            ),
            Node::Seq(items) => items.iter().map(|item| item.value.json()).collect(),
            Node::Scalar(value) => value.clone(),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Scalar(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Scalar(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Scalar(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Node::Seq(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Node::Map(entries))
    }
}
