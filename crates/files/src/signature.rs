use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use proto::{FileId, TenantId};

/// The parts of a signed link of the gateway, apart from the file's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub tenant: TenantId,
    /// The time of expiry, in seconds since 1970.
    pub expires: u64,
    pub signature: String,
}

/// A link that is not valid. It does not say why, which would help to forge one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this link does not open the file, or no longer does")]
pub struct InvalidLink;

/// The key that signs links.
pub(crate) struct LinkKey(hmac::Key);

impl LinkKey {
    pub(crate) fn new(bytes: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, bytes))
    }

    pub(crate) fn sign(&self, id: &FileId, tenant: &TenantId, expires: u64) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(hmac::sign(&self.0, &message(id, tenant, expires)))
    }

    pub(crate) fn verify(&self, id: &FileId, grant: &Grant) -> Result<(), InvalidLink> {
        let signature = BASE64_URL_SAFE_NO_PAD.decode(&grant.signature).map_err(|_| InvalidLink)?;
        let message = message(id, &grant.tenant, grant.expires);
        hmac::verify(&self.0, &message, &signature).map_err(|_| InvalidLink)
    }
}

/// The signed message. The parts before the tenant contain no line breaks, so no two links have the same message.
fn message(id: &FileId, tenant: &TenantId, expires: u64) -> Vec<u8> {
    format!("powerstrip file link\n{id}\n{expires}\n{tenant}").into_bytes()
}
