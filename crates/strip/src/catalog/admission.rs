//! Decides which offered tools are admitted to the catalog, and compiles what each needs.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};
use std::{fmt, thread};

use proto::ToolId;
use schema::{Patterns, Schema};
use serde_json::Value;
use store::PinnedDefinition;

use super::entry::{BUILT_IN, Entry, Fault, Terms};
use super::names::MAX_NAMES;
use super::pins::Pins;
use super::pins::{CROWDED, Verdict};
use super::quarantine::Quarantined;
use crate::Tool;
use files::{FilePlan, allow_references};

/// How many majors of one tool are served: the newest and the one before.
pub const MAJORS_SERVED: usize = 2;

/// Fewer tools than this are prepared faster than a thread starts.
const WORTH_A_THREAD: usize = 64;

/// A tool and the source that offers it.
type Offered<'a> = (&'a str, &'a Arc<dyn Tool>);

/// Entries by the tool they were made for.
pub(super) type Known<'a> = HashMap<usize, &'a Arc<Entry>>;

/// A tool that may be admitted.
pub(super) struct Offer<'a> {
    source: &'a str,
    tool: &'a Arc<dyn Tool>,
    superseded_by: Option<u64>,
}

/// An admitted tool.
pub(super) enum Admitted {
    /// Nothing about it has changed.
    Known(Arc<Entry>),
    /// Complete but for its wire name. A tool that is seen for the first time comes with its pin.
    New(Box<Entry>, Option<Box<PinnedDefinition>>),
}

/// Why a tool was not admitted.
pub(super) enum NotAdmitted {
    Fault(Fault),
    /// Complete but for its wire name.
    Quarantined(Box<Quarantined>),
}

/// The tool's address, which identifies its entry.
pub(super) fn address(tool: &Arc<dyn Tool>) -> usize {
    Arc::as_ptr(tool).cast::<()>().addr()
}

/// The tools whose names and versions do not collide, by id, the newest major first; and the faults of the others.
pub(super) fn choose<'a>(
    offers: &[(&'a str, &'a [Arc<dyn Tool>])],
) -> (Vec<Offer<'a>>, Vec<Fault>) {
    let mut faults = Vec::new();
    let mut by_id: HashMap<&ToolId, Vec<Offered<'a>>> = HashMap::new();
    for (source, tools) in offers {
        for tool in *tools {
            let id = &tool.descriptor().id;
            let majors = by_id.entry(id).or_default();
            match admissible(majors, source, tool) {
                Ok(()) => majors.push((source, tool)),
                Err(reason) => faults.push(fault(source, id, reason)),
            }
        }
    }
    let mut ids: Vec<_> = by_id.into_iter().collect();
    ids.sort_by_key(|(id, _)| *id);
    let mut chosen = Vec::with_capacity(ids.len());
    for (id, mut majors) in ids {
        majors.sort_by(|a, b| b.1.descriptor().version.cmp(&a.1.descriptor().version));
        let newest = majors.first().map(|(_, tool)| tool.descriptor().version.major);
        for (place, (source, tool)) in majors.into_iter().enumerate() {
            let version = &tool.descriptor().version;
            if place < MAJORS_SERVED {
                let superseded_by = newest.filter(|newest| *newest != version.major);
                chosen.push(Offer { source, tool, superseded_by });
            } else {
                let reason =
                    format!("version {version} is not served: only the two newest majors are");
                faults.push(fault(source, id, reason));
            }
        }
    }
    (chosen, faults)
}

/// Prepares the chosen tools, on all cores if there are many, because compiling schemas is slow.
pub(super) fn admit(
    chosen: &[Offer],
    terms: &Terms,
    pins: &Pins,
    known: &Known,
) -> Vec<Result<Admitted, NotAdmitted>> {
    let one = |offer: &Offer| offer.admit(terms, pins, known.get(&address(offer.tool)).copied());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let share = chosen.len().div_ceil(cores).max(WORTH_A_THREAD);
    let mut shares = chosen.chunks(share);
    let first = shares.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> = shares
            .map(|offers| (offers, scope.spawn(move || offers.iter().map(one).collect::<Vec<_>>())))
            .collect();
        let mut admitted: Vec<_> = first.iter().map(one).collect();
        for (offers, thread) in others {
            // If a thread panicked, its share is done again here, so that the panic reaches the caller.
            admitted.extend(thread.join().unwrap_or_else(|_| offers.iter().map(one).collect()));
        }
        admitted
    })
}

