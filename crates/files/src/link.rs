//! Links that let anyone read a file for a while: presigned by the storage, or signed by the gateway.

use std::sync::Arc;
use std::time::Duration;

use proto::{Code, Failure, FileId};
use store::{FileRecord, LinkHeaders};
use url::Url;

use super::failures::{not_found, storage_failed};
use super::files::{Files, millis};
use super::name;
use super::signature::{Grant, InvalidLink};

/// The longest validity of a link, as for presigned links of S3.
const MAX_TTL: Duration = Duration::from_secs(7 * 24 * 60 * 60);

impl Files {
    /// Sets the public URL of the gateway.
    pub fn set_public_url(&self, base: Url) {
        self.base.store(Some(Arc::new(base)));
    }

    /// A link by which anyone may read the file until it expires; by default as long as the rules say.
    pub async fn link(&self, record: &FileRecord, ttl: Option<Duration>) -> Result<Url, Failure> {
        let now = self.clock.unix_ms();
        let mut ttl = ttl.unwrap_or(self.rules().link_ttl).min(MAX_TTL);
        if let Some(expires) = record.expires_ms {
            ttl = ttl.min(Duration::from_millis(expires.saturating_sub(now)));
        }
        if ttl < Duration::from_secs(1) {
            return Err(Failure::new(
                Code::InvalidInput,
                "a link is valid for at least one second",
            ));
        }
        let headers = LinkHeaders {
            content_type: record.media_type.clone(),
            content_disposition: name::attachment(&record.name),
        };
        let presigned =
            self.objects.link(&record.object, ttl, &headers).await.map_err(storage_failed)?;
        if let Some(url) = presigned {
            return Ok(url);
        }
        let base = self.base.load_full().ok_or_else(|| {
            Failure::new(Code::Unavailable, "links need `powerstrip serve`, whose URL they name")
        })?;
        let expires = now.saturating_add(millis(ttl)) / 1000;
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

    /// The file of a signed link of the gateway.
    pub async fn open_link(&self, id: &str, grant: &Grant) -> Result<FileRecord, Failure> {
        let refused = || Failure::new(Code::Denied, InvalidLink.to_string());
        let parsed: FileId = id.parse().map_err(|_| refused())?;
        let now = self.clock.unix_ms();
        self.links.verify(&parsed, grant).map_err(|_| refused())?;
        if grant.expires.saturating_mul(1000) <= now {
            return Err(refused());
        }
        let found =
            self.database.file(&grant.tenant, &parsed, now).await.map_err(storage_failed)?;
        found.ok_or_else(|| not_found(id))
    }
}
