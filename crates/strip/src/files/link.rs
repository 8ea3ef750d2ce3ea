//! Links by which a file is read without any other right: the storage's own, or signed ones of the gateway.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use proto::{Code, FileId, TenantId};
use store::LinkHeaders;
use url::Url;

use super::{FileRecord, Files, broken, millis, name, not_found};
use crate::Failure;

/// No link opens a file for longer; Amazon's do not, either.
const MAX_LASTING: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What a signed link of the gateway says beside the file's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub tenant: TenantId,
    /// Until when it opens the file, in seconds since 1970.
    pub expires: u64,
    pub signature: String,
}

/// A link that opens nothing. It does not say what is wrong with it, which would help to make a better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this link does not open the file, or no longer does")]
pub struct InvalidLink;

/// What signs links.
pub(super) struct LinkKey(hmac::Key);

impl LinkKey {
    pub(super) fn new(bytes: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, bytes))
    }

    fn sign(&self, id: &FileId, tenant: &TenantId, expires: u64) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(hmac::sign(&self.0, &signed(id, tenant, expires)))
    }

    fn verify(&self, id: &FileId, grant: &Grant) -> Result<(), InvalidLink> {
        let signature = BASE64_URL_SAFE_NO_PAD.decode(&grant.signature).map_err(|_| InvalidLink)?;
        let message = signed(id, &grant.tenant, grant.expires);
        hmac::verify(&self.0, &message, &signature).map_err(|_| InvalidLink)
    }
}

/// What is signed. The parts before the tenant have no line breaks, so no two links say the same.
fn signed(id: &FileId, tenant: &TenantId, expires: u64) -> Vec<u8> {
    format!("powerstrip file link\n{id}\n{expires}\n{tenant}").into_bytes()
}

impl Files {
    /// Under which URL the gateway's doors are reached from now on.
    pub fn reached_at(&self, base: Url) {
        self.base.store(Some(Arc::new(base)));
    }

    /// A link by which anybody may read the file for a while; by default as long as the rules say.
    pub async fn link(
        &self,
        record: &FileRecord,
        lasting: Option<Duration>,
    ) -> Result<Url, Failure> {
        let now = self.clock.unix_ms();
        let mut lasting = lasting.unwrap_or(self.rules().link_ttl).min(MAX_LASTING);
        if let Some(expires) = record.expires_ms {
            lasting = lasting.min(Duration::from_millis(expires.saturating_sub(now)));
        }
        if lasting < Duration::from_secs(1) {
            return Err(Failure::new(Code::InvalidInput, "a link lasts for a second at least"));
        }
        let headers = LinkHeaders {
            content_type: record.media_type.clone(),
            content_disposition: name::attachment(&record.name),
        };
        let own = self.objects.link(&record.object, lasting, &headers).await.map_err(broken)?;
        if let Some(url) = own {
            return Ok(url);
        }
        let base = self.base.load_full().ok_or_else(|| {
            Failure::new(Code::Unavailable, "links need `powerstrip serve`, whose URL they name")
        })?;
        let expires = now.saturating_add(millis(lasting)) / 1000;
        let signature = self.links.sign(&record.id, &record.tenant, expires);
        let mut url = (*base).clone();
        url.path_segments_mut()
            .map_err(|()| Failure::new(Code::Internal, "the public URL has no path"))?
            .pop_if_empty()
            .extend(["v1", "files", record.id.as_str(), "content"]);
        url.query_pairs_mut()
            .append_pair("expires", &expires.to_string())
            .append_pair("tenant", record.tenant.as_str())
            .append_pair("sig", &signature);
        Ok(url)
    }

    /// The file that a signed link of the gateway opens.
    pub async fn follow(&self, id: &str, grant: &Grant) -> Result<FileRecord, Failure> {
        let refused = || Failure::new(Code::Denied, InvalidLink.to_string());
        let parsed: FileId = id.parse().map_err(|_| refused())?;
        let now = self.clock.unix_ms();
        self.links.verify(&parsed, grant).map_err(|_| refused())?;
        if grant.expires.saturating_mul(1000) <= now {
            return Err(refused());
        }
        let found = self.database.file(&grant.tenant, &parsed, now).await.map_err(broken)?;
        found.ok_or_else(|| not_found(id))
    }
}
