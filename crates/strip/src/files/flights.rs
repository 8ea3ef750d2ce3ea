//! Bytes that are on their way into the storage and in no row yet: they count, or many at once would each find room.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use proto::TenantId;

/// How many bytes of each tenant are on their way.
#[derive(Clone, Default)]
pub(super) struct Flights(Arc<Mutex<HashMap<TenantId, u64>>>);

/// The bytes of one file on their way; they stop counting when this goes.
pub(super) struct Flight {
    flights: Flights,
    tenant: TenantId,
    bytes: u64,
}

impl Flights {
    pub(super) fn begin(&self, tenant: &TenantId) -> Flight {
        Flight { flights: self.clone(), tenant: tenant.clone(), bytes: 0 }
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

impl Flight {
    /// Adds bytes, and says how many its tenant has on their way now.
    pub(super) fn add(&mut self, bytes: u64) -> u64 {
        self.bytes += bytes;
        self.flights.change(&self.tenant, |all| *all += bytes)
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.flights.change(&self.tenant, |all| *all = all.saturating_sub(self.bytes));
    }
}
