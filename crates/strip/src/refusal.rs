//! Requests that a door refused before they became calls: each leaves a row in the audit trail.

use std::sync::Arc;

use proto::{Principal, TraceId};
use serde_json::Value;

use crate::guard::arguments::Arguments;
use crate::guard::idempotency::Decision;
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
    /// Leaves the audit row of a refused request. Its arguments are unknown: the row has the digest of none.
    pub async fn record_refusal(&self, request: RefusedRequest<'_>, failure: &Failure) {
        let guards = self.guards();
        let mut call = Request::new(request.about, Value::Null, request.principal, request.door);
        call.trace = request.trace;
        let row = guards.audit.open(&call, &Arguments::of(&call.input), None);
        if let Err(unwritten) = row.close(Decision::Refused, Some(failure), false).await {
            tracing::error!(trace = %call.trace, error = %unwritten, "the audit row of a refused request could not be written");
        }
    }
}
