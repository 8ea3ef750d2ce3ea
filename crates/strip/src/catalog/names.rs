use std::collections::{HashMap, HashSet};

use proto::{OWN_SERVER, ToolId, WEB_RESEARCH, wire};
use store::{DamagedName, StoreError, StoredWireNames};

use super::bare_owners::BareClaims;
use super::entry::BUILT_IN;

/// The end of the key of a name without the server's prefix.
const UNPREFIXED: &str = " unprefixed";

/// The most names that are remembered of one server. One that lists ever new names could fill memory and disk.
pub(super) const MAX_NAMES: usize = 20_000;

/// Which of a tool's two names a listing shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameStyle {
    /// `[A-Za-z0-9_-]`, accepted by every client and LLM API.
    #[default]
    Wire,
    /// The id itself.
    Canonical,
}

/// The assigned wire names. A tool keeps its name for ever, because clients and their permissions remember it.
#[derive(Debug, Default)]
pub struct WireNames {
    by_key: HashMap<String, String>,
    by_name: HashMap<String, String>,
    /// How many names each server's tools have.
    by_server: HashMap<String, usize>,
    new: Vec<(String, String)>,
    /// Sources whose unprefixed tools get contested names, the first of them first.
    order: Vec<String>,
    /// The sources of `order` that have not published yet.
    awaited: HashSet<String>,
    /// Names without a prefix whose tools lose them if an awaited source offers them.
    provisional: HashSet<String>,
    bare: BareClaims,
}

/// A tool that needs a wire name.
pub(super) struct Unnamed<'a> {
    pub(super) id: &'a ToolId,
    pub(super) older_major: Option<u64>,
    pub(super) unprefixed: bool,
    pub(super) source: &'a str,
    pub(super) wire: &'a mut String,
}

impl WireNames {
    /// Starts from stored pairs of (tool key, wire name).
    pub fn from_stored(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut names = Self::default();
        for (key, name) in pairs {
            names.remember(key, name);
        }
        names
    }

    /// Starts from all stored names. What is damaged gives no other tool a name that belonged to one.
    pub fn open(stored: StoredWireNames) -> Self {
        let mut names = Self::from_stored(stored.pairs);
        let mut nameless = Vec::new();
        for damaged in stored.damaged {
            match damaged {
                DamagedName::NameOf(key) => nameless.push(key),
                // No key is empty, so no tool gets the name.
                DamagedName::ToolOf(name) => drop(names.by_name.insert(name, String::new())),
            }
        }
        // After all names that are taken.
        nameless.iter().for_each(|key| names.restore(key));
        names
    }

    /// Gives a key the name that it had: names follow from the tool and from the names that others have.
    fn restore(&mut self, key: &str) {
        let Some(id) = tool_of(key) else { return };
        let bare = key.strip_suffix(UNPREFIXED);
        let major = bare.unwrap_or(key).split_once('@').and_then(|(_, major)| major.parse().ok());
        let name = match bare {
            Some(_) => wire::unprefixed(&id, major),
            None => Some(self.free_name(&id, major)),
        };
        if let Some(name) = name.filter(|name| !self.by_name.contains_key(name)) {
            self.give(key.to_owned(), name);
        }
    }

