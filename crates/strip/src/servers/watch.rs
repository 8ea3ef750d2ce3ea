//! Subscriptions to changes of resources, and other notices of servers.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use tokio::sync::broadcast;

use super::Servers;
use super::identity::{ClientIdentity, InstanceKey};
use super::server::Server;

/// What a server announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub server: Arc<str>,
    /// The caller's instance that announced it; none for the one that the gateway lists from.
    pub instance: Option<InstanceKey>,
    pub kind: NoticeKind,
}

/// What a notice is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// A resource has changed, by the server's own URI.
    Updated(Arc<str>),
    /// A list may have changed, although the gateway sees no difference.
    Tools,
    Prompts,
    Resources,
}

/// How many subscribers each resource of each server has, by instance.
#[derive(Default)]
pub(super) struct Watched(BTreeMap<String, Vec<WatchedInstance>>);

struct WatchedInstance {
    instance: Option<InstanceKey>,
    uris: BTreeMap<String, usize>,
}

/// One subscription to one resource; it ends when it is dropped.
pub struct Watch {
    servers: Arc<Servers>,
    server: Arc<dyn Server>,
    client: Arc<ClientIdentity>,
    /// The client's own instance of the server.
    instance: Option<InstanceKey>,
    /// The URI that the subscriber used.
    shown: String,
    uri: String,
}

impl Watch {
    /// The subscriber's URI of what has changed, if the notice is about this resource or a part of it.
    pub fn concerns(&self, notice: &Notice) -> Option<String> {
        let NoticeKind::Updated(uri) = &notice.kind else { return None };
        if *notice.server != *self.server.name() || notice.instance != self.instance {
            return None;
        }
        let part = uri.strip_prefix(&self.uri)?;
        let below = part.is_empty() || part.starts_with(['/', '#', '?']);
        below.then(|| format!("{}{part}", self.shown))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.servers.count(&self.server, self.instance, &self.client, |uris| {
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
    /// Subscribes a client to changes of a resource; none if no server has it.
    pub fn watch(self: &Arc<Self>, client: &Arc<ClientIdentity>, shown: &str) -> Option<Watch> {
        let found = self.listing_of(client).resource(shown)?;
        let (server, uri) = (found.server, found.remote);
        let instance = server.instance(client);
        self.count(&server, instance, client, |uris| *uris.entry(uri.clone()).or_default() += 1);
        let (servers, client) = (Arc::clone(self), Arc::clone(client));
        Some(Watch { servers, server, client, instance, shown: shown.to_owned(), uri })
    }

    /// Subscribes to all notices.
    pub fn notices(&self) -> broadcast::Receiver<Notice> {
        self.notices.subscribe()
    }

    /// Notifies all subscribers of what a server announced.
    pub fn notify(&self, notice: Notice) {
        // Fails if there are no subscribers.
        let _ = self.notices.send(notice);
    }

    /// Whether a notice is for a client: what a caller's instance announces is only for that caller.
    pub fn is_for(&self, notice: &Notice, client: &ClientIdentity) -> bool {
        let Some(instance) = notice.instance else { return true };
        self.get(&notice.server).and_then(|server| server.instance(client)) == Some(instance)
    }

    fn count(
        &self,
        server: &Arc<dyn Server>,
        instance: Option<InstanceKey>,
        client: &ClientIdentity,
        change: impl FnOnce(&mut BTreeMap<String, usize>),
    ) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let instances = watched.0.entry(server.name().to_owned()).or_default();
        let place = instances.iter().position(|known| known.instance == instance);
        let place = place.unwrap_or_else(|| {
            instances.push(WatchedInstance { instance, uris: BTreeMap::new() });
            instances.len() - 1
        });
        let uris = &mut instances[place].uris;
        let before = uris.len();
        change(uris);
        if uris.len() != before {
            // Under the lock, so that the server gets the newest list last.
            server.watch(instance.map(|_| client), uris.keys().cloned().collect());
        }
        if uris.is_empty() {
            instances.swap_remove(place);
        }
    }
}
