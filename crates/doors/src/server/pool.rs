//! Connections: how many there are, who they belong to, and which one makes room for a new one.
//!
//! A connection is anonymous until a request on it was admitted in some caller's name. Anonymous connections need no
//! credential, so they are the ones that are closed when there are too many; a client that sends its request at once
//! is not affected. A caller that is known may hold a share of all connections and no more.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use auth::network;
use proto::Principal;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;

use crate::shares::{Exceeded, Holder, Share, Shares};

/// All connections of a listener.
pub(super) struct Pool {
    places: Arc<Semaphore>,
    /// Connections by caller.
    callers: Arc<Shares>,
    per_caller: usize,
    anonymous_per_address: usize,
    anonymous: Mutex<Anonymous>,
}

#[derive(Default)]
struct Anonymous {
    next: u64,
    /// By address, oldest first.
    of: HashMap<IpAddr, BTreeMap<u64, Option<AbortHandle>>>,
}

/// The connection that a request arrived on.
pub struct Peer {
    pool: Arc<Pool>,
    id: u64,
    address: IpAddr,
    identified: AtomicBool,
    share: Mutex<Option<Share>>,
}

/// Keeps a connection's place; dropped when the connection has ended.
pub(super) struct Place {
    peer: Arc<Peer>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Pool {
    pub(super) fn new(max: usize, anonymous_per_address: usize) -> Arc<Self> {
        Arc::new(Self {
            places: Arc::new(Semaphore::new(max)),
            callers: Shares::new(max),
            // A quarter is left for everybody else.
            per_caller: (max - max / 4).max(1),
            anonymous_per_address: anonymous_per_address.max(1),
            anonymous: Mutex::default(),
        })
    }

    /// Waits for a place. If all are taken, the oldest anonymous connection of the address that has most of them is
    /// closed.
    pub(super) async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(permit) = Arc::clone(&self.places).try_acquire_owned() {
            return Some(permit);
        }
        self.anonymous().close_one_of_most();
        // The semaphore is never closed.
        Arc::clone(&self.places).acquire_owned().await.ok()
    }

    /// Takes a new connection in. If its address has too many anonymous ones, the oldest of those is closed.
    pub(super) fn enter(
        self: &Arc<Self>,
        address: IpAddr,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Place {
        let address = network(address);
        let mut anonymous = self.anonymous();
        let id = anonymous.next;
        anonymous.next += 1;
        let own = anonymous.of.entry(address).or_default();
        if own.len() >= self.anonymous_per_address {
            close_oldest(own);
        }
        own.insert(id, None);
        drop(anonymous);
        let peer = Peer {
            pool: Arc::clone(self),
            id,
            address,
            identified: AtomicBool::new(false),
            share: Mutex::default(),
        };
        Place { peer: Arc::new(peer), _permit: permit }
    }

    fn anonymous(&self) -> MutexGuard<'_, Anonymous> {
        self.anonymous.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Anonymous {
    fn close_one_of_most(&mut self) {
        let most = self.of.values_mut().max_by_key(|own| {
            let oldest = own.first_key_value().map_or(0, |(id, _)| *id);
            (own.len(), std::cmp::Reverse(oldest))
        });
        if let Some(own) = most {
            close_oldest(own);
        }
    }

    fn remove(&mut self, address: IpAddr, id: u64) {
        if let Some(own) = self.of.get_mut(&address) {
            own.remove(&id);
            if own.is_empty() {
                self.of.remove(&address);
            }
        }
    }
}

fn close_oldest(own: &mut BTreeMap<u64, Option<AbortHandle>>) {
    if let Some((_, Some(task))) = own.pop_first() {
        task.abort();
    }
}

impl Place {
    pub(super) fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.peer.release();
    }
}

impl Peer {
    /// The network address of the client; of IPv6, its /64 network.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Names the task of the connection, which is ended when its place is needed.
    pub(super) fn driven_by(&self, task: AbortHandle) {
        let mut anonymous = self.pool.anonymous();
        if let Some(known) =
            anonymous.of.get_mut(&self.address).and_then(|own| own.get_mut(&self.id))
        {
            *known = Some(task);
        }
    }

    /// Notes that a request was admitted in a caller's name. From the first one on the connection counts as that
    /// caller's, whose limit is the error.
    pub(crate) fn identify(&self, principal: &Principal) -> Result<(), usize> {
        if self.identified.load(Ordering::Relaxed) {
            return Ok(());
        }
        let Pool { callers, per_caller, .. } = &*self.pool;
        let taken = callers.take(Holder::of(principal), 1, *per_caller);
        let share = taken.map_err(|(Exceeded::Own { limit } | Exceeded::Total { limit })| limit)?;
        *self.share() = Some(share);
        self.identified.store(true, Ordering::Relaxed);
        self.pool.anonymous().remove(self.address, self.id);
        Ok(())
    }

    fn release(&self) {
        self.pool.anonymous().remove(self.address, self.id);
        // Streams may keep a reference for longer than the connection lives.
        self.share().take();
    }

    fn share(&self) -> MutexGuard<'_, Option<Share>> {
        self.share.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
