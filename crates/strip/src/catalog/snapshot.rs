use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use proto::{Code, ToolId, ToolRef};
use serde_json::{Value, json};

use super::{Entry, Fault, LimitBounds, WireNames};
use crate::{Failure, Schema, Tool};

/// How many majors of one tool are served: the newest and the one before.
pub const MAJORS_SERVED: usize = 2;

/// The catalog at one moment. Never changes; a newer one takes its place.
#[derive(Default)]
pub struct Snapshot {
    entries: Vec<Arc<Entry>>,
    by_id: HashMap<ToolId, Vec<Arc<Entry>>>,
    by_wire: HashMap<String, Arc<Entry>>,
    faults: Vec<Fault>,
    largest_input: usize,
    revision: u64,
}

impl Snapshot {
    /// All tools, by id, the newest major first.
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// Tools that were offered but not admitted.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The largest input that any tool takes: no door needs to read much more.
    pub fn largest_input(&self) -> usize {
        self.largest_input
    }

    /// Grows with every change of the catalog.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    pub(super) fn offers_the_same(&self, other: &Self) -> bool {
        let same = |(a, b): (&Arc<Entry>, &Arc<Entry>)| Arc::ptr_eq(a, b);
        self.entries.len() == other.entries.len()
            && self.entries.iter().zip(&other.entries).all(same)
            && self.faults == other.faults
    }

    /// Faults that were not there before.
    pub(super) fn new_faults<'a>(&'a self, previous: &'a Self) -> impl Iterator<Item = &'a Fault> {
        let known: HashSet<_> = previous.faults.iter().collect();
        self.faults.iter().filter(move |fault| !known.contains(fault))
    }

    /// Finds a tool by wire name, canonical id or short URI, pinned or not.
    pub fn resolve(&self, name: &str) -> Result<&Arc<Entry>, Failure> {
        if let Some(entry) = self.by_wire.get(name) {
            return Ok(entry);
        }
        let reference: ToolRef = name.parse().map_err(|_| self.unknown(name))?;
        let majors = self.by_id.get(&reference.id).ok_or_else(|| self.unknown(name))?;
        match reference.major {
            None => Ok(&majors[0]),
            Some(major) => majors
                .iter()
                .find(|entry| entry.descriptor.version.major == major)
                .ok_or_else(|| no_such_major(&reference, majors)),
        }
    }

    fn unknown(&self, name: &str) -> Failure {
        let shown: String = name.chars().take(200).collect();
        let nearest = self.nearest(&shown);
        let hint = match nearest.first() {
            Some(nearest) => format!("; did you mean `{nearest}`?"),
            None => "; `GET /mcp/discover` or `powerstrip tools` lists what there is".to_owned(),
        };
        Failure::new(Code::NotFound, format!("there is no tool `{shown}`{hint}"))
            .details(json!({"tool": shown, "nearest": nearest}))
    }

    fn nearest(&self, name: &str) -> Vec<&str> {
        let mut scored: Vec<_> = self
            .by_id
            .keys()
            .map(|id| (strsim::jaro_winkler(name, id.as_str()), id.as_str()))
            .filter(|(score, _)| *score > 0.8)
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        scored.into_iter().take(3).map(|(_, id)| id).collect()
    }

    pub(super) fn build(
        offers: &[(&str, &[Arc<dyn Tool>])],
        bounds: LimitBounds,
        names: &mut WireNames,
        previous: &Snapshot,
        revision: u64,
    ) -> Self {
        let mut faults = Vec::new();
        let mut admitted: HashMap<ToolId, Vec<Offered>> = HashMap::new();
        for (source, tools) in offers {
            for tool in *tools {
                let descriptor = tool.descriptor();
                let majors = admitted.entry(descriptor.id.clone()).or_default();
                if let Err(reason) = admissible(majors, source, tool) {
                    faults.push(Fault {
                        source: (*source).to_owned(),
                        tool: descriptor.id.clone(),
                        reason,
                    });
                } else {
                    majors.push((source, tool));
                }
            }
        }

        let reusable: HashMap<*const (), &Arc<Entry>> =
            previous.entries.iter().map(|entry| (address(&entry.tool), entry)).collect();
        let mut ids: Vec<_> = admitted.into_iter().collect();
        ids.sort_by(|a, b| a.0.cmp(&b.0));

        let mut snapshot = Self { revision, ..Self::default() };
        for (id, mut majors) in ids {
            majors.sort_by(|a, b| b.1.descriptor().version.cmp(&a.1.descriptor().version));
            for (source, tool) in majors.iter().skip(MAJORS_SERVED) {
                faults.push(Fault {
                    source: (*source).to_owned(),
                    tool: id.clone(),
                    reason: format!(
                        "version {} is not served: only the two newest majors are",
                        tool.descriptor().version
                    ),
                });
            }
            let newest = majors.first().map(|(_, tool)| tool.descriptor().version.major);
            let mut served = Vec::new();
            for (source, tool) in majors.into_iter().take(MAJORS_SERVED) {
                let major = tool.descriptor().version.major;
                let superseded_by = newest.filter(|newest| *newest != major);
                let offer = Offer { source, tool, superseded_by };
                match offer.admit(bounds, names, reusable.get(&address(tool)).copied()) {
                    Ok(entry) => served.push(entry),
                    Err(fault) => faults.push(fault),
                }
            }
            for entry in &served {
                snapshot.by_wire.insert(entry.wire.clone(), Arc::clone(entry));
            }
            if !served.is_empty() {
                snapshot.entries.extend(served.iter().cloned());
                snapshot.by_id.insert(id, served);
            }
        }
        snapshot.largest_input =
            snapshot.entries.iter().map(|entry| entry.limits.max_input_bytes).max().unwrap_or(0);
        snapshot.faults = faults;
        snapshot
    }
}

