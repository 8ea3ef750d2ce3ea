//! The prompts, resources and resource templates of MCP servers, by the names that callers use. The lists are computed
//! when a server publishes, so that reading them never waits for a server.

mod identity;
mod instances;
mod listing;
mod outages;
mod own_lists;
mod owners;
mod server;
mod watch;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use tokio::sync::{broadcast, watch as revisions};

pub use identity::{ClientIdentity, InstanceKey};
pub use listing::{Listing, Offered};
pub use outages::Outages;
pub use own_lists::OwnLists;
pub use owners::{Claims, OfferedAt};
pub(crate) use server::ServerRequest;
pub use server::{Offering, Server};
pub use watch::{Notice, NoticeKind, Watch};

use instances::{OwnListing, OwnOfferings};
use watch::Watched;

/// How many notices a subscriber may fall behind before it misses some.
const NOTICES: usize = 256;

/// Every server that offers more than tools.
pub struct Servers {
    listing: ArcSwap<Listing>,
    servers: Mutex<BTreeMap<String, Arc<dyn Server>>>,
    /// The servers of the config, in its order: of those that offered a name at the same time, the first one owns it.
    order: ArcSwap<Vec<String>>,
    prompts: revisions::Sender<u64>,
    resources: revisions::Sender<u64>,
    notices: broadcast::Sender<Notice>,
    watched: Mutex<Watched>,
    own: ArcSwap<OwnOfferings>,
    own_revision: revisions::Sender<u64>,
    own_listings: Mutex<Vec<OwnListing>>,
}

impl Default for Servers {
    fn default() -> Self {
        Self {
            listing: ArcSwap::from_pointee(Listing::default()),
            servers: Mutex::default(),
            order: ArcSwap::default(),
            prompts: revisions::channel(0).0,
            resources: revisions::channel(0).0,
            notices: broadcast::channel(NOTICES).0,
            watched: Mutex::default(),
            own: ArcSwap::default(),
            own_revision: revisions::channel(0).0,
            own_listings: Mutex::default(),
        }
    }
}

impl Servers {
    /// Sets the order of the servers in the config.
    pub fn set_order(&self, order: Vec<String>) {
        self.order.store(Arc::new(order));
        self.change(|_| {});
    }

    /// Replaces what a server offers.
    pub fn publish(&self, server: Arc<dyn Server>) {
        self.change(|servers| {
            servers.insert(server.name().to_owned(), server);
        });
    }

    /// Removes a server.
    pub fn remove(&self, name: &str) {
        self.change(|servers| {
            servers.remove(name);
        });
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, Arc<dyn Server>>)) {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut servers);
        let sorted = self.sorted(&servers).into_iter();
        let next =
            Listing::new(sorted.map(|server| (Arc::clone(server), server.offering())).collect());
        let before = self.listing.load_full();
        let prompts = !next.same_prompts(&before);
        let resources = !next.same_resources(&before);
        self.listing.store(Arc::new(next));
        drop(servers);
        if prompts {
            self.prompts.send_modify(|revision| *revision += 1);
        }
        if resources {
            self.resources.send_modify(|revision| *revision += 1);
        }
    }

    /// The servers in the order of the config; those that registered themselves come last.
    fn sorted<'a>(
        &self,
        servers: &'a BTreeMap<String, Arc<dyn Server>>,
    ) -> Vec<&'a Arc<dyn Server>> {
        let order = self.order.load();
        let place = |server: &dyn Server| {
            let place = order.iter().position(|name| name == server.name());
            (server.offering().announced, place.unwrap_or(usize::MAX))
        };
        let mut sorted: Vec<_> = servers.values().collect();
        sorted.sort_by_cached_key(|server| place(&***server));
        sorted
    }

    /// The prompts and resources that all servers offer now.
    pub fn listing(&self) -> Arc<Listing> {
        self.listing.load_full()
    }

    /// Notifies of changes of any server's prompts.
    pub fn prompt_changes(&self) -> revisions::Receiver<u64> {
        self.prompts.subscribe()
    }

    /// Notifies of changes of any server's resources or templates.
    pub fn resource_changes(&self) -> revisions::Receiver<u64> {
        self.resources.subscribe()
    }

    /// One server, if there is one of that name.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Server>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}

#[cfg(test)]
mod tests;
