use std::sync::Arc;

use proto::{ADMIN, Principal, TraceId};
use serde_json::{Map, Value};

use crate::OperationError;

/// The field of an input that has the same effect as the header `Idempotency-Key`, for sockets, which have no headers.
pub const IDEMPOTENCY_KEY: &str = "idempotency_key";

/// The longest idempotency key.
const MAX_KEY_LEN: usize = 255;

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

    /// Takes the idempotency key out of an input. It must not differ from that of the header.
    pub fn take_key(&mut self, fields: &mut Map<String, Value>) -> Result<(), OperationError> {
        let Some(key) = fields.remove(IDEMPOTENCY_KEY).filter(|key| !key.is_null()) else {
            return Ok(());
        };
        let fits = |key: &&str| (1..=MAX_KEY_LEN).contains(&key.len());
        let Some(key) = key.as_str().filter(fits) else {
            let message = format!("`{IDEMPOTENCY_KEY}` is a text of 1 to {MAX_KEY_LEN} characters");
            return Err(OperationError::invalid(message));
        };
        if self.idempotency_key.as_ref().is_some_and(|header| header != key) {
            return Err(OperationError::invalid(
                "`idempotency_key` and the header `Idempotency-Key` differ: send one of them",
            ));
        }
        self.idempotency_key = Some(key.to_owned());
        Ok(())
    }
}
