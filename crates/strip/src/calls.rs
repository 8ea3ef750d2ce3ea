//! What became of calls, read back from the audit trail.

use proto::{Blame, Code};
use store::{AuditCount, AuditFilter, AuditPage, StoreError};

use crate::{Failure, Strip};

impl Strip {
    /// Calls that have ended, newest first. Whoever asks on behalf of a tenant says so in the filter.
    pub async fn calls(&self, filter: AuditFilter) -> Result<AuditPage, Failure> {
        self.trail().page(filter).await.map_err(unread)
    }

    /// How many calls of a tenant, or of all, began in each stretch since a time.
    pub async fn call_counts(
        &self,
        tenant: Option<&str>,
        since_unix_ms: u64,
        stretch_ms: u64,
    ) -> Result<Vec<AuditCount>, Failure> {
        self.trail().counts(tenant, since_unix_ms, stretch_ms).await.map_err(unread)
    }
}

fn unread(error: StoreError) -> Failure {
    Failure::new(Code::Unavailable, "the audit trail cannot be read at present")
        .blame(Blame::Gateway)
        .caused_by(error)
}
