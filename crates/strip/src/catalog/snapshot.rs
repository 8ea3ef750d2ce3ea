use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use proto::{Code, Failure, ToolId, ToolRef};
use serde_json::json;

use super::admission::{self, Admitted, Known, NotAdmitted};
use super::aliases;
use super::bare::{self, BareNames};
use super::bare_owners::{self, BareOwners};
use super::entry::{Entry, Fault, Terms};
use super::names::{NameStyle, Unnamed, WireNames};
use super::pins::Pins;
use super::quarantine::Quarantined;
use super::similar;
use crate::Tool;

/// The catalog at one moment. Never changes; a newer one takes its place.
#[derive(Clone, Default)]
pub struct Snapshot {
    entries: Vec<Arc<Entry>>,
    by_id: HashMap<ToolId, Vec<Arc<Entry>>>,
    by_wire: HashMap<String, Arc<Entry>>,
    /// Made when a caller first uses a name that is neither an id nor a wire name.
    bare: OnceLock<BareNames>,
    faults: Vec<Fault>,
    quarantined: Vec<Arc<Quarantined>>,
    /// The quarantined, by id and by wire name.
    waiting: HashMap<String, Arc<Quarantined>>,
    largest_input: usize,
    owners: Arc<BareOwners>,
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
        let (revision, owners) = (self.revision, Arc::clone(&self.owners));
        let mut narrowed = Self { revision, owners, ..Self::default() };
        for entry in self.entries.iter().filter(|entry| keep(entry)) {
            narrowed.add(Arc::clone(entry));
        }
        narrowed
    }

    /// Lets only those tools own bare names for which `keep` returns true, whether they are offered now or not.
    pub(crate) fn narrow_owners(&mut self, keep: impl Fn(&ToolId) -> bool) {
        self.owners = Arc::new(self.owners.narrowed(keep));
    }

    pub(super) fn set_owners(&mut self, owners: &Arc<BareOwners>) {
        self.owners = Arc::clone(owners);
    }

    /// Whether bare names have the same owners.
    pub(super) fn has_owners_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.owners, &other.owners)
    }

    /// The source that has a tool of this id.
    pub(super) fn source_of(&self, id: &ToolId) -> Option<&str> {
        let served = self.by_id.get(id).and_then(|majors| majors.first());
        let held = || self.waiting(id.as_str()).map(|held| held.source.as_str());
        served.map(|entry| entry.source.as_str()).or_else(held)
    }

    /// Everything but the tools of these sources.
    pub(super) fn without(&self, sources: &impl Fn(&str) -> bool) -> Self {
        let mut rest = self.narrowed(|entry| !sources(&entry.source));
        rest.faults = self.faults.clone();
        for held in self.quarantined.iter().filter(|held| !sources(&held.source)) {
            rest.hold(Arc::clone(held));
        }
        rest
    }

    /// Adds the tools of another snapshot.
    pub(super) fn add_all(&mut self, other: &Self) {
        other.entries.iter().for_each(|entry| self.add(Arc::clone(entry)));
        other.quarantined.iter().for_each(|held| self.hold(Arc::clone(held)));
    }

    /// Restores the order of the entries after tools were added.
    pub(super) fn sort(&mut self) {
        self.entries.sort_by(|a, b| {
            let (one, other) = (&a.descriptor, &b.descriptor);
            one.id.cmp(&other.id).then_with(|| other.version.cmp(&one.version))
        });
        self.quarantined.sort_by(|a, b| a.id.cmp(&b.id));
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

    /// Finds a tool by wire name, canonical id, alias or short URI, pinned or not, or by a bare name that only one tool has.
    pub fn resolve(&self, name: &str) -> Result<&Arc<Entry>, Failure> {
        self.resolve_for(name, NameStyle::Canonical)
    }

    /// Finds a tool; similar tools are suggested to the caller by these names.
    pub fn resolve_for(&self, name: &str, style: NameStyle) -> Result<&Arc<Entry>, Failure> {
        self.find(name, Some(style))
    }

    /// Finds a tool; none are suggested, because a search for similar names takes its time.
    pub fn resolve_without_hint(&self, name: &str) -> Result<&Arc<Entry>, Failure> {
        self.find(name, None)
    }

    fn find(&self, name: &str, style: Option<NameStyle>) -> Result<&Arc<Entry>, Failure> {
        // Before all names of servers: no server can take the alias over.
        if let Some(own) = aliases::resolve(name) {
            return self.find(&own, style);
        }
        if let Some(entry) = self.by_wire.get(name) {
            return Ok(entry);
        }
        if let Some(held) = self.waiting(name) {
            return Err(held.failure());
        }
        let reference: ToolRef = name.parse().map_err(|_| self.unknown(name, style))?;
        let majors = match self.by_id.get(&reference.id) {
            Some(majors) => majors,
            None => self.majors_of_bare(name, &reference, style)?,
        };
        match reference.major {
            None => Ok(&majors[0]),
            Some(major) => majors
                .iter()
                .find(|entry| entry.descriptor.version.major == major)
                .ok_or_else(|| no_such_major(&reference, majors)),
        }
    }

    fn majors_of_bare(
        &self,
        name: &str,
        reference: &ToolRef,
        style: Option<NameStyle>,
    ) -> Result<&Vec<Arc<Entry>>, Failure> {
        if let Some(held) = self.waiting(reference.id.as_str()) {
            return Err(held.failure());
        }
        if reference.id.server().is_some() {
            return Err(self.unknown(name, style));
        }
        let bare = reference.id.as_str();
        let ambiguous = || {
            let several = self.bare_names().get(bare);
            let names =
                several.iter().map(|id| self.shown_name(id, style.unwrap_or_default())).collect();
            bare::ambiguous(bare, names)
        };
        match self.owners.of(bare).as_slice() {
            [] => {}
            [owner] => {
                let served = self.by_id.get(*owner);
                return served.ok_or_else(|| self.absent(name, owner, style));
            }
            _ => return Err(ambiguous()),
        }
        let only = match self.bare_names().get(bare) {
            [] => return Err(self.unknown(name, style)),
            [only] if self.owners.imitates(bare, only) => return Err(self.unknown(name, style)),
            [only] => only,
            _ => return Err(ambiguous()),
        };
        self.by_id.get(only).ok_or_else(|| self.unknown(name, style))
    }

    /// The failure of a call by a bare name whose owner is not served.
    fn absent(&self, name: &str, owner: &ToolId, style: Option<NameStyle>) -> Failure {
        if let Some(held) = self.waiting(owner.as_str()) {
            return held.failure();
        }
        bare_owners::absent(name, owner).unwrap_or_else(|| self.unknown(name, style))
    }

    /// The tool that a bare name belongs to, whether it is offered now or not.
    pub(crate) fn owner_of_bare(&self, name: &str) -> Option<ToolId> {
        match self.owners.of(name).as_slice() {
            [owner] => Some((*owner).clone()),
            _ => None,
        }
    }

    /// Whether several servers have a tool of this name, and it is the wire name of none.
    pub(crate) fn is_shared_bare(&self, name: &str) -> bool {
        !self.by_wire.contains_key(name) && self.bare_names().get(name).len() > 1
    }

    /// Whether a tool of any server has this name behind the server's.
    pub fn is_bare(&self, name: &str) -> bool {
        !self.bare_names().get(name).is_empty()
    }

    /// The newest majors of the servers' tools that have this name behind the server's.
    pub(crate) fn bare(&self, name: &str) -> impl Iterator<Item = &Arc<Entry>> {
        self.bare_names().get(name).iter().filter_map(|id| self.by_id.get(id)?.first())
    }

    fn bare_names(&self) -> &BareNames {
        let newest = self.entries.iter().filter(|entry| entry.superseded_by.is_none());
        self.bare.get_or_init(|| BareNames::of(newest.map(|entry| &entry.descriptor.id)))
    }

    fn unknown(&self, name: &str, style: Option<NameStyle>) -> Failure {
        let shown: String = name.chars().take(200).collect();
        let nearest: Vec<_> = style.map_or_else(Vec::new, |style| {
            let similar = similar::nearest(&shown, self.by_id.keys());
            similar.into_iter().map(|id| self.shown_name(id, style)).collect()
        });
        let hint = match (nearest.first(), style) {
            (Some(nearest), _) => format!("did you mean `{nearest}`?"),
            (None, Some(NameStyle::Wire)) => "the list of tools shows what there is".to_owned(),
            (None, _) => "`GET /mcp/discover` or `powerstrip tools` lists what there is".to_owned(),
        };
        Failure::new(Code::NotFound, format!("there is no tool `{shown}`; {hint}"))
            .details(json!({"tool": shown, "nearest": nearest}))
    }

    /// The name of a tool's newest major.
    fn shown_name<'a>(&'a self, id: &'a ToolId, style: NameStyle) -> &'a str {
        match style {
            NameStyle::Canonical => id.as_str(),
            NameStyle::Wire => self.by_id.get(id).map_or(id.as_str(), |majors| &majors[0].wire),
        }
    }

    /// Admits the offered tools; the entries of those that are known are used again.
    pub(super) fn admit(
        offers: &[(&str, &[Arc<dyn Tool>])],
        terms: &Terms,
        names: &mut WireNames,
        pins: &mut Pins,
        known: &Known<'_>,
        revision: u64,
    ) -> Self {
        let (chosen, mut faults) = admission::choose(offers);
        let mut found = Vec::with_capacity(chosen.len());
        let mut left_out = Vec::new();
        for admitted in admission::admit(&chosen, terms, pins, known) {
            match admitted {
                Ok(Admitted::Known(entry)) => found.push(Found::Known(entry)),
                Ok(Admitted::New(entry, _)) if !names.have_room_for(&entry.descriptor.id) => {
                    left_out.push((entry.source, entry.descriptor.id));
                }
                Ok(Admitted::New(entry, pin)) => {
                    let announced = || entry.tool.pinning().is_some_and(|pins| pins.announced);
                    if pin.is_some_and(|pin| !pins.add(*pin, announced())) {
                        faults.push(admission::crowded(&entry.source, &entry.descriptor.id));
                    } else {
                        found.push(Found::New(entry));
                    }
                }
                Err(NotAdmitted::Fault(fault)) => faults.push(fault),
                Err(NotAdmitted::Quarantined(held)) if !names.have_room_for(&held.id) => {
                    left_out.push((held.source, held.id));
                }
                Err(NotAdmitted::Quarantined(held)) => found.push(Found::Held(held)),
            }
        }
        faults.extend(admission::too_many_names(left_out));
        let mut unnamed: Vec<_> = found.iter_mut().filter_map(Found::unnamed).collect();
        unnamed.sort_by_key(|tool| tool.unprefixed.then(|| names.place(tool.source)));
        for tool in unnamed {
            *tool.wire = names.assign(&tool);
        }
        let mut snapshot = Self { revision, faults, ..Self::default() };
        for found in found {
            match found {
                Found::Known(entry) => snapshot.add(entry),
                Found::New(entry) => snapshot.add(Arc::from(entry)),
                Found::Held(held) => snapshot.hold(Arc::from(held)),
            }
        }
        snapshot
    }

    fn hold(&mut self, held: Arc<Quarantined>) {
        for name in [held.wire.clone(), held.id.to_string()] {
            self.waiting.insert(name, Arc::clone(&held));
        }
        self.quarantined.push(held);
    }
}

/// A tool of the next snapshot.
enum Found {
    /// Nothing about it has changed.
    Known(Arc<Entry>),
    New(Box<Entry>),
    Held(Box<Quarantined>),
}

impl Found {
    fn unnamed(&mut self) -> Option<Unnamed<'_>> {
        match self {
            Self::Known(_) => None,
            Self::New(entry) => Some(Unnamed {
                id: &entry.descriptor.id,
                older_major: entry.superseded_by.map(|_| entry.descriptor.version.major),
                unprefixed: entry.descriptor.unprefixed,
                source: &entry.source,
                wire: &mut entry.wire,
            }),
            Self::Held(held) => Some(Unnamed {
                unprefixed: held.unprefixed(),
                id: &held.id,
                older_major: None,
                source: &held.source,
                wire: &mut held.wire,
            }),
        }
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
