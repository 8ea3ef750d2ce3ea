use std::collections::HashMap;

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

    /// The wire name of a tool; assigns one if it has none yet.
    pub(super) fn assign(
        &mut self,
        id: &ToolId,
        older_major: Option<u64>,
        unprefixed: bool,
    ) -> String {
        let key = older_major.map_or_else(|| id.to_string(), |major| format!("{id}@{major}"));
        if unprefixed && let Some(bare) = wire::unprefixed(id, older_major) {
            // A tool keeps both its names, with and without the server's prefix.
            let key = format!("{key} unprefixed");
            match self.by_name.get(&bare) {
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

    pub(super) fn take_new(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.new)
    }
}
