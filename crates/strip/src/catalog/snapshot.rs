use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use proto::{Code, ToolId, ToolRef};
use serde_json::json;

use super::admission::{self, Admitted, NotAdmitted, address};
use super::{Entry, Fault, Pins, Quarantined, Terms, WireNames};
use crate::{Failure, Tool};

/// The catalog at one moment. Never changes; a newer one takes its place.
#[derive(Clone, Default)]
pub struct Snapshot {
    entries: Vec<Arc<Entry>>,
    by_id: HashMap<ToolId, Vec<Arc<Entry>>>,
    by_wire: HashMap<String, Arc<Entry>>,
    faults: Vec<Fault>,
    quarantined: Vec<Arc<Quarantined>>,
    /// The quarantined, by id and by wire name.
    waiting: HashMap<String, Arc<Quarantined>>,
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

    /// Tools that are not served until an operator approves them, by id.
    pub fn quarantined(&self) -> &[Arc<Quarantined>] {
        &self.quarantined
    }

    /// A tool that waits for approval, by id or wire name.
    pub fn waiting(&self, name: &str) -> Option<&Arc<Quarantined>> {
        self.waiting.get(name)
    }

    /// The largest input that any tool takes: no door needs to read much more.
    pub fn largest_input(&self) -> usize {
        self.largest_input
    }

    /// Grows with every change of the catalog.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The same tools under the next revision.
    pub(super) fn renewed(&self) -> Self {
        Self { revision: self.revision + 1, ..self.clone() }
    }

    /// Only the tools for which `keep` returns true; not even the names of the others are in it.
    pub(crate) fn narrowed(&self, keep: impl Fn(&Entry) -> bool) -> Self {
        let mut narrowed = Self { revision: self.revision, ..Self::default() };
        for entry in self.entries.iter().filter(|entry| keep(entry)) {
            narrowed.add(Arc::clone(entry));
        }
        narrowed
    }

    fn add(&mut self, entry: Arc<Entry>) {
        self.largest_input = self.largest_input.max(entry.limits.max_input_bytes);
        self.by_wire.insert(entry.wire.clone(), Arc::clone(&entry));
        let majors = self.by_id.entry(entry.descriptor.id.clone()).or_default();
        majors.push(Arc::clone(&entry));
        self.entries.push(entry);
    }

    pub(super) fn offers_the_same(&self, other: &Self) -> bool {
        let same = |(a, b): (&Arc<Entry>, &Arc<Entry>)| Arc::ptr_eq(a, b);
        self.entries.len() == other.entries.len()
            && self.entries.iter().zip(&other.entries).all(same)
            && self.faults == other.faults
            && self.quarantined == other.quarantined
    }

    /// Faults that were not there before.
    pub(super) fn new_faults<'a>(&'a self, previous: &'a Self) -> impl Iterator<Item = &'a Fault> {
        let known: HashSet<_> = previous.faults.iter().collect();
        self.faults.iter().filter(move |fault| !known.contains(fault))
    }

    /// Tools that were not quarantined before, or whose definition has changed again.
    pub(super) fn new_quarantine<'a>(
        &'a self,
        previous: &'a Self,
    ) -> impl Iterator<Item = &'a Arc<Quarantined>> {
        let known = |held: &Quarantined| {
            previous.waiting(held.id.as_str()).is_some_and(|before| **before == *held)
        };
        self.quarantined.iter().filter(move |held| !known(held))
    }

    /// Finds a tool by wire name, canonical id or short URI, pinned or not.
    pub fn resolve(&self, name: &str) -> Result<&Arc<Entry>, Failure> {
        if let Some(entry) = self.by_wire.get(name) {
            return Ok(entry);
        }
        if let Some(held) = self.waiting(name) {
            return Err(held.failure());
        }
        let reference: ToolRef = name.parse().map_err(|_| self.unknown(name))?;
        let majors = self.by_id.get(&reference.id).ok_or_else(|| {
            let held = self.waiting(reference.id.as_str());
            held.map_or_else(|| self.unknown(name), |held| held.failure())
        })?;
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
        terms: &Terms,
        names: &mut WireNames,
        pins: &mut Pins,
        previous: &Snapshot,
        revision: u64,
    ) -> Self {
        let known = previous.entries.iter().map(|entry| (address(&entry.tool), entry)).collect();
        let (chosen, mut faults) = admission::choose(offers);
        let mut snapshot = Self { revision, ..Self::default() };
        for admitted in admission::admit(&chosen, terms, pins, &known) {
            let entry = match admitted {
                Ok(Admitted::Known(entry)) => entry,
                Ok(Admitted::New(mut entry, pin)) => {
                    let announced = || entry.tool.pinning().is_some_and(|pins| pins.announced);
                    if pin.is_some_and(|pin| !pins.add(*pin, announced())) {
                        faults.push(admission::crowded(&entry.source, &entry.descriptor.id));
                        continue;
                    }
                    let major = entry.descriptor.version.major;
                    let older = entry.superseded_by.map(|_| major);
                    entry.wire =
                        names.assign(&entry.descriptor.id, older, entry.descriptor.unprefixed);
                    Arc::from(entry)
                }
                Err(NotAdmitted::Fault(fault)) => {
                    faults.push(fault);
                    continue;
                }
                Err(NotAdmitted::Quarantined(mut held)) => {
                    held.wire = names.assign(&held.id, None, held.unprefixed());
                    snapshot.hold(Arc::from(held));
                    continue;
                }
            };
            snapshot.add(entry);
        }
        snapshot.faults = faults;
        snapshot
    }

    fn hold(&mut self, held: Arc<Quarantined>) {
        for name in [held.wire.clone(), held.id.to_string()] {
            self.waiting.insert(name, Arc::clone(&held));
        }
        self.quarantined.push(held);
    }
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
