//! The audit trail: reading it, and recording requests that a door refused before they became calls.

use std::sync::Arc;

use proto::{Failure, Principal, Scrubber, TraceId};
use serde_json::Value;
use store::CommitQueue;

use crate::{Door, Job, Request, Strip};

/// A request that a door refused. Its body may have been read, but none of it is recorded.
#[derive(Clone, Debug)]
pub struct RefusedRequest<'a> {
    /// The tool that it named, or what else it asked for.
    pub about: &'a str,
    pub principal: Arc<Principal>,
    pub door: Door,
    pub trace: TraceId,
}

impl Strip {
    /// The writer of audit rows, calls, runs and workflows, which also reads the audit trail with messages and
    /// statistics. A reader for a caller that may see one tenant only must set that tenant in the filter.
    pub fn commits(&self) -> &CommitQueue {
        self.guards().audit.commits()
    }

    /// Removes these secrets from what is kept of calls.
    pub fn set_secrets(&self, secrets: Scrubber) {
        self.guards().audit.set_secrets(secrets);
    }

    /// Keeps arguments and results of calls from now on, or does not.
    pub fn set_payloads(&self, kept: bool) {
        self.guards().audit.set_payloads(kept);
    }

    /// Runs work of the gateway that is no call of a tool, for the caller of a request. It leaves an audit row with the
    /// name and arguments of the request, and counts against the rate.
    pub async fn run_work<T>(
        &self,
        request: Request,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        self.guards().run_work(&Job::new(request), work).await
    }

    /// Writes the audit row of a refused request, with the digest of `null` in place of that of its arguments, and counts it
    /// against the rate of its caller. Returns the failure for the caller: over the rate, that one in place of the refusal.
    pub async fn record_refusal(&self, refused: RefusedRequest<'_>, refusal: Failure) -> Failure {
        let mut request = Request::new(refused.about, Value::Null, refused.principal, refused.door);
        request.trace = refused.trace;
        self.guards().refuse(&Job::new(request), refusal).await
    }
}