/// A tool and the source that offers it.
type Offered<'a> = (&'a str, &'a Arc<dyn Tool>);

struct Offer<'a> {
    source: &'a str,
    tool: &'a Arc<dyn Tool>,
    superseded_by: Option<u64>,
}

impl Offer<'_> {
    fn admit(
        &self,
        bounds: LimitBounds,
        names: &mut WireNames,
        known: Option<&Arc<Entry>>,
    ) -> Result<Arc<Entry>, Fault> {
        let limits = self.tool.descriptor().limits.within(bounds.default, bounds.max);
        if let Some(known) = known
            && known.superseded_by == self.superseded_by
            && known.limits == limits
        {
            return Ok(Arc::clone(known));
        }
        let mut descriptor = self.tool.descriptor().clone();
        let hidden_characters = descriptor.clean();
        let fault = |what: &str, reason: &dyn fmt::Display| Fault {
            source: self.source.to_owned(),
            tool: descriptor.id.clone(),
            reason: format!("the {what} schema cannot be used: {reason}"),
        };
        if !takes_objects(&descriptor.input_schema) {
            return Err(fault("input", &"a tool's input is an object, by every door"));
        }
        let input = Schema::compile(&descriptor.input_schema).map_err(|f| fault("input", &f))?;
        let output = descriptor
            .output_schema
            .as_ref()
            .map(Schema::compile)
            .transpose()
            .map_err(|f| fault("output", &f))?;
        let older_major = self.superseded_by.map(|_| descriptor.version.major);
        Ok(Arc::new(Entry {
            wire: names.assign(&descriptor.id, older_major, descriptor.unprefixed),
            definition: descriptor.definition_hash(),
            tool: Arc::clone(self.tool),
            descriptor,
            input,
            output,
            limits,
            superseded_by: self.superseded_by,
            hidden_characters,
            source: self.source.to_owned(),
        }))
    }
}

fn address(tool: &Arc<dyn Tool>) -> *const () {
    Arc::as_ptr(tool).cast()
}

/// Whether an object can fit a tool's input schema: MCP clients send nothing else.
pub fn takes_objects(schema: &Value) -> bool {
    match schema.get("type") {
        None => *schema != Value::Bool(false),
        Some(Value::Array(types)) => types.iter().any(|one| one == "object"),
        Some(one) => one == "object",
    }
}

/// A name belongs to the source that offered it first; nothing is ever silently replaced.
fn admissible(majors: &[Offered], source: &str, tool: &Arc<dyn Tool>) -> Result<(), String> {
    let version = &tool.descriptor().version;
    if let Some((owner, _)) = majors.iter().find(|(owner, _)| *owner != source) {
        return Err(format!("the name is already taken by {owner}"));
    }
    if let Some((_, twin)) =
        majors.iter().find(|(_, other)| other.descriptor().version.major == version.major)
    {
        return Err(format!(
            "major {} is offered twice (versions {} and {version})",
            version.major,
            twin.descriptor().version
        ));
    }
    Ok(())
}

fn no_such_major(reference: &ToolRef, majors: &[Arc<Entry>]) -> Failure {
    let served: Vec<_> = majors.iter().map(|entry| entry.descriptor.version.major).collect();
    Failure::new(
        Code::NotFound,
        format!(
            "`{}` has no major {}; it is served in {}",
            reference.id,
            reference.major.unwrap_or_default(),
            served.iter().map(u64::to_string).collect::<Vec<_>>().join(" and ")
        ),
    )
    .details(json!({"tool": reference.id, "majors": served}))
}
