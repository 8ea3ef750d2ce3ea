//! The trusted definitions of servers' tools. A server may change a definition after it was trusted, so a tool whose
//! definition differs from the pinned one is not served until it is approved.

use std::collections::{HashMap, HashSet};

use proto::{Descriptor, Digest, canonical, digest, digest_of_parts};
use serde_json::{Value, json};
use store::{DamagedPin, Pin, PinnedDefinition, StoredPins};

/// The version of the digest's input. A change must keep comparing pins of earlier versions as they were made: where one
/// still fits, it is replaced without asking.
const FORM: u32 = 2;

/// The form before: without what [`PARTS`] has beyond its first parts, and without unknown annotations.
const FIRST_FORM: u32 = 1;
const FIRST_PARTS: usize = 5;

/// More tools of one server than this are not trusted on first use: it could fill the disk with new names.
const MAX_PINS: usize = 20_000;

/// The names of a definition's parts in messages.
const PARTS: [&str; 9] = [
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
    "_meta",
    "icons",
    "execution",
    "other fields",
];

/// Keys of `_meta` that may differ in every list: trace context and progress.
const VOLATILE_META: [&str; 4] = ["traceparent", "tracestate", "baggage", "progressToken"];

/// The annotations of the first form.
const FIRST_ANNOTATIONS: [&str; 6] =
    ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", FILES];

/// The key of a tool's file rule among its annotations.
const FILES: &str = "files";

/// The server of a tool, and whether its tools are trusted on first use.
#[derive(Clone, Copy, Debug)]
pub struct Pinning<'a> {
    pub server: &'a str,
    /// The server's own name for it: under another name in the catalog it is still the same tool.
    pub tool: &'a str,
    pub first_use: bool,
    /// Whether the server registered itself, and so may come back under any number of names.
    pub announced: bool,
    /// The definition as the server lists it.
    pub listed: Option<&'a Value>,
}

/// QuarantineReason a tool is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuarantineReason {
    /// Its definition has changed.
    Changed,
    /// It has not been approved yet.
    New,
    /// Its server has offered too many tools.
    TooMany,
}

/// The digests of a definition's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartDigests([Digest; PARTS.len()]);

/// Whether a tool's definition is trusted.
pub(super) enum Verdict {
    /// It is as it was pinned.
    Trusted,
    /// The tool may be served, and is pinned with this definition.
    FirstSeen(Box<PinnedDefinition>),
    /// It is as it was pinned in an earlier form, and is pinned in the current one.
    Renewed(Box<PinnedDefinition>),
    /// It would exceed the limit of tools of self-registered servers.
    Crowded,
    Refused {
        why: QuarantineReason,
        changed: Vec<&'static str>,
        definition: Digest,
    },
}

/// The fault of a tool that exceeds the limit of tools of self-registered servers. Nothing of it is stored.
pub(super) const CROWDED: &str = "servers that register themselves have brought as many different tools as \
    `registration.max_tools` lets them; raise it, or free names with `powerstrip servers release NAME`";

/// All pins.
#[derive(Debug)]
pub struct Pins {
    by_server: HashMap<String, HashMap<String, Pinned>>,
    /// Servers that registered themselves.
    announced: HashSet<String>,
    /// How many pins those have together, and how many they may have.
    announced_pins: usize,
    max_announced: usize,
    new: Vec<PinnedDefinition>,
    unread: UnreadPins,
}

/// Where pins are stored whose tools cannot be read: any tool without a pin may be one of these.
#[derive(Debug, Default)]
struct UnreadPins {
    servers: HashSet<String>,
    /// Whether the server of one cannot be read either.
    anywhere: bool,
}

/// The digests of a pin.
#[derive(Clone, Copy, Debug)]
enum Pinned {
    Current(PartDigests),
    First([Digest; FIRST_PARTS]),
    /// Digests of a form that this version does not know.
    Unknown,
}

impl Default for Pins {
    fn default() -> Self {
        let (by_server, announced) = (HashMap::new(), HashSet::new());
        Self {
            by_server,
            announced,
            announced_pins: 0,
            max_announced: MAX_PINS,
            new: Vec::new(),
            unread: UnreadPins::default(),
        }
    }
}

impl Pins {
    /// Starts from stored pins.
    pub fn from_stored(stored: impl IntoIterator<Item = Pin>) -> Self {
        let mut pins = Self::default();
        for pin in stored {
            pins.set(&pin);
        }
        pins
    }

