//! Bytes that are being stored and have no row yet. They count against the quota, or many uploads at once would exceed
//! it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use proto::TenantId;

/// The bytes that are being stored, by tenant.
#[derive(Clone, Default)]
pub(crate) struct InFlight(Arc<Mutex<HashMap<TenantId, u64>>>);

/// The bytes of one file that is being stored; they stop counting when this is dropped.
pub(crate) struct Transfer {
    in_flight: InFlight,
    tenant: TenantId,
    bytes: u64,
}

impl InFlight {
    pub(crate) fn begin(&self, tenant: &TenantId) -> Transfer {
        Transfer { in_flight: self.clone(), tenant: tenant.clone(), bytes: 0 }
    }

    fn change(&self, tenant: &TenantId, change: impl FnOnce(&mut u64)) -> u64 {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = all.entry(tenant.clone()).or_default();
        change(bytes);
        let left = *bytes;
        if left == 0 {
            all.remove(tenant);
        }
        left
    }
}

impl Transfer {
    /// Adds bytes; returns how many of the tenant are being stored now.
    pub(crate) fn add(&mut self, bytes: u64) -> u64 {
        self.bytes += bytes;
        self.in_flight.change(&self.tenant, |all| *all += bytes)
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        self.in_flight.change(&self.tenant, |all| *all = all.saturating_sub(self.bytes));
    }
}
