//! The state that all handlers share.

use std::sync::Arc;

use auth::Access;
use proto::{Failure, Principal, TraceId};
use strip::{Door, RefusedRequest, Strip};

use super::body::{BodyFault, BodyReader};
use super::mcp::door::McpDoor;
use super::meter::Meter;
use super::options::Options;
use super::routes;
use super::wrong_tokens::WrongTokens;
use crate::size::message_limit;

/// A handle on the state of the HTTP door.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) strip: Arc<Strip>,
    pub(crate) access: Access,
    pub(crate) options: Options,
    pub(crate) bodies: Arc<BodyReader>,
    pub(super) mcp: McpDoor,
    pub(super) meter: Meter,
    pub(super) wrong_tokens: WrongTokens,
}

impl Shared {
    pub(super) fn new(strip: Arc<Strip>, access: Access, options: Options) -> Self {
        let mcp = McpDoor::new(Arc::clone(&strip), &options);
        let (bodies, meter) = (Arc::clone(&options.bodies), Meter::default());
        let wrong_tokens = WrongTokens::new(strip.clock().clone());
        Self(Arc::new(Inner { strip, access, options, bodies, mcp, meter, wrong_tokens }))
    }
}

impl std::ops::Deref for Shared {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Inner {
    /// The largest body that is read now.
    pub(crate) fn max_body(&self) -> usize {
        message_limit(&self.strip, self.options.max_body_bytes)
    }

    /// Makes the failure for a body that was not read. If the caller is the cause, it has an audit row and counts against the
    /// rate.
    pub(crate) async fn refuse_body(
        &self,
        fault: &BodyFault,
        about: &str,
        principal: &Arc<Principal>,
        trace: TraceId,
    ) -> Failure {
        let failure = fault.failure();
        if fault.is_callers() {
            let door = if about == routes::MCP { Door::McpHttp } else { Door::Http };
            let principal = Arc::clone(principal);
            let request = RefusedRequest { about, principal, door, trace };
            return self.strip.record_refusal(request, failure).await;
        }
        failure
    }

    /// Records a call that is refused before it can be made, and returns the failure for the caller.
    pub(crate) async fn refuse_call(
        &self,
        about: &str,
        principal: &Arc<Principal>,
        trace: TraceId,
        failure: Failure,
    ) -> Failure {
        let principal = Arc::clone(principal);
        let request = RefusedRequest { about, principal, door: Door::Http, trace };
        Box::pin(self.strip.record_refusal(request, failure)).await
    }
}
