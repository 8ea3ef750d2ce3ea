//! Owners of bare names. A bare name belongs to the server that had it first, also while that server is off: otherwise
//! its callers would reach a tool of another server.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use proto::{Code, Failure, OWN_SERVER, OWN_SERVER_ALIAS, ToolId, WEB_RESEARCH};
use serde_json::json;
use store::StoreError;

/// The owner of each bare name, and the servers that there are. Names of servers that were removed are free.
#[derive(Clone, Debug, Default)]
pub(super) struct BareOwners {
    by_name: HashMap<String, Vec<ToolId>>,
    servers: HashSet<String>,
}

impl BareOwners {
    /// The tools that a bare name belongs to. More than one: the name is ambiguous. None: it has no owner.
    pub(super) fn of(&self, name: &str) -> Vec<&ToolId> {
        let owners = self.by_name.get(name).into_iter().flatten();
        owners.filter(|id| id.server().is_none_or(|server| self.knows(server))).collect()
    }

    /// Whether there is a server of this name, used or not.
    pub(super) fn knows(&self, server: &str) -> bool {
        is_own(server) || self.servers.contains(server)
    }

    /// Whether the name of a tool looks like the wire name of another server's tool, which may not be listed yet.
    pub(super) fn imitates(&self, name: &str, tool: &ToolId) -> bool {
        let Some((prefix, _)) = name.split_once("__") else { return false };
        let is_other =
            |server: &str| tool.server() != Some(server) && server.replace('.', "_") == prefix;
        [OWN_SERVER, OWN_SERVER_ALIAS, WEB_RESEARCH].into_iter().any(is_other)
            || self.servers.iter().any(|server| is_other(server))
    }

    /// Only the owners for which `keep` returns true.
    pub(super) fn narrowed(&self, keep: impl Fn(&ToolId) -> bool) -> Self {
        let mut narrowed = self.clone();
        for owners in narrowed.by_name.values_mut() {
            owners.retain(&keep);
        }
        narrowed.by_name.retain(|_, owners| !owners.is_empty());
        narrowed
    }
}

fn is_own(server: &str) -> bool {
    server == OWN_SERVER || server == WEB_RESEARCH
}

/// The failure of a call by a bare name whose owner does not offer the tool now; none if the owner is the gateway itself.
pub(super) fn absent(name: &str, owner: &ToolId) -> Option<Failure> {
    let server = owner.server().filter(|server| !is_own(server))?;
    let message = format!(
        "`{name}` is a tool of server `{server}`, which does not offer it now; start that server, or name the tool of \
         another server with its server"
    );
    let details = json!({"tool": owner, "server": server});
    Some(Failure::new(Code::Unavailable, message).details(details))
}

/// Assigns owners to bare names.
#[derive(Debug, Default)]
pub(super) struct BareClaims {
    owners: Arc<BareOwners>,
    /// Names whose owners are not stored yet.
    new: HashSet<String>,
    /// Servers of the config, and those that registered themselves.
    configured: HashSet<String>,
    registered: HashSet<String>,
    /// Sources that have not published yet. Until they have, names without an owner stay so: servers that start
    /// together have equal claims.
    awaited: HashSet<String>,
    /// Names without an owner, and the tools that have them.
    offered: HashMap<String, Vec<ToolId>>,
}

impl BareClaims {
    /// Starts from stored pairs of name and owners. Without a damaged owner, its name would go to another server's tool.
    pub(super) fn from_stored(
        pairs: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, StoreError> {
        let mut by_name = HashMap::new();
        for (name, stored) in pairs {
            let owners: Result<Vec<ToolId>, _> = stored.split(' ').map(str::parse).collect();
            let owners = owners.map_err(|_| StoreError::Unreadable {
                column: "owners",
                value: stored.chars().take(100).collect(),
            })?;
            by_name.insert(name, owners);
        }
        let owners = Arc::new(BareOwners { by_name, servers: HashSet::new() });
        Ok(Self { owners, ..Self::default() })
    }

    pub(super) fn owners(&self) -> &Arc<BareOwners> {
        &self.owners
    }

    /// Sets the servers of the config, and the sources that are expected to publish.
    pub(super) fn set_servers(&mut self, servers: HashSet<String>, awaited: HashSet<String>) {
        self.configured = servers;
        self.awaited = awaited;
        self.update_servers();
    }

    /// Notes a server that registered itself: it keeps its names while it is away.
    pub(super) fn add_registered(&mut self, server: &str) {
        if !self.owners.knows(server) && self.registered.insert(server.to_owned()) {
            self.update_servers();
        }
    }

    /// Frees the names of a server that had registered itself.
    pub(super) fn release(&mut self, server: &str) {
        self.registered.remove(server);
        self.update_servers();
    }

    fn update_servers(&mut self) {
        let servers = self.configured.union(&self.registered).cloned().collect();
        if self.owners.servers != servers {
            Arc::make_mut(&mut self.owners).servers = servers;
        }
    }

    pub(super) fn arrived(&mut self, source: &str) {
        self.awaited.remove(source);
    }

    pub(super) fn settle(&mut self) {
        self.awaited.clear();
    }

    /// Whether a name belongs to other tools than this one.
    pub(super) fn is_taken(&self, name: &str, tool: &ToolId) -> bool {
        let mut owners = self.owners.of(name).into_iter();
        owners.any(|owner| owner != tool) || self.owners.imitates(name, tool)
    }

    /// Notes that a server's tool has this bare name.
    pub(super) fn offer(&mut self, name: &str, tool: &ToolId) {
        if self.owners.of(name).is_empty() {
            let offered = self.offered.entry(name.to_owned()).or_default();
            if !offered.contains(tool) {
                offered.push(tool.clone());
            }
        }
    }

    /// Gives a name to a tool, also if it has another owner.
    pub(super) fn give(&mut self, name: &str, tool: &ToolId) {
        self.offered.remove(name);
        if self.owners.of(name) != [tool] {
            self.own(name.to_owned(), vec![tool.clone()]);
        }
    }

    /// Gives names without an owner to the tools that have them, unless other sources have yet to publish.
    pub(super) fn claim(&mut self) {
        if !self.awaited.is_empty() {
            return;
        }
        for (name, mut tools) in std::mem::take(&mut self.offered) {
            if self.owners.of(&name).is_empty() {
                tools.sort();
                self.own(name, tools);
            }
        }
    }

    fn own(&mut self, name: String, tools: Vec<ToolId>) {
        self.new.insert(name.clone());
        Arc::make_mut(&mut self.owners).by_name.insert(name, tools);
    }

    pub(super) fn take_new(&mut self) -> Vec<(String, String)> {
        let stored = |name: String| {
            let owners = self.owners.by_name.get(&name)?;
            let owners: Vec<_> = owners.iter().map(ToolId::as_str).collect();
            Some((name, owners.join(" ")))
        };
        std::mem::take(&mut self.new).into_iter().filter_map(stored).collect()
    }
}

#[cfg(test)]
mod tests;
