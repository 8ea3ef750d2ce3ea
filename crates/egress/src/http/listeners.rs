//! The gateway's own listeners, to which no tool may connect.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// The listeners of this process; clones share one set, so doors can add themselves when they open.
#[derive(Clone, Debug, Default)]
pub struct OwnListeners(Arc<Doors>);

#[derive(Debug, Default)]
struct Doors {
    open: RwLock<Vec<SocketAddr>>,
    /// Counts changes: pooled connections dialled under an older set are not used again.
    generation: AtomicU64,
}

impl OwnListeners {
    /// Adds a listener's bound address; `0.0.0.0` and `::` mean every address of this machine.
    pub fn register(&self, address: SocketAddr) {
        let mut open = self.0.open.write().unwrap_or_else(PoisonError::into_inner);
        open.push(canonical(address));
        self.0.generation.fetch_add(1, Ordering::Release);
    }

    /// Removes a closed listener.
    pub fn forget(&self, address: SocketAddr) {
        let mut open = self.0.open.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = open.iter().position(|door| *door == canonical(address)) {
            open.swap_remove(at);
            self.0.generation.fetch_add(1, Ordering::Release);
        }
    }

    /// Whether a connection to this address would reach one of our listeners.
    pub fn contains(&self, address: SocketAddr) -> bool {
        let address = canonical(address);
        let this_machine = address.ip().is_loopback() || address.ip().is_unspecified();
        self.any(|door| {
            *door == address
                || door.port() == address.port() && door.ip().is_unspecified() && this_machine
        })
    }

    /// Whether an open connection reached one of our listeners through an address of this machine
    /// that only the routing table knows: such a connection has the same address at both ends.
    pub(super) fn holds_connection(&self, local: SocketAddr, peer: SocketAddr) -> bool {
        let (local, peer) = (canonical(local), canonical(peer));
        let to_self = local.ip() == peer.ip();
        self.contains(peer)
            || to_self && self.any(|door| door.port() == peer.port() && door.ip().is_unspecified())
    }

    pub(super) fn generation(&self) -> u64 {
        self.0.generation.load(Ordering::Acquire)
    }

    fn any(&self, test: impl FnMut(&SocketAddr) -> bool) -> bool {
        self.0.open.read().unwrap_or_else(PoisonError::into_inner).iter().any(test)
    }
}

/// `::ffff:127.0.0.1` and `127.0.0.1` are one address; flow labels and scopes are ignored.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(test)]
mod tests;
