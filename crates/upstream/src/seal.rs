//! State that a caller carries for us: sealed, so that it comes back as it left, from whom it was given to, for the
//! request it was given for, and in time.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use proto::{Digest, Principal, digest_of_parts};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use uuid::Uuid;

/// Longer texts are not looked at.
const MAX_BYTES: usize = 64 * 1024;

/// Seals with a key that lives as long as the process.
#[derive(Clone)]
pub(crate) struct Seal {
    key: [u8; 64],
}

/// What a sealed text is good for.
#[derive(Clone, Copy)]
pub(crate) struct Purpose<'a> {
    pub(crate) server: &'a str,
    pub(crate) principal: &'a Principal,
    /// The request, with its arguments, that the text may come back with.
    pub(crate) request: &'a [u8],
}

#[derive(Serialize, Deserialize)]
struct Envelope {
    /// When it ends, in milliseconds since 1970.
    until: u64,
    inner: String,
}

/// Why a text is not opened. Which of the reasons it is, is nobody's business.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("it was not given out for this request, or it has expired")]
pub(crate) struct Refused;

impl Seal {
    pub(crate) fn new() -> Self {
        let mut key = [0; 64];
        for part in key.chunks_exact_mut(16) {
            part.copy_from_slice(Uuid::new_v4().as_bytes());
        }
        Self { key }
    }

    /// Seals a text for one purpose until a moment.
    pub(crate) fn close(&self, purpose: Purpose<'_>, until: u64, inner: &str) -> String {
        let envelope = Envelope { until, inner: inner.to_owned() };
        // Two plain fields can always be written.
        let body = serde_json::to_vec(&envelope).unwrap_or_default();
        let sum = self.sum(purpose, &body).finalize().into_bytes();
        let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        format!("{}.{}", encode(&body), encode(&sum))
    }

    /// What was sealed, if it was sealed by us for this purpose and its time is not over.
    pub(crate) fn open(
        &self,
        purpose: Purpose<'_>,
        now: u64,
        sealed: &str,
    ) -> Result<String, Refused> {
        if sealed.len() > MAX_BYTES {
            return Err(Refused);
        }
        let (body, sum) = sealed.split_once('.').ok_or(Refused)?;
        let decode = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| Refused);
        let (body, sum) = (decode(body)?, decode(sum)?);
        self.sum(purpose, &body).verify_slice(&sum).map_err(|_| Refused)?;
        let envelope: Envelope = serde_json::from_slice(&body).map_err(|_| Refused)?;
        if envelope.until < now { Err(Refused) } else { Ok(envelope.inner) }
    }

    fn sum(&self, purpose: Purpose<'_>, body: &[u8]) -> Hmac<Sha256> {
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
