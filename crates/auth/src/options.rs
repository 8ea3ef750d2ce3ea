//! What an operator sets about who may come in.

use std::collections::BTreeMap;
use std::fmt;

use secrecy::SecretString;
use url::Url;

use crate::client::Resource;
use crate::{Secret, scope};

/// Who is asked about callers, and what their answers mean here. The default is keys of our own and nobody else.
#[derive(Clone, Debug)]
pub struct AccessOptions {
    /// Where callers reach this gateway, without a slash at its end.
    pub public_url: String,
    /// The identity provider.
    pub issuer: Option<IssuerOptions>,
    /// Whether keys that the gateway gave out itself are taken.
    pub api_keys: bool,
    /// The names that tokens have for what a caller may do.
    pub scopes: ScopeNames,
}

/// An identity provider whose tokens are taken.
#[derive(Clone, Debug)]
pub struct IssuerOptions {
    /// Its name, exactly as its tokens carry it.
    pub issuer: String,
    /// Whom tokens must be meant for; empty for this gateway's own URL.
    pub audience: Vec<String>,
    /// Where its keys are, if its metadata is not to be asked.
    pub jwks_uri: Option<String>,
    /// The claim that names the tenant; without it, the issuer is one tenant.
    pub tenant_claim: Option<String>,
    /// The claim that names the agent.
    pub agent_claim: Option<String>,
    /// The claim that lists roles.
    pub roles_claim: Option<String>,
    /// Which scopes a role stands for.
    pub roles: BTreeMap<String, Vec<String>>,
    /// Where tokens that say nothing by themselves are looked up.
    pub introspection: Option<IntrospectionOptions>,
    /// How people sign in there with a browser.
    pub sign_in: Option<SignInOptions>,
}

/// How people sign in at the identity provider with a browser.
#[derive(Clone, Debug)]
pub struct SignInOptions {
    /// The name under which it knows the gateway.
    pub client_id: String,
    /// What shows that it is the gateway; without one it is a public client, which PKCE protects.
    pub client_secret: Option<Secret>,
    /// What is asked for; empty for `openid`, and without roles the scopes for looking and calling.
    pub scopes: Vec<String>,
    /// Whom the token is to be meant for; by default this gateway.
    pub resource: Resource,
}

/// Where opaque tokens are looked up (RFC 7662).
#[derive(Clone)]
pub struct IntrospectionOptions {
    pub url: String,
    pub client_id: String,
    pub client_secret: SecretString,
}

impl fmt::Debug for IntrospectionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntrospectionOptions").field("url", &self.url).finish_non_exhaustive()
    }
}

/// The names that tokens have for what a caller may do.
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
    /// What a token's scope means here.
    pub(crate) fn meaning<'a>(&self, name: &'a str) -> &'a str {
        match name {
            name if name == self.read => scope::TOOLS_READ,
            name if name == self.call => scope::TOOLS_CALL,
            // Another name was given to them: the usual one then opens nothing.
            scope::TOOLS_READ | scope::TOOLS_CALL => "",
            other => other,
        }
    }

    /// The name that tokens have for a scope of ours.
    pub(crate) fn name<'a>(&'a self, scope: &'a str) -> &'a str {
        match scope {
            scope::TOOLS_READ => &self.read,
            scope::TOOLS_CALL => &self.call,
            other => other,
        }
    }
}

/// A URL of the options that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct InvalidUrl {
    why: &'static str,
}

/// Makes sure that a URL names a place over http or https, and carries nothing that would get lost or leak.
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
