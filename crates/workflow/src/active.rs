//! How many workflows of each tenant have not ended, without a count for each start.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use store::{Database, StoreError};

/// At least as many as there are: starts are added, and ends are noticed when the limit seems to be reached.
#[derive(Default)]
pub(crate) struct Active(Mutex<HashMap<String, Arc<tokio::sync::Mutex<Option<u64>>>>>);

impl Active {
    /// Counts one more workflow of a tenant; returns false if it has `most` already.
    pub(crate) async fn admit(
        &self,
        database: &Database,
        tenant: &str,
        most: usize,
    ) -> Result<bool, StoreError> {
        self.admit_with(tenant, most, || database.active_workflows(tenant)).await
    }

    async fn admit_with<C>(
        &self,
        tenant: &str,
        most: usize,
        count: impl FnOnce() -> C,
    ) -> Result<bool, StoreError>
    where
        C: Future<Output = Result<u64, StoreError>>,
    {
        let most = most as u64;
        let known = {
            let mut tenants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(tenants.entry(tenant.to_owned()).or_default())
        };
        // Starts of the same tenant wait for the count, so that together they do not exceed the limit.
        let mut known = known.lock().await;
        let active = match *known {
            Some(active) if active < most => active,
            _ => count().await?,
        };
        *known = Some(active.saturating_add(u64::from(active < most)));
        Ok(active < most)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn workflows_are_counted_only_when_the_limit_seems_to_be_reached() {
        let (active, counts, stored) = (Active::default(), Cell::new(0), Cell::new(2));
        let admit = async |tenant: &str| {
            let count = || async {
                counts.set(counts.get() + 1);
                Ok(stored.get())
            };
            active.admit_with(tenant, 4, count).await.unwrap()
        };
        assert!(admit("acme").await && admit("acme").await);
        assert_eq!(counts.get(), 1, "2 are there, and 2 are started");
        stored.set(4);
        assert!(!admit("acme").await);
        assert!(!admit("acme").await);
        assert_eq!(counts.get(), 3);
        stored.set(3);
        assert!(admit("acme").await, "one has ended");
        stored.set(4);
        assert!(!admit("acme").await);
        stored.set(0);
        assert!(admit("other").await, "each tenant has its own limit");
    }
}
