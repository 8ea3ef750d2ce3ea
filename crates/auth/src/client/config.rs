//! `servers.NAME.auth`, secrets fetched.

use std::path::PathBuf;

use egress::http::Target;

use super::assertion::SigningKey;
use crate::Secret;

/// How the gateway gets tokens for one server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientConfig {
    pub grant: Grant,
    /// The name under which the authorization server knows the gateway.
    pub client_id: Option<String>,
    pub client_secret: Option<Secret>,
    /// A PEM that signs who we are, instead of a secret.
    pub private_key: Option<Secret>,
    /// The id of that key at the authorization server.
    pub key_id: Option<String>,
    /// Scopes beside those that the server asks for.
    pub scopes: Vec<String>,
    /// The one authorization server that is trusted with this server; it may have a private address.
    pub issuer: Option<String>,
    pub resource: Resource,
    /// Where the browser comes back to, if not to the gateway's own address.
    pub redirect_uri: Option<String>,
    /// What is exchanged.
    pub subject: Option<Subject>,
}

/// How a token is had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grant {
    /// A person agrees in a browser; each has a token of their own.
    #[default]
    AuthorizationCode,
    /// The gateway itself is known to the authorization server.
    ClientCredentials,
    /// A token that is there already is exchanged for one of the server's.
    TokenExchange,
}

/// The `resource` that tokens are asked for (RFC 8707).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Resource {
    /// As the server's metadata says.
    #[default]
    OfServer,
    /// This one.
    Named(String),
    /// None, for authorization servers that refuse to hear of it.
    Unsaid,
}

/// A token to exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    Given(Secret),
    /// Read each time: whoever writes it may write a new one.
    File(PathBuf),
}

/// What is wrong with an entry: the key, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("auth.{key}: {reason}")]
pub struct Unusable {
    pub key: &'static str,
    pub reason: String,
}

fn unusable(key: &'static str, reason: impl Into<String>) -> Unusable {
    Unusable { key, reason: reason.into() }
}

impl ClientConfig {
    /// Checks what can be known before anybody is asked.
    pub fn check(&self) -> Result<(), Unusable> {
        let machine = self.grant != Grant::AuthorizationCode;
        if machine && self.client_id.is_none() {
            return Err(unusable("client_id", "this grant needs one"));
        }
        if self.grant == Grant::ClientCredentials
            && self.client_secret.is_none()
            && self.private_key.is_none()
        {
            let why = "this grant needs a client_secret or a private_key";
            return Err(unusable("client_secret", why));
        }
        if self.client_secret.is_some() && self.private_key.is_some() {
            return Err(unusable("private_key", "there is a client_secret, too; one is enough"));
        }
        if self.client_id.is_none() && (self.client_secret.is_some() || self.private_key.is_some())
        {
            return Err(unusable("client_id", "a client_secret or private_key needs one"));
        }
        let secret = self.client_secret.is_some() || self.private_key.is_some();
        if (secret || self.subject.is_some()) && self.issuer.is_none() {
            // Otherwise the server could name an authorization server of its choice, which would then be sent the secret.
            let why = "a secret belongs to one authorization server: name it here";
            return Err(unusable("issuer", why));
        }
        if self.grant == Grant::TokenExchange && self.subject.is_none() {
            return Err(unusable("subject_token", "this grant needs a token to exchange"));
        }
        if self.grant != Grant::TokenExchange && self.subject.is_some() {
            return Err(unusable("subject_token", "only `grant: token_exchange` has a use for it"));
        }
        if let Some(key) = &self.private_key {
            SigningKey::parse(key.expose()).map_err(|why| unusable("private_key", why))?;
        }
        if self.key_id.is_some() && self.private_key.is_none() {
            return Err(unusable("key_id", "there is no private_key that it could name"));
        }
        if let Some(bad) =
            self.scopes.iter().find(|scope| super::challenge::scopes(scope).len() != 1)
        {
            return Err(unusable("scopes", format!("`{bad}` is not one scope")));
        }
        let named = match &self.resource {
            Resource::Named(named) => Some(named),
            Resource::OfServer | Resource::Unsaid => None,
        };
        for (key, url) in [
            ("issuer", &self.issuer),
            ("redirect_uri", &self.redirect_uri),
            ("resource", &named.cloned()),
        ] {
            if let Some(url) = url {
                Target::parse(url).map_err(|why| unusable(key, why.to_string()))?;
                if url.contains('#') {
                    return Err(unusable(key, "it has a fragment"));
                }
            }
        }
        Ok(())
    }
}
