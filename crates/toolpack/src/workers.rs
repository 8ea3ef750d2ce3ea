//! Interpreters that stay alive between calls.
//!
//! What a call leaves behind outside of the interpreter's memory is removed before the worker serves the next one, and a
//! worker serves the calls of one tenant only.
//!
//! A call owns its worker until the answer is complete. If the call is dropped or the worker misbehaves, the worker
//! dies with it, so that no answer can ever reach the wrong caller; the next call starts a new one.

mod worker;

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use egress::process::RunError;
use proto::TenantId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub(crate) use worker::{Answer, Worker};

/// The workers of one pack. Dropping it ends those that wait.
pub(crate) struct Workers {
    shared: Arc<Shared>,
    next_id: AtomicU64,
}

struct Shared {
    size: usize,
    slots: Arc<Semaphore>,
    /// The one that waits longest comes first.
    idle: Mutex<Vec<Idle>>,
    /// Grows when the code on the disk has changed; workers of an earlier age are not kept.
    age: AtomicU64,
}

/// A worker that waits for a call.
struct Idle {
    worker: Worker,
    /// Whose calls it has served; none if it has served no call yet.
    tenant: Option<TenantId>,
}

/// The right to use one worker; others wait until it is over.
pub(crate) struct Turn {
    shared: Arc<Shared>,
    tenant: TenantId,
    age: u64,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Workers {
    pub(crate) fn new(size: usize) -> Self {
        let shared = Shared {
            size,
            slots: Arc::new(Semaphore::new(size)),
            idle: Mutex::new(Vec::new()),
            age: AtomicU64::new(0),
        };
        Self { shared: Arc::new(shared), next_id: AtomicU64::new(1) }
    }

    /// Waits until a call of this tenant may use one of the workers.
    pub(crate) async fn turn(&self, tenant: &TenantId) -> Turn {
        // The semaphore is never closed.
        let permit = Arc::clone(&self.shared.slots).acquire_owned().await.ok();
        Turn {
            shared: Arc::clone(&self.shared),
            tenant: tenant.clone(),
            age: self.shared.age.load(Ordering::Acquire),
            _permit: permit,
        }
    }

    /// A number that no other request of this pack carries.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// How many workers wait for a call.
    pub(crate) fn idle(&self) -> usize {
        self.shared.idle().len()
    }

    /// Ends the workers that wait, and those that work as soon as they are done.
    pub(crate) fn retire(&self) {
        self.shared.age.fetch_add(1, Ordering::AcqRel);
        let retired = std::mem::take(&mut *self.shared.idle());
        drop(retired);
    }

    /// Has a worker started in the background, for a call to come.
    pub(crate) fn start_ahead(
        &self,
        start: impl Future<Output = Result<Worker, RunError>> + Send + 'static,
    ) {
        let age = self.shared.age.load(Ordering::Acquire);
        let shared = Arc::downgrade(&self.shared);
        tokio::spawn(async move {
            // A failure is told to the next call, which tries by itself.
            if let Ok(worker) = start.await
                && let Some(shared) = shared.upgrade()
            {
                shared.keep(Idle { worker, tenant: None }, age);
            }
        });
    }
}

impl Shared {
    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, worker: Idle, age: u64) {
        let mut idle = self.idle();
        if age == self.age.load(Ordering::Acquire) && idle.len() < self.size {
            idle.push(worker);
        }
    }

    /// A worker that has served this tenant only. Where there is none, the one that waits longest for another
    /// tenant makes room for a new one.
    fn take(&self, tenant: &TenantId) -> Option<Worker> {
        let mut idle = self.idle();
        let own = idle.iter().rposition(|it| it.tenant.as_ref() == Some(tenant));
        if let Some(place) = own.or_else(|| idle.iter().rposition(|it| it.tenant.is_none())) {
            return Some(idle.remove(place).worker);
        }
        let busy = self.size.saturating_sub(self.slots.available_permits());
        let surplus = (idle.len() + busy).saturating_sub(self.size).min(idle.len());
        let ended: Vec<Idle> = idle.drain(..surplus).collect();
        drop(idle);
        drop(ended);
        None
    }
}

impl Turn {
    /// A worker for this tenant that waits and is still alive.
    pub(crate) async fn idle(&self) -> Option<Worker> {
        loop {
            let mut worker = self.shared.take(&self.tenant)?;
            if worker.is_alive().await {
                return Some(worker);
            }
        }
    }

    /// Keeps a worker for the tenant's next call, once nothing is left of the last one. A worker that cannot be
    /// brought to a clean state is ended.
    pub(crate) fn give_back(self, worker: Worker) {
        if worker.is_untouched() {
            return self.keep(worker);
        }
        // Its caller has the answer and need not wait; the next one does, because the turn is not over.
        tokio::spawn(async move {
            if worker.reset().await {
                self.keep(worker);
            }
        });
    }

    fn keep(self, worker: Worker) {
        self.shared.keep(Idle { worker, tenant: Some(self.tenant.clone()) }, self.age);
    }
}
