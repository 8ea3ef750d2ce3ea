//! State that a caller carries for the gateway (`requestState`, task ids): signed, so that it is accepted only unaltered,
//! from the caller and for the request it was issued for, and until it expires.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use proto::{Clock, Code, Digest, Failure, Principal, digest_of_parts};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::Sha256;

use uuid::Uuid;

/// Longer texts are rejected unread.
const MAX_BYTES: usize = 64 * 1024;

/// How long a person may take to answer.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(300);

/// The purpose of a task id, which may come with any request.
const TASKS: &[u8] = b"tasks";

/// Signs with a key that lives as long as the process.
pub struct StateSigner {
    key: [u8; 64],
    clock: Clock,
}

/// What a signed text may be used for.
#[derive(Clone, Copy)]
pub struct Purpose<'a> {
    pub server: &'a str,
    pub principal: &'a Principal,
    /// The request, with its arguments, that the text may come back with.
    pub request: &'a [u8],
}

#[derive(Serialize, Deserialize)]
struct Envelope {
    /// When it expires, in milliseconds since 1970.
    until: u64,
    inner: String,
}

/// Why a text is rejected. Callers do not learn which of the reasons it is.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("it was not given out for this request, or it has expired")]
pub struct Rejected;

impl StateSigner {
    pub fn new(clock: Clock) -> Self {
        let mut key = [0; 64];
        for part in key.chunks_exact_mut(16) {
            part.copy_from_slice(Uuid::new_v4().as_bytes());
        }
        Self { key, clock }
    }

    /// Signs a state that comes back with the same request.
    pub fn sign(&self, purpose: Purpose<'_>, state: &str) -> String {
        let lasts = u64::try_from(ANSWER_TIMEOUT.as_millis()).unwrap_or(u64::MAX);
        self.sign_until(purpose, self.clock.unix_ms().saturating_add(lasts), state)
    }

    /// The state in a signed text; rejects one that is altered, expired or another caller's.
    pub fn verify(&self, purpose: Purpose<'_>, signed: &str) -> Result<String, Failure> {
        self.verify_at(purpose, self.clock.unix_ms(), signed).map_err(|rejected| {
            Failure::new(Code::InvalidInput, format!("the `requestState` is refused: {rejected}"))
                .details(json!({"server": purpose.server, "code": -32602}))
        })
    }

    /// Turns a server's task id into one that only its owner can use.
    pub fn sign_task(&self, server: &str, principal: &Principal, task: &mut Value) {
        let Some(id) = task["taskId"].as_str() else { return };
        let purpose = Purpose { server, principal, request: TASKS };
        let signed = self.sign_until(purpose, u64::MAX, id);
        task["taskId"] = format!("{server}.{signed}").into();
    }

    /// Turns a signed task id back into the server's, for its owner.
    pub fn verify_task(
        &self,
        server: &str,
        principal: &Principal,
        params: &mut Map<String, Value>,
    ) -> Result<(), Failure> {
        let unknown = || {
            Failure::new(Code::NotFound, "there is no such task")
                .details(json!({"server": server, "code": -32602}))
        };
        let given = params.get("taskId").and_then(Value::as_str).ok_or_else(unknown)?;
        let signed = given.strip_prefix(server).and_then(|rest| rest.strip_prefix('.'));
        let purpose = Purpose { server, principal, request: TASKS };
        let id = signed
            .and_then(|signed| self.verify_at(purpose, self.clock.unix_ms(), signed).ok())
            .ok_or_else(unknown)?;
        params.insert("taskId".to_owned(), id.into());
        Ok(())
    }

    fn sign_until(&self, purpose: Purpose<'_>, until: u64, inner: &str) -> String {
        let envelope = Envelope { until, inner: inner.to_owned() };
        // cannot fail: a number and a text.
        let body = serde_json::to_vec(&envelope).unwrap_or_default();
        let mac = self.mac(purpose, &body).finalize().into_bytes();
        let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        format!("{}.{}", encode(&body), encode(&mac))
    }

    fn verify_at(&self, purpose: Purpose<'_>, now: u64, signed: &str) -> Result<String, Rejected> {
        if signed.len() > MAX_BYTES {
            return Err(Rejected);
        }
        let (body, mac) = signed.split_once('.').ok_or(Rejected)?;
        let decode = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| Rejected);
        let (body, mac) = (decode(body)?, decode(mac)?);
        self.mac(purpose, &body).verify_slice(&mac).map_err(|_| Rejected)?;
        let envelope: Envelope = serde_json::from_slice(&body).map_err(|_| Rejected)?;
        if envelope.until < now { Err(Rejected) } else { Ok(envelope.inner) }
    }

    fn mac(&self, purpose: Purpose<'_>, body: &[u8]) -> Hmac<Sha256> {
        let Purpose { server, principal, request } = purpose;
        let bound: Digest = digest_of_parts([
            server.as_bytes(),
            principal.tenant.as_str().as_bytes(),
            principal.subject.as_bytes(),
            &[u8::from(principal.agent.is_some())],
            principal.agent.as_deref().unwrap_or_default().as_bytes(),
            request,
            body,
        ]);
        let mut mac = Hmac::<Sha256>::new(&self.key.into());
        mac.update(bound.as_bytes());
        mac
    }
}

#[cfg(test)]
mod tests;
