use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use http::HeaderValue;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::fault::Fault;
use crate::Secret;
use crate::secret::sealed;

/// A token is renewed this long before it ends, or a fifth of its life if that is shorter.
const MARGIN_MS: u64 = 60_000;

/// Names of scopes.
pub(super) type Scopes = BTreeSet<String>;

/// What a token is for and by whom it was issued: as much as is needed to get the next one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Terms {
    pub(super) issuer: String,
    /// The server's URL: a token is sent to that server and no other, whatever its name is.
    pub(super) url: String,
    /// The resource that was asked for, if any.
    pub(super) resource: Option<String>,
    /// The scopes that were asked for.
    pub(super) scopes: Scopes,
    pub(super) client: ClientIdentity,
}

/// Who we are at one authorization server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClientIdentity {
    pub(super) id: String,
    /// The secret that it gave us at registration; what the config says is not kept here.
    #[serde(with = "sealed::optional")]
    pub(super) secret: Option<Secret>,
}

/// A token as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    #[serde(with = "sealed")]
    pub(super) access: Secret,
    #[serde(with = "sealed::optional")]
    pub(super) refresh: Option<Secret>,
    pub(super) expires_at_ms: Option<u64>,
    pub(super) renew_at_ms: Option<u64>,
    pub(super) terms: Terms,
}

/// A token in use.
pub(super) struct Token {
    /// As it is sent; marked sensitive, so that it follows no redirect to another place.
    pub(super) header: HeaderValue,
    pub(super) kept: Kept,
    /// When it was issued, if this process was there.
    issued: Option<Instant>,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("terms", &self.kept.terms).finish_non_exhaustive()
    }
}

impl Token {
    /// A token that was issued just now.
    pub(super) fn issued(kept: Kept) -> Result<Self, Fault> {
        Ok(Self { issued: Some(Instant::now()), ..Self::kept(kept)? })
    }

    /// A token from the vault.
    pub(super) fn kept(kept: Kept) -> Result<Self, Fault> {
        let mut header = HeaderValue::try_from(format!("Bearer {}", kept.access.expose()))
            .map_err(|_| Fault::unfit("the access token", "cannot travel in a header"))?;
        header.set_sensitive(true);
        Ok(Self { header, kept, issued: None })
    }

    /// Whether it was issued so recently that another one would fare no better.
    pub(super) fn is_new(&self, within: Duration) -> bool {
        self.issued.is_some_and(|at| at.elapsed() < within)
    }

    /// Whether the next one should be had.
    pub(super) fn is_due(&self, now_ms: u64) -> bool {
        self.kept.renew_at_ms.is_some_and(|at| now_ms >= at)
    }

    /// Whether it cannot be of use any more.
    pub(super) fn is_over(&self, now_ms: u64) -> bool {
        self.kept.expires_at_ms.is_some_and(|at| now_ms >= at)
    }
}

/// When a token with this life ends and is renewed.
pub(super) fn times(now_ms: u64, expires_in: Option<u64>) -> (Option<u64>, Option<u64>) {
    let Some(life) = expires_in.map(|seconds| seconds.saturating_mul(1_000)) else {
        return (None, None);
    };
    let end = now_ms.saturating_add(life);
    (Some(end), Some(end.saturating_sub(MARGIN_MS.min(life / 5))))
}
