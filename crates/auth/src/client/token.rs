use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use http::HeaderValue;
use proto::Secret;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

use super::dpop::ProofKey;
use super::fault::Fault;
use crate::secret::sealed;

/// A token is renewed this long before it expires, or after four fifths of its lifetime if that is later.
const MARGIN_MS: u64 = 60_000;

/// The scope that requests a refresh token.
pub(super) const OFFLINE_ACCESS: &str = "offline_access";

/// The scheme of tokens that are bound to a key.
pub(super) const DPOP_SCHEME: &str = "DPoP";

/// Names of scopes.
pub(super) type Scopes = BTreeSet<String>;

/// The issuer and purpose of a token: all that is needed to request the next one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Terms {
    pub(super) issuer: String,
    /// The server's URL. The token is sent to no other URL, even if a server with another URL takes over its name.
    pub(super) url: String,
    /// The requested resource, if any.
    pub(super) resource: Option<String>,
    /// The requested scopes.
    pub(super) scopes: Scopes,
    pub(super) client: ClientIdentity,
    /// Whether the token is bound to a key.
    #[serde(default)]
    pub(super) bound: bool,
}

/// Our client id at one authorization server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClientIdentity {
    pub(super) id: String,
    /// The secret that it issued at registration; a secret of the config is not stored here.
    #[serde(with = "sealed::optional")]
    pub(super) secret: Option<Secret>,
    /// The method by which it authenticates there, if that is known.
    #[serde(default)]
    pub(super) auth_method: Option<AuthMethod>,
}

/// How a client authenticates at a token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AuthMethod {
    /// A public client names itself.
    None,
    ClientSecretBasic,
    ClientSecretPost,
}

impl AuthMethod {
    /// The methods with a secret, the one that every server must support first.
    pub(super) const WITH_SECRET: [Self; 2] = [Self::ClientSecretBasic, Self::ClientSecretPost];

    /// The method of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::None, Self::ClientSecretBasic, Self::ClientSecretPost]
            .into_iter()
            .find(|method| method.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ClientSecretBasic => "client_secret_basic",
            Self::ClientSecretPost => "client_secret_post",
        }
    }
}

impl ClientIdentity {
    /// A client without a secret of its own.
    pub(super) fn public(id: impl Into<String>) -> Self {
        Self { id: id.into(), secret: None, auth_method: None }
    }
}

/// A token as the vault stores it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredToken {
    #[serde(with = "sealed")]
    pub(super) access: Secret,
    #[serde(with = "sealed::optional")]
    pub(super) refresh: Option<Secret>,
    pub(super) expires_at_ms: Option<u64>,
    pub(super) renew_at_ms: Option<u64>,
    pub(super) terms: Terms,
    /// The key that it is bound to.
    #[serde(default, with = "sealed::optional")]
    pub(super) proof_key: Option<Secret>,
}

/// A token in use.
pub(super) struct Token {
    /// The header value; marked sensitive, so that it is not sent along with a redirect to another host.
    pub(super) header: HeaderValue,
    pub(super) stored: StoredToken,
    /// The key that it is bound to.
    pub(super) proof_key: Option<ProofKey>,
    /// When it was issued, if this process requested it.
    issued: Option<Instant>,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("terms", &self.stored.terms).finish_non_exhaustive()
    }
}

impl Token {
    /// A token that was just issued.
    pub(super) fn issued(stored: StoredToken) -> Result<Self, Fault> {
        Ok(Self { issued: Some(Instant::now()), ..Self::from_vault(stored)? })
    }

    /// A token from the vault.
    pub(super) fn from_vault(stored: StoredToken) -> Result<Self, Fault> {
        let proof_key = match &stored.proof_key {
            Some(key) => {
                let unreadable = || Fault::invalid("the key of a token", "cannot be read");
                Some(ProofKey::read(key).ok_or_else(unreadable)?)
            }
            None => None,
        };
        let scheme = if proof_key.is_some() { DPOP_SCHEME } else { "Bearer" };
        let mut header = HeaderValue::try_from(format!("{scheme} {}", stored.access.expose()))
            .map_err(|_| Fault::invalid("the access token", "cannot be sent in a header"))?;
        header.set_sensitive(true);
        Ok(Self { header, stored, proof_key, issued: None })
    }

    /// Whether it was issued so recently that a new one would be rejected as well.
    pub(super) fn is_new(&self, within: Duration) -> bool {
        self.issued.is_some_and(|at| at.elapsed() < within)
    }

    /// Whether it should be renewed.
    pub(super) fn is_due(&self, now_ms: u64) -> bool {
        self.stored.renew_at_ms.is_some_and(|at| now_ms >= at)
    }

    /// Whether it has expired.
    pub(super) fn is_over(&self, now_ms: u64) -> bool {
        self.stored.expires_at_ms.is_some_and(|at| now_ms >= at)
    }
}

/// A number of seconds; some servers write it as a string or with a fraction.
pub(super) fn seconds(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    text.split('.').next()?.parse().ok()
}

/// When a token with this lifetime expires, and when it is renewed.
pub(super) fn times(now_ms: u64, expires_in: Option<u64>) -> (Option<u64>, Option<u64>) {
    let Some(lifetime) = expires_in.map(|seconds| seconds.saturating_mul(1_000)) else {
        return (None, None);
    };
    let end = now_ms.saturating_add(lifetime);
    (Some(end), Some(end.saturating_sub(MARGIN_MS.min(lifetime / 5))))
}
