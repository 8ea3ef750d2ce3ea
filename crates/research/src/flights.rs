//! Equal requests at the same time share one piece of work.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, WeakShared};
use proto::Digest;

type Work<T> = BoxFuture<'static, T>;

/// The work that is under way, by what it is for. It stops when all who wait for it have gone.
pub(crate) struct Flights<T: Clone>(Mutex<HashMap<Digest, WeakShared<Work<T>>>>);

impl<T: Clone> Default for Flights<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Flights<T> {
    /// Waits for the work with this key, which is started unless it is under way.
    pub(crate) async fn join(&self, key: Digest, start: impl FnOnce() -> Work<T>) -> T {
        let shared = {
            let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match flights.get(&key).and_then(WeakShared::upgrade) {
                Some(shared) => shared,
                None => {
                    flights.retain(|_, work| work.upgrade().is_some());
                    let shared = start().shared();
                    if let Some(weak) = shared.downgrade() {
                        flights.insert(key, weak);
                    }
                    shared
                }
            }
        };
        shared.await
    }
}

#[cfg(test)]
mod tests;
