//! Interpreters that stay alive between calls.
//!
//! A call owns its worker until the answer is complete. If the call is dropped or the worker misbehaves, the worker
//! dies with it, so that no answer can ever reach the wrong caller; the next call starts a new one.

mod worker;

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use egress::process::RunError;
use tokio::sync::{Semaphore, SemaphorePermit};

pub(crate) use worker::{Answer, Worker};

/// The workers of one pack. Dropping it ends those that wait.
pub(crate) struct Workers {
    shared: Arc<Shared>,
    next_id: AtomicU64,
}

struct Shared {
    size: usize,
    slots: Semaphore,
    idle: Mutex<Vec<Worker>>,
    /// Grows when the code on the disk has changed; workers of an earlier age are not kept.
    age: AtomicU64,
}

/// The right to use one worker; others wait until it is over.
pub(crate) struct Turn<'a> {
    shared: &'a Shared,
    age: u64,
    _permit: Option<SemaphorePermit<'a>>,
}

impl Workers {
    pub(crate) fn new(size: usize) -> Self {
        let shared = Shared {
            size,
            slots: Semaphore::new(size),
            idle: Mutex::new(Vec::new()),
            age: AtomicU64::new(0),
        };
        Self { shared: Arc::new(shared), next_id: AtomicU64::new(1) }
    }

    /// Waits until one of the workers is free.
    pub(crate) async fn turn(&self) -> Turn<'_> {
        // The semaphore is never closed.
        let permit = self.shared.slots.acquire().await.ok();
        Turn { shared: &self.shared, age: self.shared.age.load(Ordering::Acquire), _permit: permit }
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
                shared.keep(worker, age);
            }
        });
    }
}

impl Shared {
    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, worker: Worker, age: u64) {
        let mut idle = self.idle();
        if age == self.age.load(Ordering::Acquire) && idle.len() < self.size {
            idle.push(worker);
        }
    }
}

impl Turn<'_> {
    /// A worker that waits and is still alive.
    pub(crate) async fn idle(&self) -> Option<Worker> {
        loop {
            let mut worker = self.shared.idle().pop()?;
            if worker.is_alive().await {
                return Some(worker);
            }
        }
    }

    /// Keeps a worker for the next call.
    pub(crate) fn give_back(self, worker: Worker) {
        self.shared.keep(worker, self.age);
    }
}
