//! Callers' own instances of servers: a process or a session that serves one caller, and what it offers to that caller
//! only.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use tokio::sync::watch as revisions;

use super::Servers;
use super::identity::{ClientIdentity, InstanceKey};
use super::listing::Listing;
use super::server::Offering;

/// How many lists for callers with own instances are kept ready.
const MAX_READY: usize = 32;

/// What instances of callers offer, where that differs from what their server offers to all: by server and instance.
pub(super) type OwnOfferings = HashMap<String, HashMap<InstanceKey, Arc<Offering>>>;

/// The lists for one caller, and what they were made from.
pub(super) struct OwnListing {
    base: Arc<Listing>,
    own: Vec<(String, Arc<Offering>)>,
    listing: Arc<Listing>,
}

impl Servers {
    /// Replaces what a caller's instance of a server offers; none if it offers what the server offers to all. Returns
    /// whether this is a change.
    pub fn publish_own(
        &self,
        server: &str,
        instance: InstanceKey,
        offering: Option<Arc<Offering>>,
    ) -> bool {
        let _one_at_a_time = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.own.load();
        let known = before.get(server).and_then(|instances| instances.get(&instance));
        if known == offering.as_ref() {
            return false;
        }
        let mut next = OwnOfferings::clone(&before);
        let instances = next.entry(server.to_owned()).or_default();
        match offering {
            Some(offering) => instances.insert(instance, offering),
            None => instances.remove(&instance),
        };
        next.retain(|_, instances| !instances.is_empty());
        self.own.store(Arc::new(next));
        self.own_revision.send_modify(|revision| *revision += 1);
        true
    }

    /// Notifies of changes of what any instance of a caller offers.
    pub fn own_changes(&self) -> revisions::Receiver<u64> {
        self.own_revision.subscribe()
    }

    /// What the client's own instances offer in place of their servers' lists, by the servers' names.
    pub fn own_offerings(&self, client: &ClientIdentity) -> Vec<(String, Arc<Offering>)> {
        let own = self.own.load();
        let of_client = |(name, instances): (&String, &HashMap<InstanceKey, Arc<Offering>>)| {
            let instance = self.get(name)?.instance(client)?;
            Some((name.clone(), Arc::clone(instances.get(&instance)?)))
        };
        let mut found: Vec<_> = own.iter().filter_map(of_client).collect();
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        found
    }

    /// What all servers offer to a client, with the lists of its own instances.
    pub fn listing_of(&self, client: &ClientIdentity) -> Arc<Listing> {
        let base = self.listing();
        if self.own.load().is_empty() {
            return base;
        }
        let own = self.own_offerings(client);
        if own.is_empty() {
            return base;
        }
        let same = |known: &(String, Arc<Offering>), now: &(String, Arc<Offering>)| {
            known.0 == now.0 && Arc::ptr_eq(&known.1, &now.1)
        };
        let is_fresh = |ready: &&OwnListing| {
            Arc::ptr_eq(&ready.base, &base)
                && ready.own.len() == own.len()
                && ready.own.iter().zip(&own).all(|(known, now)| same(known, now))
        };
        let mut ready = self.own_listings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = ready.iter().find(is_fresh) {
            return Arc::clone(&found.listing);
        }
        let servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let pairs = self.sorted(&servers).into_iter().map(|server| {
            let replaced = own.iter().find(|(name, _)| name == server.name());
            let offering = replaced.map_or_else(|| server.offering(), |(_, own)| Arc::clone(own));
            (Arc::clone(server), offering)
        });
        let listing = Arc::new(Listing::new(pairs.collect()));
        drop(servers);
        ready.retain(|known| Arc::ptr_eq(&known.base, &base));
        if ready.len() >= MAX_READY {
            ready.remove(0);
        }
        ready.push(OwnListing { base, own, listing: Arc::clone(&listing) });
        listing
    }
}
