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
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use proto::digest;

    use super::*;

    #[tokio::test]
    async fn equal_work_at_one_time_is_done_once() {
        let (flights, runs) = (Flights::default(), Arc::new(AtomicUsize::new(0)));
        let start = || {
            let runs = Arc::clone(&runs);
            async move {
                tokio::task::yield_now().await;
                runs.fetch_add(1, Ordering::SeqCst) + 1
            }
            .boxed()
        };
        let (a, b, other) = tokio::join!(
            flights.join(digest(b"a"), start),
            flights.join(digest(b"a"), start),
            flights.join(digest(b"b"), start),
        );
        assert_eq!((a, b), (1, 1));
        assert_eq!(other, 2);
        assert_eq!(flights.join(digest(b"a"), start).await, 3, "what has ended is not shared");
    }

    #[tokio::test]
    async fn work_without_anyone_who_waits_is_dropped() {
        let flights: Flights<()> = Flights::default();
        let alive = Arc::new(());
        let held = Arc::clone(&alive);
        let mut waiting = Box::pin(flights.join(digest(b"a"), || {
            async move {
                let _held = held;
                std::future::pending::<()>().await;
            }
            .boxed()
        }));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        assert_eq!(Arc::strong_count(&alive), 2);
        drop(waiting);
        assert_eq!(Arc::strong_count(&alive), 1);
    }
}
