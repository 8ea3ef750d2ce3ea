//! Subscriptions to changes of resources.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use tokio::sync::broadcast;

use super::{Server, Servers};

/// A resource that changed, by its server and the server's own URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    pub server: Arc<str>,
    pub uri: Arc<str>,
}

/// How many subscribers each resource of each server has.
#[derive(Default)]
pub(super) struct Watched(BTreeMap<String, BTreeMap<String, usize>>);

/// One subscription to one resource; it ends when it is dropped.
pub struct Watch {
    servers: Arc<Servers>,
    server: Arc<dyn Server>,
    /// The URI that the subscriber used.
    shown: String,
    uri: String,
}

impl Watch {
    /// The subscriber's URI of what has changed, if the update is about this resource or a part of it.
    pub fn concerns(&self, update: &Update) -> Option<String> {
        if *update.server != *self.server.name() {
            return None;
        }
        let part = update.uri.strip_prefix(&self.uri)?;
        let below = part.is_empty() || part.starts_with(['/', '#', '?']);
        below.then(|| format!("{}{part}", self.shown))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.servers.count(&self.server, |uris| {
            if let Some(count) = uris.get_mut(&self.uri) {
                *count -= 1;
                if *count == 0 {
                    uris.remove(&self.uri);
                }
            }
        });
    }
}

impl Servers {
    /// Subscribes to changes of a resource; none if no server has it.
    pub fn watch(self: &Arc<Self>, shown: &str) -> Option<Watch> {
        let found = self.listing().resource(shown)?;
        let (server, uri) = (found.server, found.remote);
        self.count(&server, |uris| *uris.entry(uri.clone()).or_default() += 1);
        Some(Watch { servers: Arc::clone(self), server, shown: shown.to_owned(), uri })
    }

    /// Subscribes to all updates.
    pub fn updates(&self) -> broadcast::Receiver<Update> {
        self.updates.subscribe()
    }

    /// Notifies all subscribers that a server's resource has changed.
    pub fn updated(&self, server: &str, uri: &str) {
        // Fails if there are no subscribers.
        let _ = self.updates.send(Update { server: server.into(), uri: uri.into() });
    }

    fn count(&self, server: &Arc<dyn Server>, change: impl FnOnce(&mut BTreeMap<String, usize>)) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let uris = watched.0.entry(server.name().to_owned()).or_default();
        let before = uris.len();
        change(uris);
        if uris.len() != before {
            // Under the lock, so that the server gets the newest list last.
            server.watch(uris.keys().cloned().collect());
        }
    }
}
