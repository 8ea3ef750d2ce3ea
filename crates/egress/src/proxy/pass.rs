//! The right to use the proxy, and what was done with it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use url::Host;
use uuid::Uuid;

use super::{MAX_CONNECTIONS_PER_PASS, Shared};
use crate::http::{FetchError, Target};

/// Failed targets that are remembered.
const MAX_FAILURES: usize = 64;

/// A user name and password for the proxy. Dropping it makes them invalid and closes the connections made with them.
pub struct Pass {
    user: String,
    password: String,
    header: Vec<u8>,
    account: Arc<Account>,
    shared: Arc<Shared>,
}

impl Pass {
    pub(super) fn new(shared: Arc<Shared>, max_bytes: u64, stop: CancellationToken) -> Self {
        let (user, password) = (random(), random());
        let header = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
        let header = header.into_bytes();
        let account = Arc::new(Account {
            left: AtomicU64::new(max_bytes),
            overdrawn: AtomicBool::new(false),
            connected: AtomicBool::new(false),
            slots: Arc::new(Semaphore::new(MAX_CONNECTIONS_PER_PASS)),
            failures: Mutex::default(),
            stop,
        });
        shared.passes().insert(header.clone(), Arc::clone(&account));
        Self { user, password, header, account, shared }
    }

    /// The user name.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The password.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// Whether the holder tried to send or receive more bytes than it may.
    pub fn is_overdrawn(&self) -> bool {
        self.account.overdrawn.load(Ordering::Acquire)
    }

    /// Whether a request with this pass has arrived.
    pub fn is_used(&self) -> bool {
        self.account.connected.load(Ordering::Acquire)
    }

    /// Why this target could not be reached with the pass, if it was tried.
    pub fn failure(&self, target: &Target) -> Option<FetchError> {
        let failures = self.account.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let of_target = |it: &&Failure| it.host == *target.host() && it.port == target.port();
        failures.iter().rfind(of_target).map(|it| it.why.clone())
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.shared.passes().remove(&self.header);
        self.account.stop.cancel();
    }
}

fn random() -> String {
    Uuid::new_v4().simple().to_string()
}

struct Failure {
    host: Host<String>,
    port: u16,
    why: FetchError,
}

/// What the holder of a pass may still do.
pub(super) struct Account {
    left: AtomicU64,
    overdrawn: AtomicBool,
    connected: AtomicBool,
    /// Connections to targets.
    slots: Arc<Semaphore>,
    failures: Mutex<Vec<Failure>>,
    stop: CancellationToken,
}

impl Account {
    /// Counts bytes; false if there are more than the holder may still send or receive, which ends the pass.
    pub(super) fn spend(&self, bytes: usize) -> bool {
        let bytes = bytes as u64;
        let spent = self
            .left
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(bytes));
        if spent.is_err() {
            self.overdrawn.store(true, Ordering::Release);
            self.stop.cancel();
        }
        spent.is_ok()
    }

    pub(super) fn begin(&self) {
        self.connected.store(true, Ordering::Release);
    }

    /// A place for one more connection to a target, if there is one.
    pub(super) fn slot(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.slots).try_acquire_owned().ok()
    }

    pub(super) fn is_revoked(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Resolves when the pass has ended.
    pub(super) async fn revoked(&self) {
        self.stop.cancelled().await;
    }

    pub(super) fn record(&self, target: &Target, why: FetchError) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() == MAX_FAILURES {
            failures.remove(0);
        }
        failures.push(Failure { host: target.host().clone(), port: target.port(), why });
    }
}
