//! Interpreters that stay alive between calls.
//!
//! Processes and files that a call leaves behind are removed before the worker serves the next one, and a worker serves
//! the calls of one tenant only.
//!
//! A call owns its worker until the answer is complete. If the call is dropped or the worker misbehaves, the worker
//! ends, so that no answer can reach the wrong caller; the next call starts a new one.

mod worker;

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use egress::process::RunError;
use proto::TenantId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub(crate) use worker::{Answer, Worker};

/// The workers of one pack. Dropping it ends the idle ones.
pub(crate) struct Workers {
    shared: Arc<Shared>,
    next_id: AtomicU64,
}

struct Shared {
    size: usize,
    slots: Arc<Semaphore>,
    /// The one that is idle for longest comes first.
    idle: Mutex<Vec<Idle>>,
    /// Grows when the code on disk has changed; workers of an earlier generation are not kept.
    generation: AtomicU64,
}

/// An idle worker.
struct Idle {
    worker: Worker,
    /// The tenant whose calls it has served; none if it has served no call yet.
    tenant: Option<TenantId>,
}

/// A permit to use one worker; other calls wait until it is dropped.
pub(crate) struct Turn {
    shared: Arc<Shared>,
    tenant: TenantId,
    generation: u64,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Workers {
    pub(crate) fn new(size: usize) -> Self {
        let shared = Shared {
            size,
            slots: Arc::new(Semaphore::new(size)),
            idle: Mutex::new(Vec::new()),
            generation: AtomicU64::new(0),
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
            generation: self.shared.generation.load(Ordering::Acquire),
            _permit: permit,
        }
    }

    /// A number that no other request of this pack carries.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// How many workers are idle.
    pub(crate) fn idle(&self) -> usize {
        self.shared.idle().len()
    }

    /// Ends idle workers, and busy ones as soon as they are done.
    pub(crate) fn retire(&self) {
        self.shared.generation.fetch_add(1, Ordering::AcqRel);
        let retired = std::mem::take(&mut *self.shared.idle());
        drop(retired);
    }

    /// Starts a worker in the background for the next call.
    pub(crate) fn start_ahead(
        &self,
        start: impl Future<Output = Result<Worker, RunError>> + Send + 'static,
    ) {
        let generation = self.shared.generation.load(Ordering::Acquire);
        let shared = Arc::downgrade(&self.shared);
        tokio::spawn(async move {
            // A failure is ignored: the next call starts a worker itself and reports its failure.
            if let Ok(worker) = start.await
                && let Some(shared) = shared.upgrade()
            {
                shared.keep(Idle { worker, tenant: None }, generation);
            }
        });
    }
}

impl Shared {
    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, worker: Idle, generation: u64) {
        let mut idle = self.idle();
        if generation == self.generation.load(Ordering::Acquire) && idle.len() < self.size {
            idle.push(worker);
        }
    }

    /// A worker that has served this tenant only. If there is none, idle workers of other tenants are ended to make room
    /// for a new one.
    fn take(&self, tenant: &TenantId) -> Option<Worker> {
        let mut idle = self.idle();
        let own = idle.iter().rposition(|it| it.tenant.as_ref() == Some(tenant));
        if let Some(index) = own.or_else(|| idle.iter().rposition(|it| it.tenant.is_none())) {
            return Some(idle.remove(index).worker);
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
    /// An idle worker for this tenant that is still alive.
    pub(crate) async fn idle(&self) -> Option<Worker> {
        loop {
            let mut worker = self.shared.take(&self.tenant)?;
            if worker.is_alive().await {
                return Some(worker);
            }
        }
    }

    /// Keeps a worker for the tenant's next call, after removing what the last one left behind. If that fails, the
    /// worker is ended.
    pub(crate) fn give_back(self, worker: Worker) {
        if worker.is_untouched() {
            return self.keep(worker);
        }
        // The caller has its answer already; the next call waits, because this task still holds the permit.
        tokio::spawn(async move {
            if worker.reset().await {
                self.keep(worker);
            }
        });
    }

    fn keep(self, worker: Worker) {
        self.shared.keep(Idle { worker, tenant: Some(self.tenant.clone()) }, self.generation);
    }
}
