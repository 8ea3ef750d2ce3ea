use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use auth::client::Holder;
use egress::http::AddressPolicy;
use futures_util::future::join_all;
use serde_json::Value;
use server_entry::ServerConfig;

use crate::deps::{Deps, OtherOfferings, ToolList};
use crate::status::Status;
use crate::upstream::{Before, Upstream};

/// Every server of the config, and those that registered themselves.
pub struct Upstreams {
    deps: Deps,
    servers: Mutex<BTreeMap<String, Arc<Upstream>>>,
    /// Serializes changes of the table.
    applying: tokio::sync::Mutex<()>,
}

impl Upstreams {
    /// Starts to connect every server, and returns at once.
    pub fn start(servers: Vec<(String, ServerConfig)>, deps: Deps) -> Self {
        let started = servers.into_iter().map(|(name, config)| {
            let upstream = Upstream::start(&name, config, &deps, Before::default());
            (name, upstream)
        });
        let servers = Mutex::new(started.collect());
        Self { deps, servers, applying: tokio::sync::Mutex::new(()) }
    }

    fn servers(&self) -> BTreeMap<String, Arc<Upstream>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Applies a new config; servers whose entry has not changed are not touched.
    pub async fn apply(&self, servers: Vec<(String, ServerConfig)>) {
        let _one = self.applying.lock().await;
        let mut configured: BTreeMap<String, ServerConfig> = servers.into_iter().collect();
        let names: Vec<String> = configured.keys().cloned().collect();
        let is_alike =
            |name: &str| proto::check_look_alike(name, names.iter().map(String::as_str)).is_err();
        let mut stopped = Vec::new();
        for (name, upstream) in self.servers() {
            if configured.get(&name) == Some(upstream.config()) {
                configured.remove(&name);
            } else if upstream.config().is_announced()
                && !configured.contains_key(&name)
                && !is_alike(&name)
            {
                // A registered server ends with its leases, unless the config names a server like it.
            } else {
                stopped.push(upstream);
            }
        }
        join_all(stopped.iter().map(|upstream| upstream.stop())).await;
        let mut table = self.servers();
        for old in stopped {
            let name = old.name().to_owned();
            table.remove(&name);
            // The same server under a changed config keeps its list until it is listed again.
            let stays = configured.get(&name).is_some_and(|config| {
                !config.disabled
                    && config.missing.is_empty()
                    && config.origin() == old.config().origin()
                    && config.faults(&name).is_empty()
            });
            if !stays {
                (self.deps.publish)(&name, Vec::new());
                self.deps.servers.remove(&name);
            }
            if let Some(config) = configured.remove(&name) {
                let mut before = old.inheritance();
                before.list = before.list.filter(|_| stays);
                table.insert(name.clone(), Upstream::start(&name, config, &self.deps, before));
            }
        }
        for (name, config) in configured {
            let upstream = Upstream::start(&name, config, &self.deps, Before::default());
            table.insert(name, upstream);
        }
        *self.servers.lock().unwrap_or_else(PoisonError::into_inner) = table;
    }

    /// The addresses that may be reached.
    pub(crate) fn policy(&self) -> &AddressPolicy {
        self.deps.http.policy()
    }

    /// A list that a server sent with its announcement.
    pub(crate) fn announced_list(&self, config: &ServerConfig, tools: Vec<Value>) -> Arc<ToolList> {
        Arc::new(ToolList {
            tools: tools.into_iter().map(Arc::new).collect(),
            listed_at: self.deps.clock.unix_ms(),
            era: None,
            origin: config.origin(),
            other: OtherOfferings::default(),
        })
    }

    /// Whether this server is still in the table.
    pub(crate) fn holds(&self, upstream: &Arc<Upstream>) -> bool {
        self.get(upstream.name()).is_some_and(|known| Arc::ptr_eq(&known, upstream))
    }

    fn put(&self, name: &str, config: ServerConfig, before: Before) -> Arc<Upstream> {
        let upstream = Upstream::start(name, config, &self.deps, before);
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.insert(name.to_owned(), Arc::clone(&upstream));
        upstream
    }

    /// Starts a server, unless there is one of that name.
    pub(crate) async fn add(
        &self,
        name: &str,
        config: ServerConfig,
        list: Option<Arc<ToolList>>,
    ) -> Option<Arc<Upstream>> {
        let _one = self.applying.lock().await;
        let before = Before { list, journal: None };
        self.get(name).is_none().then(|| self.put(name, config, before))
    }

    /// Starts a server in place of this one, whose calls go on and whose tools stay in the catalog until the new one is
    /// listed; none if this one is not in the table any more.
    pub(crate) async fn replace(
        &self,
        old: &Arc<Upstream>,
        config: ServerConfig,
        list: Option<Arc<ToolList>>,
    ) -> Option<Arc<Upstream>> {
        let _one = self.applying.lock().await;
        if !self.holds(old) {
            return None;
        }
        old.retire().await;
        drain_in_background(old);
        Some(self.put(old.name(), config, Before { list, ..old.inheritance() }))
    }

    /// Ends all processes and sessions of a server of the config and starts it again; its calls under way fail. False if
    /// the server is not in the table, or registered itself.
    pub async fn restart(&self, name: &str) -> bool {
        let _one = self.applying.lock().await;
        let Some(old) = self.get(name).filter(|old| !old.config().is_announced()) else {
            return false;
        };
        old.stop().await;
        old.note("restarted by the operator");
        self.put(name, old.config().clone(), old.inheritance());
        true
    }

    /// Removes a server and its tools; its calls go on.
    pub(crate) async fn remove(&self, old: &Arc<Upstream>) {
        let _one = self.applying.lock().await;
        if !self.holds(old) {
            return;
        }
        old.retire().await;
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).remove(old.name());
        let (publish, name) = (Arc::clone(&self.deps.publish), old.name().to_owned());
        // The only error is a panic of the catalog, which the panic hook has reported.
        let _ = tokio::task::spawn_blocking(move || publish(&name, Vec::new())).await;
        self.deps.servers.remove(old.name());
        drain_in_background(old);
    }

    /// One server, if there is one of that name.
    pub fn get(&self, name: &str) -> Option<Arc<Upstream>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// Ends the processes and sessions that use earlier secrets of this person, or secrets of any.
    pub async fn end_sessions_of(&self, person: Option<&Holder>) {
        join_all(self.servers().values().map(|upstream| upstream.end_sessions_of(person))).await;
    }

    /// The state of every server, by name.
    pub fn statuses(&self) -> Vec<Status> {
        self.servers().values().map(|upstream| upstream.status()).collect()
    }

    /// Ends every process, session and task, and waits until they are gone.
    pub async fn stop(&self) {
        let _one = self.applying.lock().await;
        join_all(self.servers().values().map(|upstream| upstream.stop())).await;
    }
}

fn drain_in_background(retired: &Arc<Upstream>) {
    let retired = Arc::clone(retired);
    tokio::spawn(async move { retired.drain().await });
}

impl Drop for Upstreams {
    fn drop(&mut self) {
        for upstream in self.servers().values() {
            upstream.abandon();
        }
    }
}
