use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::join_all;

use crate::status::Status;
use crate::upstream::Upstream;
use crate::{Deps, ServerConfig};

/// Every server of the config. None of them can hold another up.
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

impl Drop for Upstreams {
    fn drop(&mut self) {
        for upstream in self.servers().values() {
            upstream.abandon();
        }
    }
}