impl Offer<'_> {
    fn admit(
        &self,
        terms: &Terms,
        pins: &Pins,
        known: Option<&Arc<Entry>>,
    ) -> Result<Admitted, NotAdmitted> {
        let offered = self.tool.descriptor();
        let limits = terms.bounds.of(offered);
        let rule = terms.files.of(&offered.id).or(offered.files.as_ref());
        if let Some(known) = known
            && known.superseded_by == self.superseded_by
            && known.limits == limits
            && known.file_rule.as_ref() == rule
        {
            return Ok(Admitted::Known(Arc::clone(known)));
        }
        // First of all: schemas of unapproved definitions are not even compiled.
        let pin = self.trust(pins)?;
        let mut descriptor = offered.clone();
        descriptor.files = rule.cloned();
        let hidden_characters = descriptor.clean();
        let unusable = |what: &str, reason: &dyn fmt::Display| {
            let reason = format!("the {what} schema cannot be used: {reason}");
            NotAdmitted::Fault(fault(self.source, &descriptor.id, reason))
        };
        if !takes_objects(&descriptor.input_schema) {
            return Err(unusable("input", &"a tool's input is an object"));
        }
        let definition = descriptor.definition_hash();
        let patterns = self.patterns();
        let compile = |schema: &Value| Schema::compile_with(schema, patterns);
        let plan = |rule| FilePlan::of(rule, &descriptor.input_schema, patterns);
        let files = rule.map(plan).transpose();
        let files = files.map_err(|unfit| unusable("input", &unfit))?.flatten();
        let accepted = files.as_ref().map_or(&descriptor.input_schema, |planned| &planned.accepted);
        let own = self.tool.accepted_input();
        let input = compile(own.as_ref().unwrap_or(accepted)).map_err(|f| unusable("input", &f))?;
        let output = descriptor
            .output_schema
            .as_ref()
            .map(compile)
            .transpose()
            .map_err(|f| unusable("output", &f))?;
        let files = files.map(|planned| {
            descriptor.input_schema = planned.shown;
            planned.plan
        });
        if self.tool.references() {
            descriptor.output_schema.iter_mut().for_each(allow_references);
        }
        let entry = Box::new(Entry {
            wire: String::new(),
            version: descriptor.version.to_string().into(),
            definition,
            files,
            file_rule: rule.cloned(),
            tool: Arc::clone(self.tool),
            descriptor,
            input,
            output,
            limits,
            superseded_by: self.superseded_by,
            hidden_characters,
            source: self.source.to_owned(),
            refusal: OnceLock::new(),
        });
        for (schema, pattern) in entry.unchecked_patterns() {
            let tool = entry.descriptor.id.as_str();
            tracing::info!(tool, schema, pattern, "a pattern of a server's tool is not checked");
        }
        Ok(Admitted::New(entry, pin))
    }

    /// A server checks its own patterns, in an engine that we do not know; a toolpack relies on ours.
    fn patterns(&self) -> Patterns {
        let of_server = self.tool.descriptor().id.server().is_some();
        if of_server && !self.source.starts_with(BUILT_IN) {
            Patterns::Optional
        } else {
            Patterns::Required
        }
    }

    /// Checks that the tool's definition is trusted; returns a pin to store if it is new.
    fn trust(&self, pins: &Pins) -> Result<Option<Box<PinnedDefinition>>, NotAdmitted> {
        let Some(pinning) = self.tool.pinning() else { return Ok(None) };
        let offered = self.tool.descriptor();
        match pins.judge(pinning, offered) {
            Verdict::Trusted => Ok(None),
            Verdict::FirstSeen(pin) | Verdict::Renewed(pin) => Ok(Some(pin)),
            Verdict::Crowded => Err(NotAdmitted::Fault(crowded(self.source, &offered.id))),
            Verdict::Refused { why, changed, definition } => {
                Err(NotAdmitted::Quarantined(Box::new(Quarantined {
                    id: offered.id.clone(),
                    why,
                    changed,
                    definition,
                    server: pinning.server.to_owned(),
                    tool: pinning.tool.to_owned(),
                    source: self.source.to_owned(),
                    wire: String::new(),
                    offered: Arc::clone(self.tool),
                })))
            }
        }
    }
}

pub(super) fn crowded(source: &str, tool: &ToolId) -> Fault {
    fault(source, tool, CROWDED.to_owned())
}

/// The faults of new tools of servers that have as many names as are remembered: one for each server, because such a
/// server may list new ones again and again.
pub(super) fn too_many_names(left_out: Vec<(String, ToolId)>) -> Vec<Fault> {
    let mut by_source: BTreeMap<String, (ToolId, usize)> = BTreeMap::new();
    for (source, tool) in left_out {
        by_source.entry(source).or_insert((tool, 0)).1 += 1;
    }
    let reason = |count: usize| {
        format!(
            "its server has offered {MAX_NAMES} different names of tools, the most that are remembered of one server:              {count} new tools are left out; under another name in the config, the server starts afresh"
        )
    };
    let faults = by_source.into_iter();
    faults.map(|(source, (tool, count))| fault(&source, &tool, reason(count))).collect()
}

fn fault(source: &str, tool: &ToolId, reason: String) -> Fault {
    Fault { source: source.to_owned(), tool: tool.clone(), reason }
}

/// Whether an object can fit a tool's input schema: MCP clients send nothing else.
pub fn takes_objects(schema: &Value) -> bool {
    match schema.get("type") {
        None => *schema != Value::Bool(false),
        Some(Value::Array(types)) => types.iter().any(|one| one == "object"),
        Some(one) => one == "object",
    }
}

/// A name belongs to the source that offered it first; a tool is never silently replaced.
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
