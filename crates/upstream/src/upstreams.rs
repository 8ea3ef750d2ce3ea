use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use egress::http::AddressPolicy;
use futures_util::future::join_all;
use serde_json::Value;

use crate::status::Status;
use crate::upstream::Upstream;
use crate::{Beside, Deps, ServerConfig, ToolList};

/// Every server of the config, and those that registered themselves. None of them can hold another up.
pub struct Upstreams {
    deps: Deps,
    servers: Mutex<BTreeMap<String, Arc<Upstream>>>,
    /// Held while a new config is applied: one after the other.
    applying: tokio::sync::Mutex<()>,
}

impl Upstreams {
    /// Starts to connect every server, and returns at once.
    pub fn start(servers: Vec<(String, ServerConfig)>, deps: Deps) -> Self {
        let started = servers.into_iter().map(|(name, config)| {
            let upstream = Upstream::start(&name, config, &deps, None);
            (name, upstream)
        });
        let servers = Mutex::new(started.collect());
        Self { deps, servers, applying: tokio::sync::Mutex::new(()) }
    }

    fn servers(&self) -> BTreeMap<String, Arc<Upstream>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes a new config: servers whose entry has not changed go on as if nothing had happened.
    pub async fn apply(&self, servers: Vec<(String, ServerConfig)>) {
        let _one = self.applying.lock().await;
        let mut wanted: BTreeMap<String, ServerConfig> = servers.into_iter().collect();
        let mut stopped = Vec::new();
        for (name, upstream) in self.servers() {
            if wanted.get(&name) == Some(upstream.config()) {
                wanted.remove(&name);
            } else if upstream.config().is_announced() && !wanted.contains_key(&name) {
                // No config has it, and none can take it away: its leases do.
            } else {
                stopped.push(upstream);
            }
        }
        join_all(stopped.iter().map(|upstream| upstream.stop())).await;
        let mut table = self.servers();
        for old in stopped {
            let name = old.name().to_owned();
            table.remove(&name);
            // The same server under another config keeps its list until it has given a new one.
            let stays = wanted.get(&name).is_some_and(|config| {
                !config.disabled
                    && config.origin() == old.config().origin()
                    && config.check(&name).is_ok()
            });
            if !stays {
                (self.deps.publish)(&name, Vec::new());
                self.deps.servers.remove(&name);
            }
            if let Some(config) = wanted.remove(&name) {
                let before = old.last_list().filter(|_| stays);
                table.insert(name.clone(), Upstream::start(&name, config, &self.deps, before));
            }
        }
        for (name, config) in wanted {
            let upstream = Upstream::start(&name, config, &self.deps, None);
            table.insert(name, upstream);
        }
        *self.servers.lock().unwrap_or_else(PoisonError::into_inner) = table;
    }

    /// What addresses the servers' client may reach.
    pub(crate) fn policy(&self) -> &AddressPolicy {
        self.deps.http.policy()
    }

    /// A list that a server under this config brought along.
    pub(crate) fn told(&self, config: &ServerConfig, tools: Vec<Value>) -> Arc<ToolList> {
        Arc::new(ToolList {
            tools: tools.into_iter().map(Arc::new).collect(),
            listed_at: self.deps.clock.unix_ms(),
            era: None,
            origin: config.origin(),
            beside: Beside::default(),
        })
    }

    /// Whether this very server still stands.
    pub(crate) fn holds(&self, upstream: &Arc<Upstream>) -> bool {
        self.get(upstream.name()).is_some_and(|known| Arc::ptr_eq(&known, upstream))
    }

    fn put(&self, name: &str, config: ServerConfig, told: Option<Arc<ToolList>>) -> Arc<Upstream> {
        let upstream = Upstream::start(name, config, &self.deps, told);
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.insert(name.to_owned(), Arc::clone(&upstream));
        upstream
    }

    /// Starts a server beside the others, unless one of that name stands.
    pub(crate) async fn seat(
        &self,
        name: &str,
        config: ServerConfig,
        told: Option<Arc<ToolList>>,
    ) -> Option<Arc<Upstream>> {
        let _one = self.applying.lock().await;
        self.get(name).is_none().then(|| self.put(name, config, told))
    }

    /// Starts a server in place of this one, whose tools stay in the catalog until the new one has some and whose calls
    /// go on; nothing if this one does not stand any more.
    pub(crate) async fn replace(
        &self,
        old: &Arc<Upstream>,
        config: ServerConfig,
        told: Option<Arc<ToolList>>,
    ) -> Option<Arc<Upstream>> {
        let _one = self.applying.lock().await;
        if !self.holds(old) {
            return None;
        }
        old.retire().await;
        see_off(old);
        Some(self.put(old.name(), config, told))
    }

    /// Takes a server and its tools out; its calls go on.
    pub(crate) async fn unseat(&self, old: &Arc<Upstream>) {
        let _one = self.applying.lock().await;
        if !self.holds(old) {
            return;
        }
        old.retire().await;
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).remove(old.name());
        let (publish, name) = (Arc::clone(&self.deps.publish), old.name().to_owned());
        // A failure to publish is a panic of the catalog's own, which it has told already.
        let _ = tokio::task::spawn_blocking(move || publish(&name, Vec::new())).await;
        self.deps.servers.remove(old.name());
        see_off(old);
    }

    /// One server, if there is one of that name.
    pub fn get(&self, name: &str) -> Option<Arc<Upstream>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// How every server is, by name.
    pub fn statuses(&self) -> Vec<Status> {
        self.servers().values().map(|upstream| upstream.status()).collect()
    }

    /// Ends every process, session and task; answers when they are gone.
    pub async fn stop(&self) {
        let _one = self.applying.lock().await;
        join_all(self.servers().values().map(|upstream| upstream.stop())).await;
    }
}

fn see_off(retired: &Arc<Upstream>) {
    let retired = Arc::clone(retired);
    tokio::spawn(async move { retired.leave().await });
}

impl Drop for Upstreams {
    fn drop(&mut self) {
        for upstream in self.servers().values() {
            upstream.abandon();
        }
    }
}
