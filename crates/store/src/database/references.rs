//! References that servers issued themselves.

use proto::TenantId;

use super::{Database, Engine};
use crate::{ForeignReference, StoreError};

impl Database {
    /// Remembers which server issued these references; one that another server issued before is now this one's.
    pub async fn remember_references(&self, rows: &[ForeignReference]) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.remember_references(rows).await
    }

    /// Who issued a reference to a tenant, if that is still remembered.
    pub async fn foreign_reference(
        &self,
        tenant: &TenantId,
        reference: &str,
        now_ms: u64,
    ) -> Result<Option<ForeignReference>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.foreign_reference(tenant, reference, now_ms).await
    }

    /// Forgets references that have expired.
    pub async fn forget_references(&self, now_ms: u64) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.forget_references(now_ms).await
    }
}