    /// Starts from all stored pins. What a damaged one may be about is trusted only once it is approved.
    pub fn open(stored: StoredPins) -> Self {
        let mut pins = Self::from_stored(stored.pins);
        for damaged in stored.damaged {
            match damaged {
                DamagedPin { server: Some(server), tool: Some(tool) } => {
                    pins.by_server.entry(server).or_default().insert(tool, Pinned::Unknown);
                }
                DamagedPin { server: Some(server), tool: None } => {
                    pins.unread.servers.insert(server);
                }
                DamagedPin { server: None, .. } => pins.unread.anywhere = true,
            }
        }
        pins
    }

    /// Sets which servers registered themselves, and how many pins those may have together.
    #[must_use]
    pub fn with_announced(
        mut self,
        servers: impl IntoIterator<Item = String>,
        room: usize,
    ) -> Self {
        for server in servers {
            self.announce(&server);
        }
        self.max_announced = room;
        self
    }

    /// Trusts a definition in place of the one before.
    pub(super) fn set(&mut self, pin: &Pin) {
        let digests = Pinned::of(pin);
        let known = self.by_server.entry(pin.server.clone()).or_default();
        let is_new = known.insert(pin.tool.clone(), digests).is_none();
        self.announced_pins += usize::from(is_new && self.announced.contains(&pin.server));
    }

    fn announce(&mut self, server: &str) {
        if self.announced.insert(server.to_owned()) {
            self.announced_pins += self.by_server.get(server).map_or(0, HashMap::len);
        }
    }

    /// Trusts a new definition and queues it to be stored; returns false if the limit is reached.
    pub(super) fn add(&mut self, pin: PinnedDefinition, announced: bool) -> bool {
        if announced {
            self.announce(&pin.pin.server);
            let known = self.by_server.get(&pin.pin.server);
            let is_known = known.is_some_and(|known| known.contains_key(&pin.pin.tool));
            if self.is_full() && !is_known {
                return false;
            }
        }
        self.set(&pin.pin);
        self.new.push(pin);
        true
    }

    pub(super) fn take_new(&mut self) -> Vec<PinnedDefinition> {
        std::mem::take(&mut self.new)
    }

    /// Whether self-registered servers have as many pins as they may have.
    fn is_full(&self) -> bool {
        self.announced_pins >= self.max_announced
    }

    pub(super) fn judge(&self, pinning: Pinning<'_>, offered: &Descriptor) -> Verdict {
        let parts = parts(offered, pinning.listed);
        let digests = PartDigests::of(&parts);
        let definition = digests.whole();
        let refused = |why, changed| Verdict::Refused { why, changed, definition };
        let known = self.by_server.get(pinning.server);
        match known.and_then(|known| known.get(pinning.tool)) {
            Some(Pinned::Current(pinned)) if *pinned == digests => Verdict::Trusted,
            Some(Pinned::Current(pinned)) => {
                refused(QuarantineReason::Changed, changed(&pinned.0, &digests.0))
            }
            Some(Pinned::First(pinned)) => match changed(pinned, &first_digests(&parts)) {
                same if same.is_empty() => {
                    Verdict::Renewed(Box::new(made(pinning, digests, &parts)))
                }
                changed => refused(QuarantineReason::Changed, changed),
            },
            Some(Pinned::Unknown) => refused(QuarantineReason::Changed, PARTS.to_vec()),
            None if !pinning.first_use || self.unread.may_have(pinning.server) => {
                refused(QuarantineReason::New, Vec::new())
            }
            None if known.is_some_and(|known| known.len() >= MAX_PINS) => {
                refused(QuarantineReason::TooMany, Vec::new())
            }
            None if pinning.announced && self.is_full() => Verdict::Crowded,
            None => Verdict::FirstSeen(Box::new(made(pinning, digests, &parts))),
        }
    }
}

impl UnreadPins {
    /// Whether a pin of this server may be among them.
    fn may_have(&self, server: &str) -> bool {
        self.anywhere || self.servers.contains(server)
    }
}

impl PartDigests {
    fn of(parts: &[Value; PARTS.len()]) -> Self {
        Self(parts.each_ref().map(|part| digest(&canonical::bytes(part))))
    }

