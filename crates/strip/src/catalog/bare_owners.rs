//! Owners of bare names. A bare name belongs to the server that had it first, also while that server is off: otherwise
//! its callers would reach a tool of another server.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use proto::{Code, Failure, OWN_SERVER, OWN_SERVER_ALIAS, ToolId, WEB_RESEARCH};
use serde_json::json;

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
    /// Starts from stored pairs of name and owners.
    pub(super) fn from_stored(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        let owners = |text: &str| text.split(' ').filter_map(|id| id.parse().ok()).collect();
        let by_name = pairs.into_iter().map(|(name, stored)| (name, owners(&stored))).collect();
        let owners = Arc::new(BareOwners { by_name, servers: HashSet::new() });
        Self { owners, ..Self::default() }
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
mod tests {
    use super::*;

    fn id(text: &str) -> ToolId {
        text.parse().expect("an id")
    }

    fn names(list: &[&str]) -> HashSet<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    fn owners(claims: &BareClaims, name: &str) -> Vec<String> {
        claims.owners().of(name).into_iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_name_stays_with_its_first_server_until_that_is_removed() {
        let mut claims = BareClaims::default();
        claims.set_servers(names(&["a", "b"]), names(&[]));
        claims.offer("danger", &id("a:danger"));
        claims.claim();
        claims.offer("danger", &id("b:danger"));
        claims.claim();
        assert_eq!(owners(&claims, "danger"), ["a:danger"]);
        assert!(claims.is_taken("danger", &id("b:danger")));

        let stored = claims.take_new();
        assert_eq!(stored, [("danger".to_owned(), "a:danger".to_owned())]);
        let mut again = BareClaims::from_stored(stored);
        again.set_servers(names(&["a", "b"]), names(&[]));
        again.offer("danger", &id("b:danger"));
        again.claim();
        assert_eq!(owners(&again, "danger"), ["a:danger"], "after a restart without `a`");

        again.set_servers(names(&["b"]), names(&[]));
        assert_eq!(owners(&again, "danger"), [""; 0]);
        again.offer("danger", &id("b:danger"));
        again.claim();
        assert_eq!(owners(&again, "danger"), ["b:danger"]);
        again.set_servers(names(&["a", "b"]), names(&[]));
        assert_eq!(owners(&again, "danger"), ["b:danger"]);
    }

    #[test]
    fn servers_that_start_together_have_equal_claims() {
        let mut claims = BareClaims::default();
        claims.set_servers(names(&["a", "b", "c"]), names(&["server a", "server b", "server c"]));
        for (source, tool) in [("server b", "b:x"), ("server a", "a:x")] {
            claims.arrived(source);
            claims.offer("x", &id(tool));
            claims.claim();
            assert_eq!(owners(&claims, "x"), [""; 0], "`c` may have it too");
        }
        claims.settle();
        claims.claim();
        assert_eq!(owners(&claims, "x"), ["a:x", "b:x"]);
        claims.set_servers(names(&["b"]), names(&[]));
        assert_eq!(owners(&claims, "x"), ["b:x"], "`a` was removed");
    }

    #[test]
    fn a_tool_cannot_have_the_wire_name_of_another_server() {
        let mut claims = BareClaims::default();
        claims.set_servers(names(&["good", "my.crm", "evil"]), names(&[]));
        for name in ["good__danger", "my_crm__read", "powerstrip__abort", "agentcards__abort"] {
            assert!(claims.is_taken(name, &id(&format!("evil:{name}"))), "{name}");
        }
        for (name, tool) in [("good__x", "good:good__x"), ("other__x", "evil:other__x")] {
            assert!(!claims.is_taken(name, &id(tool)), "{name}");
        }
    }

    #[test]
    fn the_gateway_takes_its_own_names() {
        let mut claims = BareClaims::from_stored([("x".to_owned(), "a:x".to_owned())]);
        claims.set_servers(names(&["a"]), names(&[]));
        claims.give("x", &id("powerstrip:x"));
        assert_eq!(owners(&claims, "x"), ["powerstrip:x"]);
        claims.give("x", &id("powerstrip:x"));
        assert_eq!(claims.take_new().len(), 1);
    }

    #[test]
    fn a_registered_server_keeps_its_names_until_they_are_released() {
        let mut claims = BareClaims::default();
        claims.add_registered("a");
        claims.offer("x", &id("a:x"));
        claims.claim();
        claims.set_servers(names(&["b"]), names(&[]));
        assert_eq!(owners(&claims, "x"), ["a:x"]);
        claims.release("a");
        assert_eq!(owners(&claims, "x"), [""; 0]);
    }
}
