//! One extraction per tenant at a time, so that no tenant occupies all extractor processes. Failed extractions are not
//! repeated at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use proto::{Failure, FileId, TenantId};
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

/// How long a failure is remembered.
const FAILURE_TTL: Duration = Duration::from_secs(5 * 60);

/// The most failures that are remembered.
const MAX_FAILURES: usize = 10_000;

#[derive(Default)]
pub(crate) struct ExtractionQueue {
    tenants: Mutex<HashMap<TenantId, Arc<tokio::sync::Mutex<()>>>>,
    failures: Mutex<HashMap<FileId, (Failure, Instant)>>,
}

impl ExtractionQueue {
    /// Waits until no other extraction of the tenant runs.
    pub(crate) async fn wait(&self, tenant: &TenantId) -> OwnedMutexGuard<()> {
        let lock = {
            let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
            // Locks that only the map holds are unused.
            tenants.retain(|_, lock| Arc::strong_count(lock) > 1);
            Arc::clone(tenants.entry(tenant.clone()).or_default())
        };
        lock.lock_owned().await
    }

    /// Why the extraction of a file failed a moment ago.
    pub(crate) fn recent_failure(&self, id: &FileId) -> Option<Failure> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let (failure, until) = failures.get(id)?;
        (*until > Instant::now()).then(|| failure.clone())
    }

    pub(crate) fn remember_failure(&self, id: &FileId, failure: &Failure) {
        let now = Instant::now();
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.retain(|_, (_, until)| *until > now);
        if failures.len() < MAX_FAILURES {
            failures.insert(id.clone(), (failure.clone(), now + FAILURE_TTL));
        }
    }
}
