//! References that servers issued themselves.

use proto::Principal;

use super::{Database, Engine};
use crate::{ForeignReference, StoreError};

impl Database {
    /// Remembers which server issued these references, and to whom. Of a server that issues very many, no more are.
    pub async fn remember_references(&self, rows: &[ForeignReference]) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.remember_references(rows).await
    }

    /// Which servers issued a reference to a caller, as far as that is still remembered.
    pub async fn foreign_references(
        &self,
        caller: &Principal,
        reference: &str,
        now_ms: u64,
    ) -> Result<Vec<ForeignReference>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.foreign_references(caller, reference, now_ms).await
    }

    /// Forgets references that have expired.
    pub async fn forget_references(&self, now_ms: u64) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.forget_references(now_ms).await
    }
}
