//! Calls with an idempotency key, and calls that a crash interrupted.

use proto::Digest;

use super::{Database, Engine};
use crate::{FoundCall, StoreError};

impl Database {
    /// What is known of a call with this key that has not expired.
    pub async fn call_record(
        &self,
        key: &Digest,
        now_unix_ms: u64,
    ) -> Result<Option<FoundCall>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.call_record(key, now_unix_ms).await
    }

    /// Removes records that have expired, and the oldest answers beyond the byte budget.
    pub async fn sweep_call_records(&self, now_unix_ms: u64) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.sweep_call_records(now_unix_ms).await
    }

    /// Appends an audit row for each call that had begun when an earlier process ended; returns how many there were.
    /// Only the owner of the data folder may call it, before calls are let in.
    pub async fn close_interrupted_calls(&self) -> Result<u64, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.close_interrupted_calls().await
    }
}
