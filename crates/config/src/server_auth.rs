//! `servers.NAME.auth`: how the gateway obtains tokens for a protected server.

use std::fmt;

use auth::client::{ClientConfig, Grant, IdentityProvider, Resource, SubjectToken};
use schemars::JsonSchema;
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::secret::{SecretFault, SecretReader, SecretSource};

/// How the gateway obtains tokens for a protected server. Without it, users log in when the server requires a token.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServerAuth {
    /// The OAuth grant: users log in in a browser, the gateway uses its own credentials, or it exchanges a token.
    pub grant: GrantKind,
    /// The gateway's client id at the authorization server; without it, the gateway registers itself.
    pub client_id: Option<String>,
    /// The client secret, as `{env: NAME}`, `{file: PATH}` or `{secret: NAME}`.
    pub client_secret: Option<SecretSource>,
    /// A private key in PEM form that authenticates the gateway, instead of a client secret.
    pub private_key: Option<SecretSource>,
    /// The id of that key at the authorization server.
    pub key_id: Option<String>,
    /// Scopes to request, in addition to those that the server asks for.
    pub scopes: Vec<String>,
    /// The trusted authorization server of this server; required with a client secret. Its host and port need no
    /// entry in `egress.allow`.
    pub issuer: Option<String>,
    /// The `resource` parameter of token requests (RFC 8707): `true` for the one that the server names, `false` for
    /// none, or a URL or other name (`api://…`, `urn:…`).
    pub resource: ResourceChoice,
    /// The redirect URI, if browsers reach the gateway at another address than the one it listens on.
    pub redirect_uri: Option<String>,
    /// The token to exchange with `grant: token_exchange`, the assertion of `grant: jwt_bearer`, or the ID token of
    /// `grant: identity_assertion`; a file is read again each time.
    pub subject_token: Option<SecretSource>,
    /// The identity provider of `grant: identity_assertion`.
    pub identity_provider: Option<VouchingProvider>,
}

/// How a token is obtained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrantKind {
    /// Users log in in a browser; each has their own token.
    #[default]
    AuthorizationCode,
    /// The gateway authenticates itself, by a secret or a key.
    ClientCredentials,
    /// A token is exchanged for one for the server (RFC 8693).
    TokenExchange,
    /// A signed assertion, such as that of a workload, is exchanged for a token for the server (RFC 7523).
    JwtBearer,
    /// An ID token is exchanged at the identity provider for an assertion, and that for a token for the server
    /// (enterprise-managed authorization).
    IdentityAssertion,
}

/// The identity provider that vouches for the owner of an ID token.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VouchingProvider {
    /// Its issuer URL. Its host and port need no entry in `egress.allow`.
    pub issuer: String,
    /// The gateway's client id there.
    pub client_id: String,
    /// The client secret there, as `{env: NAME}` or `{file: PATH}`.
    #[serde(default)]
    pub client_secret: Option<SecretSource>,
}

/// `true`, `false` or a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(untagged)]
pub enum ResourceChoice {
    #[schemars(with = "bool")]
    #[default]
    OfServer,
    #[schemars(with = "bool")]
    Unsaid,
    Named(String),
}

impl Serialize for ResourceChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::OfServer => serializer.serialize_bool(true),
            Self::Unsaid => serializer.serialize_bool(false),
            Self::Named(url) => serializer.serialize_str(url),
        }
    }
}

impl<'de> Deserialize<'de> for ResourceChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Choice;
        impl Visitor<'_> for Choice {
            type Value = ResourceChoice;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or a URL")
            }

            fn visit_bool<E: de::Error>(self, flag: bool) -> Result<ResourceChoice, E> {
                Ok(if flag { ResourceChoice::OfServer } else { ResourceChoice::Unsaid })
            }

            fn visit_str<E: de::Error>(self, url: &str) -> Result<ResourceChoice, E> {
                Ok(ResourceChoice::Named(url.to_owned()))
            }
        }
        deserializer.deserialize_any(Choice)
    }
}

impl ServerAuth {
    /// The secrets of the section, by key.
    pub(super) fn secrets(&self) -> impl Iterator<Item = (&'static str, &SecretSource)> {
        let keys = [
            ("client_secret", &self.client_secret),
            ("private_key", &self.private_key),
            ("subject_token", &self.subject_token),
        ];
        keys.into_iter().filter_map(|(key, source)| Some((key, source.as_ref()?)))
    }

    /// The section as options of the OAuth client, with secrets fetched; faults by key.
    pub(super) fn resolve(
        &self,
        reader: &SecretReader<'_>,
    ) -> Result<ClientConfig, Vec<(&'static str, String)>> {
        let mut faults = Vec::new();
        let mut fetch = |key: &'static str, source: &Option<SecretSource>| {
            let fetched: Result<_, SecretFault> =
                source.as_ref().map(|source| source.fetch(reader)).transpose();
            fetched.unwrap_or_else(|why| {
                faults.push((key, why.to_string()));
                None
            })
        };
        let client_secret = fetch("client_secret", &self.client_secret);
        let private_key = fetch("private_key", &self.private_key);
        let both = client_secret.is_some() && private_key.is_some();
        // An assumed secret is no key in PEM form, but counts like a client secret.
        let (client_secret, private_key, key_id) = if reader.is_assuming() && !both {
            let key_id = self.key_id.clone().filter(|_| private_key.is_none());
            (client_secret.or(private_key), None, key_id)
        } else {
            (client_secret, private_key, self.key_id.clone())
        };
        // Fetched here as well, to report a missing file at start.
        let subject = fetch("subject_token", &self.subject_token);
        let subject = match &self.subject_token {
            Some(SecretSource::File { file }) => {
                subject.map(|_| SubjectToken::File(reader.base().join(file)))
            }
            _ => subject.map(SubjectToken::Given),
        };
        let identity_provider = self.identity_provider.as_ref().map(|provider| IdentityProvider {
            issuer: provider.issuer.clone(),
            client_id: provider.client_id.clone(),
            client_secret: fetch("identity_provider.client_secret", &provider.client_secret),
        });
        let config = ClientConfig {
            grant: match self.grant {
                GrantKind::AuthorizationCode => Grant::AuthorizationCode,
                GrantKind::ClientCredentials => Grant::ClientCredentials,
                GrantKind::TokenExchange => Grant::TokenExchange,
                GrantKind::JwtBearer => Grant::JwtBearer,
                GrantKind::IdentityAssertion => Grant::IdentityAssertion,
            },
            client_id: self.client_id.clone(),
            client_secret,
            private_key,
            key_id,
            scopes: self.scopes.clone(),
            issuer: self.issuer.clone(),
            resource: match &self.resource {
                ResourceChoice::OfServer => Resource::FromMetadata,
                ResourceChoice::Unsaid => Resource::Omitted,
                ResourceChoice::Named(url) => Resource::Named(url.clone()),
            },
            redirect_uri: self.redirect_uri.clone(),
            subject,
            identity_provider,
        };
        if faults.is_empty()
            && let Err(why) = config.check()
        {
            faults.push((why.key, why.reason));
        }
        if faults.is_empty() { Ok(config) } else { Err(faults) }
    }
}

#[cfg(test)]
mod tests;