    /// Adds stored pairs of (bare name, owners).
    pub fn with_bare(
        mut self,
        pairs: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, StoreError> {
        self.bare = BareClaims::from_stored(pairs)?;
        Ok(self)
    }

    pub(super) fn bare(&mut self) -> &mut BareClaims {
        &mut self.bare
    }

    /// Sets the order of sources with unprefixed tools. Until all have published, the names of later ones are provisional.
    pub(super) fn set_order(&mut self, order: Vec<String>, published: impl Fn(&str) -> bool) {
        self.awaited = order.iter().filter(|source| !published(source)).cloned().collect();
        self.order = order;
    }

    /// Notes that a source has published.
    pub(super) fn arrived(&mut self, source: &str) {
        self.awaited.remove(source);
        self.bare.arrived(source);
    }

    /// Makes all names final, also those that a source that has not published comes first for.
    pub(super) fn settle(&mut self) {
        self.awaited.clear();
        self.bare.settle();
    }

    /// The place of a source in the order; unlisted ones come last.
    pub(super) fn place(&self, source: &str) -> usize {
        self.order.iter().position(|known| known == source).unwrap_or(usize::MAX)
    }

    fn awaits_earlier(&self, source: &str) -> bool {
        let place = self.place(source);
        self.order.iter().take(place).any(|earlier| self.awaited.contains(earlier))
    }

    /// Whether a tool has a name or may get one.
    pub(super) fn have_room_for(&self, id: &ToolId) -> bool {
        let Some(server) = id.server() else { return true };
        self.by_server.get(server).is_none_or(|count| *count < MAX_NAMES)
            || self.by_key.contains_key(id.as_str())
            || self.by_key.contains_key(&format!("{id}{UNPREFIXED}"))
    }

    /// The wire name of a tool; assigns one if it has none yet.
    pub(super) fn assign(&mut self, tool: &Unnamed<'_>) -> String {
        let Unnamed { id, older_major, unprefixed, source, .. } = *tool;
        let key = older_major.map_or_else(|| id.to_string(), |major| format!("{id}@{major}"));
        if older_major.is_none() {
            self.note_bare(tool);
        }
        let unprefixed = wire::unprefixed(id, older_major).filter(|_| unprefixed);
        if let Some(bare) = unprefixed.filter(|bare| !self.bare.is_taken(bare, id)) {
            // A tool keeps both its names, with and without the server's prefix.
            let key = key.clone() + UNPREFIXED;
            match self.by_name.get(&bare) {
                None if self.provisional.contains(&bare) => {}
                None if self.awaits_earlier(source) => {
                    self.provisional.insert(bare.clone());
                    return bare;
                }
                None => {
                    self.bare.give(&bare, id);
                    return self.give(key, bare);
                }
                Some(owner) if *owner == key => {
                    self.bare.give(&bare, id);
                    return bare;
                }
                Some(_) => {}
            }
        }
        if let Some(name) = self.by_key.get(&key) {
            return name.clone();
        }
        let name = self.free_name(id, older_major);
        self.give(key, name)
    }

    fn free_name(&self, id: &ToolId, older_major: Option<u64>) -> String {
        let name = wire::preferred(id, older_major);
        if self.by_name.contains_key(&name) { wire::hashed(id, older_major) } else { name }
    }

    /// Notes the bare names of a server's tool. Those of built-in tools belong to the gateway.
    fn note_bare(&mut self, tool: &Unnamed<'_>) {
        let (id, Some(server)) = (tool.id, tool.id.server()) else { return };
        let built_in =
            server == OWN_SERVER || server == WEB_RESEARCH && tool.source.starts_with(BUILT_IN);
        let own = id.name();
        let wire = wire::unprefixed(id, None).filter(|wire| wire != own);
        for name in [Some(own), wire.as_deref()].into_iter().flatten() {
            if built_in {
                self.bare.give(name, id);
                continue;
            }
            // The wire name of another tool is no bare name of this one.
            let key = self.by_name.get(name);
            if key.is_some_and(String::is_empty) {
                continue;
            }
            let owner = key.and_then(|key| tool_of(key));
            let is_known = |owner: &ToolId| {
                owner.server().is_none_or(|server| self.bare.owners().knows(server))
            };
            let owner = owner.filter(is_known);
            self.bare.offer(name, owner.as_ref().unwrap_or(id));
        }
    }

    fn give(&mut self, key: String, name: String) -> String {
        self.remember(key.clone(), name.clone());
        self.new.push((key, name.clone()));
        name
    }

    fn remember(&mut self, key: String, name: String) {
        let server = tool_of(&key).and_then(|id| Some(id.server()?.to_owned()));
        self.by_name.insert(name.clone(), key.clone());
        let is_new = self.by_key.insert(key, name).is_none();
        if let Some(server) = server.filter(|_| is_new) {
            *self.by_server.entry(server).or_default() += 1;
        }
    }

    /// Takes back all provisional names, which are assigned again in the order of the config.
    pub(super) fn take_provisional(&mut self) -> HashSet<String> {
        std::mem::take(&mut self.provisional)
    }

    pub(super) fn take_new(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.new)
    }
}

/// The tool of a stored key.
fn tool_of(key: &str) -> Option<ToolId> {
    key.split([' ', '@']).next()?.parse().ok()
}
