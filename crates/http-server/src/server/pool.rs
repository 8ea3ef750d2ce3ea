//! The pool of connections: how many there are, which caller each belongs to, and which one is closed for a new one.
//!
//! A connection is anonymous until a request of a caller was admitted on it. Anonymous connections need no credential, so
//! they are closed first when there are too many; a client that sends its request at once is not affected. An identified
//! caller may hold a fraction of all connections.

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
    slots: Arc<Semaphore>,
    /// Connections by caller.
    callers: Arc<Shares>,
    per_caller: usize,
    anonymous_per_address: usize,
    anonymous: Mutex<Anonymous>,
}

#[derive(Default)]
struct Anonymous {
    next: u64,
    /// Connections by address, oldest first.
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

/// The slot of a connection; dropped when the connection has ended.
pub(super) struct Slot {
    peer: Arc<Peer>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Pool {
    pub(super) fn new(max: usize, anonymous_per_address: usize) -> Arc<Self> {
        Arc::new(Self {
            slots: Arc::new(Semaphore::new(max)),
            callers: Shares::new(max),
            // A quarter is left for other callers.
            per_caller: (max - max / 4).max(1),
            anonymous_per_address: anonymous_per_address.max(1),
            anonymous: Mutex::default(),
        })
    }

    /// Waits for a slot. If all are taken, the oldest anonymous connection of the address with the most of them is
    /// closed.
    pub(super) async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(permit) = Arc::clone(&self.slots).try_acquire_owned() {
            return Some(permit);
        }
        self.anonymous().close_one_of_most();
        // The semaphore is never closed.
        Arc::clone(&self.slots).acquire_owned().await.ok()
    }

    /// Adds a connection. If its address has too many anonymous ones, the oldest of those is closed.
    pub(super) fn enter(
        self: &Arc<Self>,
        address: IpAddr,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Slot {
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
        Slot { peer: Arc::new(peer), _permit: permit }
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

impl Slot {
    pub(super) fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.peer.release();
    }
}

impl Peer {
    /// The network address of the client; of IPv6, its /64 network.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Sets the task of the connection, which is aborted when its slot is needed.
    pub(super) fn set_task(&self, task: AbortHandle) {
        let mut anonymous = self.pool.anonymous();
        if let Some(known) =
            anonymous.of.get_mut(&self.address).and_then(|own| own.get_mut(&self.id))
        {
            *known = Some(task);
        }
    }

    /// Records that a request of a caller was admitted. From the first one on the connection counts against that caller's
    /// limit, which is the error if it is exceeded.
    pub fn identify(&self, principal: &Principal) -> Result<(), usize> {
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
        // A stream may hold the peer for longer than the connection.
        self.share().take();
    }

    fn share(&self) -> MutexGuard<'_, Option<Share>> {
        self.share.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
