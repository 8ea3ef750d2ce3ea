use std::collections::{HashMap, HashSet};

use proto::{ToolId, wire};

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
    new: Vec<(String, String)>,
    /// Sources whose unprefixed tools get contested names, the first of them first.
    order: Vec<String>,
    /// Those that have not published yet.
    awaited: HashSet<String>,
    /// Names without a prefix whose tools lose them if an awaited source offers them.
    provisional: HashSet<String>,
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
            names.by_name.insert(name.clone(), key.clone());
            names.by_key.insert(key, name);
        }
        names
    }

    /// Sets the order of sources with unprefixed tools. Until all have published, the names of later ones are provisional.
    pub(super) fn set_order(&mut self, order: Vec<String>, published: impl Fn(&str) -> bool) {
        self.awaited = order.iter().filter(|source| !published(source)).cloned().collect();
        self.order = order;
    }

    /// Notes that a source has published.
    pub(super) fn arrived(&mut self, source: &str) {
        self.awaited.remove(source);
    }

    /// Makes all names final, also those that a source that has not published comes first for.
    pub(super) fn settle(&mut self) {
        self.awaited.clear();
    }

    /// The place of a source in the order; unlisted ones come last.
    pub(super) fn place(&self, source: &str) -> usize {
        self.order.iter().position(|known| known == source).unwrap_or(usize::MAX)
    }

    fn awaits_earlier(&self, source: &str) -> bool {
        let place = self.place(source);
        self.order.iter().take(place).any(|earlier| self.awaited.contains(earlier))
    }

    /// The wire name of a tool; assigns one if it has none yet.
    pub(super) fn assign(&mut self, tool: &Unnamed<'_>) -> String {
        let Unnamed { id, older_major, unprefixed, source, .. } = *tool;
        let key = older_major.map_or_else(|| id.to_string(), |major| format!("{id}@{major}"));
        if unprefixed && let Some(bare) = wire::unprefixed(id, older_major) {
            // A tool keeps both its names, with and without the server's prefix.
            let key = format!("{key} unprefixed");
            match self.by_name.get(&bare) {
                None if self.provisional.contains(&bare) => {}
                None if self.awaits_earlier(source) => {
                    self.provisional.insert(bare.clone());
                    return bare;
                }
                None => return self.give(key, bare),
                Some(owner) if *owner == key => return bare,
                Some(_) => {}
            }
        }
        if let Some(name) = self.by_key.get(&key) {
            return name.clone();
        }
        let mut name = wire::preferred(id, older_major);
        if self.by_name.contains_key(&name) {
            name = wire::hashed(id, older_major);
        }
        self.give(key, name)
    }

    fn give(&mut self, key: String, name: String) -> String {
        self.by_name.insert(name.clone(), key.clone());
        self.by_key.insert(key.clone(), name.clone());
        self.new.push((key, name.clone()));
        name
    }

    /// Takes back all provisional names, which are assigned again in the order of the config.
    pub(super) fn take_provisional(&mut self) -> HashSet<String> {
        std::mem::take(&mut self.provisional)
    }

    pub(super) fn take_new(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.new)
    }
}