    /// One digest for the whole definition.
    fn whole(&self) -> Digest {
        digest_of_parts(self.0.each_ref().map(|hash| hash.as_bytes().as_slice()))
    }
}

impl Pinned {
    fn of(pin: &Pin) -> Self {
        let digests = digests_of(&pin.digests).unwrap_or_default();
        let pinned = match pin.form {
            FORM => digests.try_into().ok().map(|digests| Self::Current(PartDigests(digests))),
            FIRST_FORM => digests.try_into().ok().map(Self::First),
            _ => None,
        };
        pinned.unwrap_or(Self::Unknown)
    }
}

/// The digests in a stored text.
fn digests_of(text: &str) -> Option<Vec<Digest>> {
    let digest = |hash: &[u8]| std::str::from_utf8(hash).ok()?.parse().ok();
    text.as_bytes().chunks(64).map(digest).collect()
}

/// The names of the parts whose digests differ.
fn changed(before: &[Digest], now: &[Digest]) -> Vec<&'static str> {
    let parts = PARTS.iter().zip(before.iter().zip(now));
    parts.filter(|(_, (before, now))| before != now).map(|(part, _)| *part).collect()
}

/// The digests of the first form.
fn first_digests(parts: &[Value; PARTS.len()]) -> [Digest; FIRST_PARTS] {
    std::array::from_fn(|at| match &parts[at] {
        Value::Object(annotations) if PARTS[at] == "annotations" => {
            let mut known = annotations.clone();
            known.retain(|key, _| FIRST_ANNOTATIONS.contains(&key.as_str()));
            digest(&canonical::bytes(&Value::Object(known)))
        }
        part => digest(&canonical::bytes(part)),
    })
}

/// A pin of a tool's present definition.
pub(super) fn pin(pinning: Pinning<'_>, offered: &Descriptor) -> PinnedDefinition {
    let parts = parts(offered, pinning.listed);
    made(pinning, PartDigests::of(&parts), &parts)
}

/// A tool's definition, as it is pinned and compared.
pub(super) fn definition(pinning: Pinning<'_>, offered: &Descriptor) -> Value {
    joined(&parts(offered, pinning.listed))
}

fn made(
    pinning: Pinning<'_>,
    digests: PartDigests,
    parts: &[Value; PARTS.len()],
) -> PinnedDefinition {
    PinnedDefinition {
        pin: Pin {
            server: pinning.server.to_owned(),
            tool: pinning.tool.to_owned(),
            form: FORM,
            digests: digests.0.map(|hash| hash.to_string()).concat(),
        },
        definition: joined(parts).to_string(),
    }
}

fn joined(parts: &[Value; PARTS.len()]) -> Value {
    PARTS.iter().zip(parts).map(|(name, part)| ((*name).to_owned(), part.clone())).collect()
}

/// Everything that a model or a person is shown, before cleaning, because an invisible change is a change, too. The id and
/// the limits are left out: those are the operator's.
fn parts(offered: &Descriptor, listed: Option<&Value>) -> [Value; PARTS.len()] {
    let listed = |key: &str| listed.and_then(|listed| listed.get(key));
    let mut annotations = json!(offered.annotations);
    for (key, value) in listed("annotations").and_then(Value::as_object).into_iter().flatten() {
        if !FIRST_ANNOTATIONS.contains(&key.as_str()) {
            annotations[key] = value.clone();
        }
    }
    if let Some(files) = &offered.files {
        // A tool that starts to receive files is a different tool.
        annotations[FILES] = json!(files);
    }
    let mut meta = offered.meta.clone().unwrap_or_default();
    meta.retain(|key, _| !VOLATILE_META.contains(&key.as_str()));
    let mut others = offered.extra.clone();
    others.retain(|key, _| !PARTS.contains(&key.as_str()));
    let mut parts = [
        json!(offered.title),
        json!(offered.description),
        offered.input_schema.clone(),
        json!(offered.output_schema),
        annotations,
        Value::Object(meta),
        json!(listed("icons")),
        json!(listed("execution")),
        Value::Object(others),
    ];
    parts.iter_mut().for_each(sort_sets);
    parts
}

/// Sorts `required` lists: some servers write them in another order at every start.
fn sort_sets(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, item) in map.iter_mut() {
                match item {
                    Value::Array(names)
                        if key == "required" && names.iter().all(Value::is_string) =>
                    {
                        names.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
                    }
                    item => sort_sets(item),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(sort_sets),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
