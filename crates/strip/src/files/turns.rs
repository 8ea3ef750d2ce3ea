//! Whose turn it is to have a text extracted: one of a tenant at a time, so that no tenant takes all the turns there are.
//! What could not be read is not tried again at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use proto::{FileId, TenantId};
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

use crate::Failure;

/// How long it is remembered that a file could not be read.
const REMEMBERED: Duration = Duration::from_secs(5 * 60);

/// Of how many files at most that is remembered.
const MAX_FAILURES: usize = 10_000;

#[derive(Default)]
pub(super) struct Turns {
    tenants: Mutex<HashMap<TenantId, Arc<tokio::sync::Mutex<()>>>>,
    failures: Mutex<HashMap<FileId, (Failure, Instant)>>,
}

impl Turns {
    /// Waits for the tenant's turn.
    pub(super) async fn take(&self, tenant: &TenantId) -> OwnedMutexGuard<()> {
        let turn = {
            let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
            // Nobody waits for those that are held here alone.
            tenants.retain(|_, turn| Arc::strong_count(turn) > 1);
            Arc::clone(tenants.entry(tenant.clone()).or_default())
        };
        turn.lock_owned().await
    }

    /// Why a file could not be read a moment ago.
    pub(super) fn failure(&self, id: &FileId) -> Option<Failure> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let (failure, until) = failures.get(id)?;
        (*until > Instant::now()).then(|| failure.clone())
    }

    pub(super) fn failed(&self, id: &FileId, failure: &Failure) {
        let now = Instant::now();
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.retain(|_, (_, until)| *until > now);
        if failures.len() < MAX_FAILURES {
            failures.insert(id.clone(), (failure.clone(), now + REMEMBERED));
        }
    }
}
