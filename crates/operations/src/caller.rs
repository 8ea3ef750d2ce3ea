use std::sync::Arc;

use proto::{ADMIN, Principal, TraceId};

/// On whose behalf an operation runs. Tenant and owner come from here, never from the input.
#[derive(Clone, Debug)]
pub struct Caller {
    pub principal: Arc<Principal>,
    /// The trace of the HTTP request; none for the sockets of the data folder.
    pub trace: Option<TraceId>,
    /// The idempotency key of the request, where the route takes one.
    pub idempotency_key: Option<String>,
    operator: bool,
}

impl Caller {
    /// A caller over HTTP, whose scope the door has checked.
    pub fn remote(principal: Arc<Principal>, trace: TraceId) -> Self {
        Self { trace: Some(trace), ..Self::local(principal) }
    }

    /// The local user, on the socket that agents are relayed to as well.
    pub fn local(principal: Arc<Principal>) -> Self {
        Self { principal, trace: None, idempotency_key: None, operator: false }
    }

    /// The operator: commands on the operator's socket, or in the process that owns the data folder.
    pub fn operator(principal: Arc<Principal>) -> Self {
        Self { operator: true, ..Self::local(principal) }
    }

    /// Whether this is the operator in person, rather than a bearer of a credential.
    pub fn is_operator(&self) -> bool {
        self.operator
    }

    /// The only tenant whose rows the caller sees; none for all tenants.
    pub fn tenant(&self) -> Option<&str> {
        let all = self.operator || self.principal.holds(ADMIN);
        (!all).then(|| self.principal.tenant.as_str())
    }
}
