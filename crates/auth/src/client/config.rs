//! `servers.NAME.auth`, with its secrets resolved.

use std::path::PathBuf;

use egress::http::Target;
use proto::Secret;

use super::assertion::SigningKey;

/// How the gateway gets tokens for one server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientConfig {
    pub grant: Grant,
    /// The gateway's client id at the authorization server.
    pub client_id: Option<String>,
    pub client_secret: Option<Secret>,
    /// A PEM key for client assertions, instead of a secret.
    pub private_key: Option<Secret>,
    /// The id of that key at the authorization server.
    pub key_id: Option<String>,
    /// Scopes in addition to those that the server asks for.
    pub scopes: Vec<String>,
    /// The one trusted authorization server for this server; it may have a private address.
    pub issuer: Option<String>,
    pub resource: Resource,
    /// The callback URL, if it is not the gateway's own.
    pub redirect_uri: Option<String>,
    /// The token to exchange.
    pub subject: Option<SubjectToken>,
    /// Where that token comes from, for [`Grant::IdentityAssertion`].
    pub identity_provider: Option<IdentityProvider>,
}

/// The identity provider of an organisation, which vouches for people at authorization servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityProvider {
    pub issuer: String,
    /// The gateway's client id there.
    pub client_id: String,
    pub client_secret: Option<Secret>,
}

/// How a token is obtained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grant {
    /// Each person logs in with a browser and has a token of their own.
    #[default]
    AuthorizationCode,
    /// The gateway authenticates as itself.
    ClientCredentials,
    /// A given token is exchanged for one of the server.
    TokenExchange,
    /// A given signed assertion, such as that of a workload, is exchanged for a token of the server (RFC 7523).
    JwtBearer,
    /// A given ID token is exchanged at the identity provider for an assertion, and that for a token of the server
    /// (enterprise-managed authorization).
    IdentityAssertion,
}

impl Grant {
    /// Whether it starts from a token that the config gives.
    fn needs_subject(self) -> bool {
        matches!(self, Self::TokenExchange | Self::JwtBearer | Self::IdentityAssertion)
    }
}

/// The `resource` of token requests (RFC 8707).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Resource {
    /// The one in the server's metadata.
    #[default]
    FromMetadata,
    /// This one.
    Named(String),
    /// None, for authorization servers that reject the parameter.
    Omitted,
}

/// A token to exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubjectToken {
    Given(Secret),
    /// Read for each request, because another process may replace it.
    File(PathBuf),
}

/// An invalid setting: its key and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("auth.{key}: {reason}")]
pub struct InvalidClientConfig {
    pub key: &'static str,
    pub reason: String,
}

fn invalid(key: &'static str, reason: impl Into<String>) -> InvalidClientConfig {
    InvalidClientConfig { key, reason: reason.into() }
}

impl ClientConfig {
    /// Checks the settings without asking any server.
    pub fn check(&self) -> Result<(), InvalidClientConfig> {
        let machine = self.grant != Grant::AuthorizationCode;
        if machine && self.client_id.is_none() {
            return Err(invalid("client_id", "this grant needs one"));
        }
        if self.grant == Grant::ClientCredentials
            && self.client_secret.is_none()
            && self.private_key.is_none()
        {
            let why = "this grant needs a client_secret or a private_key";
            return Err(invalid("client_secret", why));
        }
        if self.client_secret.is_some() && self.private_key.is_some() {
            return Err(invalid(
                "private_key",
                "there is a client_secret as well; set only one of them",
            ));
        }
        if self.client_id.is_none() && (self.client_secret.is_some() || self.private_key.is_some())
        {
            return Err(invalid("client_id", "a client_secret or private_key needs one"));
        }
        let secret = self.client_secret.is_some() || self.private_key.is_some();
        if (secret || self.subject.is_some()) && self.issuer.is_none() {
            // Otherwise the server could name an authorization server of its choice, which would receive the secret.
            let why = "a secret belongs to one authorization server: name it here";
            return Err(invalid("issuer", why));
        }
        if self.grant.needs_subject() && self.subject.is_none() {
            return Err(invalid("subject_token", "this grant needs a token to exchange"));
        }
        if !self.grant.needs_subject() && self.subject.is_some() {
            let why = "only the grants token_exchange, jwt_bearer and identity_assertion use it";
            return Err(invalid("subject_token", why));
        }
        if (self.grant == Grant::IdentityAssertion) != self.identity_provider.is_some() {
            let why = "`grant: identity_assertion` needs it, and no other grant uses it";
            return Err(invalid("identity_provider", why));
        }
        if let Some(key) = &self.private_key {
            SigningKey::parse(key.expose()).map_err(|why| invalid("private_key", why))?;
        }
        if self.key_id.is_some() && self.private_key.is_none() {
            return Err(invalid("key_id", "it needs a private_key"));
        }
        if let Some(bad) =
            self.scopes.iter().find(|scope| super::challenge::scopes(scope).len() != 1)
        {
            return Err(invalid("scopes", format!("`{bad}` is not one scope")));
        }
        let named = match &self.resource {
            Resource::Named(named) => Some(named),
            Resource::FromMetadata | Resource::Omitted => None,
        };
        let provider = self.identity_provider.as_ref().map(|provider| provider.issuer.clone());
        for (key, url) in [
            ("identity_provider", &provider),
            ("issuer", &self.issuer),
            ("redirect_uri", &self.redirect_uri),
            ("resource", &named.cloned()),
        ] {
            if let Some(url) = url {
                // Some authorization servers know resources by names without a host.
                let is_name = ["api://", "urn:"].iter().any(|scheme| url.starts_with(scheme));
                if key != "resource" || !is_name {
                    Target::parse(url).map_err(|why| invalid(key, why.to_string()))?;
                }
                if url.contains('#') {
                    return Err(invalid(key, "it has a fragment"));
                }
            }
        }
        Ok(())
    }
}
