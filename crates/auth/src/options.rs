//! Options for the admission of callers.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use egress::http::Limits;
use proto::Secret;
use url::Url;

use crate::client::Resource;
use crate::scope;

/// How callers are authenticated: by the gateway's own keys, and by tokens of an identity provider if one is configured.
#[derive(Clone, Debug)]
pub struct AccessOptions {
    /// The gateway's public URL, without a trailing slash.
    pub public_url: String,
    /// The identity provider.
    pub issuer: Option<IssuerOptions>,
    /// Whether the gateway's own keys are accepted.
    pub api_keys: bool,
    /// The names of our scopes in tokens.
    pub scopes: ScopeNames,
}

/// An identity provider whose tokens are accepted.
#[derive(Clone, Debug)]
pub struct IssuerOptions {
    /// Its issuer identifier, exactly as in its tokens.
    pub issuer: String,
    /// Accepted audiences; empty for this gateway's own URL.
    pub audience: Vec<String>,
    /// The URL of its keys, instead of the one in its metadata.
    pub jwks_uri: Option<String>,
    /// The claim that names the tenant; without it, the issuer is one tenant.
    pub tenant_claim: Option<String>,
    /// The claim that names the agent.
    pub agent_claim: Option<String>,
    /// The claim that lists roles.
    pub roles_claim: Option<String>,
    /// The scopes of each role.
    pub roles: BTreeMap<String, Vec<String>>,
    /// The introspection endpoint for opaque tokens.
    pub introspection: Option<IntrospectionOptions>,
    /// Sign-in with a browser.
    pub sign_in: Option<SignInOptions>,
}

/// Sign-in at the identity provider with a browser.
#[derive(Clone, Debug)]
pub struct SignInOptions {
    /// The gateway's client id.
    pub client_id: String,
    /// Without a secret the gateway is a public client, protected by PKCE.
    pub client_secret: Option<Secret>,
    /// Requested scopes; empty for `openid` and, without roles, the scopes for reading and calling.
    pub scopes: Vec<String>,
    /// The token's audience; by default this gateway.
    pub resource: Resource,
}

/// The introspection endpoint for opaque tokens (RFC 7662).
#[derive(Clone)]
pub struct IntrospectionOptions {
    pub url: String,
    pub client_id: String,
    pub client_secret: Secret,
}

impl fmt::Debug for IntrospectionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntrospectionOptions").field("url", &self.url).finish_non_exhaustive()
    }
}

/// The names of our scopes in tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeNames {
    pub read: String,
    pub call: String,
}

impl Default for ScopeNames {
    fn default() -> Self {
        Self { read: scope::TOOLS_READ.to_owned(), call: scope::TOOLS_CALL.to_owned() }
    }
}

impl ScopeNames {
    /// Our scope for a token's scope.
    pub(crate) fn resolve<'a>(&self, name: &'a str) -> &'a str {
        match name {
            name if name == self.read => scope::TOOLS_READ,
            name if name == self.call => scope::TOOLS_CALL,
            // These have other names in tokens, so the default names grant nothing.
            scope::TOOLS_READ | scope::TOOLS_CALL => "",
            other => other,
        }
    }

    /// The name of our scope in tokens.
    pub(crate) fn name<'a>(&'a self, scope: &'a str) -> &'a str {
        match scope {
            scope::TOOLS_READ => &self.read,
            scope::TOOLS_CALL => &self.call,
            other => other,
        }
    }
}

/// An unusable URL in the options, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct InvalidUrl {
    why: &'static str,
}

/// Checks that a URL uses http or https and has no credentials, query or fragment.
pub fn check_url(text: &str) -> Result<(), InvalidUrl> {
    let refused = |why| Err(InvalidUrl { why });
    let Ok(url) = Url::parse(text) else { return refused("is not a URL") };
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return refused("must begin with https:// (or http:// on this machine)");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refused("must not hold a user name or a password");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return refused("must not hold a query or a fragment");
    }
    Ok(())
}

/// Limits on requests to an identity provider.
pub(crate) fn issuer_limits() -> Limits {
    Limits {
        deadline: Some(Duration::from_secs(10)),
        connect: Duration::from_secs(5),
        max_body_bytes: 1 << 20,
        max_redirects: 0,
        ..Limits::default()
    }
}
