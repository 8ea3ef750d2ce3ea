//! The audit trail: reading it, and recording requests that a door refused before they became calls.

use std::sync::Arc;

use proto::{Blame, Code, Principal, Scrubber, TraceId};
use serde_json::Value;
use store::{AuditCount, AuditFilter, AuditPage, AuditTrail, StoreError};

use crate::guard::arguments::Arguments;
use crate::guard::audit::Decision;
use crate::{Door, Failure, Request, Strip};

/// A request that was refused before it was read.
#[derive(Clone, Debug)]
pub struct RefusedRequest<'a> {
    /// The tool that it named, or what else it asked for.
    pub about: &'a str,
    pub principal: Arc<Principal>,
    pub door: Door,
    pub trace: TraceId,
}

impl Strip {
    /// Calls that have ended, newest first. A caller that may see one tenant only must set it in the filter.
    pub async fn calls(&self, filter: AuditFilter) -> Result<AuditPage, Failure> {
        self.trail().page(filter).await.map_err(unreadable)
    }

    /// How many calls of a tenant, or of all, began in each interval since a time.
    pub async fn call_counts(
        &self,
        tenant: Option<&str>,
        since_unix_ms: u64,
        interval_ms: u64,
    ) -> Result<Vec<AuditCount>, Failure> {
        self.trail().counts(tenant, since_unix_ms, interval_ms).await.map_err(unreadable)
    }

    /// The audit trail, for reading it with messages and statistics. Whoever reads it for a caller that may see one
    /// tenant only must set that tenant in the filter.
    pub fn audit_trail(&self) -> &AuditTrail {
        self.trail()
    }

    /// Removes these secrets from what is kept of calls.
    pub fn set_secrets(&self, secrets: Scrubber) {
        self.guards().audit.set_secrets(secrets);
    }

    /// Writes the audit row of a refused request. Its arguments are unknown: the row has the digest of `null`.
    pub async fn record_refusal(&self, refused: RefusedRequest<'_>, failure: &Failure) {
        let mut request = Request::new(refused.about, Value::Null, refused.principal, refused.door);
        request.trace = refused.trace;
        let row = self.guards().audit.open(&request, &Arguments::of(&request.input), None);
        if let Err(unwritten) = row.close(Decision::Refused, Some(failure), false).await {
            tracing::error!(trace = %request.trace, error = %unwritten, "the audit row of a refused request could not be written");
        }
    }
}

fn unreadable(error: StoreError) -> Failure {
    Failure::new(Code::Unavailable, "the audit trail cannot be read at present")
        .blame(Blame::Gateway)
        .caused_by(error)
}
