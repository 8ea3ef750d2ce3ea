//! `auth`: which callers are accepted.

use std::collections::BTreeMap;
use std::fmt;

use auth::{AccessOptions, IntrospectionOptions, IssuerOptions, ScopeNames, check_url};
use schemars::JsonSchema;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::secret::{HeaderSource, SecretReader, SecretSource};
use crate::servers::EntryFault;
use crate::sign_in::SignIn;

/// Which callers are accepted. With this section, callers over HTTP need a token or a key, and the gateway may listen
/// on other addresses than loopback.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Auth {
    /// The identity provider whose tokens are accepted, exactly as in the `iss` claim. Its host and port need no
    /// entry in `egress.allow`.
    pub issuer: Option<String>,
    /// Accepted audiences (`aud`): a string or a list. By default `public_url` and the MCP endpoints below it.
    pub audience: Audience,
    /// The URL of the issuer's keys, instead of the one in its metadata.
    pub jwks_uri: Option<String>,
    /// The claim that names the tenant; tokens without it are refused. By default, all users of the issuer are one
    /// tenant.
    pub tenant_claim: Option<String>,
    /// The claim that names the agent, if there is one.
    pub agent_claim: Option<String>,
    /// The names of the scopes in tokens.
    pub scopes: Scopes,
    /// The claim that lists roles, such as `realm_access.roles`.
    pub roles_claim: Option<String>,
    /// The scopes that each role grants, such as `analyst: [tools:read, tools:call]`.
    pub roles: BTreeMap<String, Vec<String>>,
    /// Token introspection (RFC 7662), for opaque tokens.
    pub introspection: Option<Introspection>,
    /// How people sign in to the dashboard at the issuer; without it, they paste a token or a key.
    pub sign_in: Option<SignIn>,
    /// Whether API keys made by `powerstrip keys add` are accepted.
    pub api_keys: bool,
}

impl Default for Auth {
    fn default() -> Self {
        Self {
            issuer: None,
            audience: Audience::default(),
            jwks_uri: None,
            tenant_claim: None,
            agent_claim: None,
            scopes: Scopes::default(),
            roles_claim: None,
            roles: BTreeMap::new(),
            introspection: None,
            sign_in: None,
            api_keys: true,
        }
    }
}

/// The names of the scopes in tokens.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scopes {
    /// The scope to list tools and prompts.
    pub read: String,
    /// The scope to call tools.
    pub call: String,
}

impl Default for Scopes {
    fn default() -> Self {
        let ScopeNames { read, call } = ScopeNames::default();
        Self { read, call }
    }
}

/// Token introspection, for opaque tokens.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Introspection {
    /// The issuer's introspection endpoint.
    pub url: String,
    /// The gateway's client id at the issuer.
    pub client_id: String,
    /// The gateway's client secret, as `{env: NAME}`, `{file: PATH}` or `{secret: NAME}`.
    pub client_secret: HeaderSource,
}

/// One audience or several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "OneOrMany")]
pub struct Audience(pub Vec<String>);

#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "the shape of the setting, for its JSON Schema")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl<'de> Deserialize<'de> for Audience {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrList;
        impl<'de> Visitor<'de> for TextOrList {
            type Value = Audience;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of strings")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Audience, E> {
                Ok(Audience(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Audience, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element()? {
                    texts.push(text);
                }
                Ok(Audience(texts))
            }
        }
        deserializer.deserialize_any(TextOrList)
    }
}

impl Auth {
    /// The sources of the section's secrets.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &SecretSource> {
        let introspection = self.introspection.as_ref();
        let introspection = introspection.and_then(|endpoint| endpoint.client_secret.source());
        let sign_in = self.sign_in.as_ref().and_then(|sign_in| sign_in.client_secret.as_ref());
        introspection.map(|(source, _)| source).into_iter().chain(sign_in)
    }

    /// The section as options of the `auth` crate, with secrets fetched. Faults name keys below `auth`.
    pub(super) fn resolve(
        &self,
        public_url: String,
        reader: &SecretReader<'_>,
    ) -> Result<AccessOptions, Vec<EntryFault>> {
        let mut faults = Vec::new();
        let mut fault = |keys: &[&str], message: String| {
            let keys = keys.iter().map(|key| (*key).to_owned()).collect();
            faults.push(EntryFault { keys, message });
        };
        let introspection = self.introspection.as_ref();
        let urls = [
            (&["issuer"][..], self.issuer.as_ref()),
            (&["jwks_uri"], self.jwks_uri.as_ref()),
            (&["introspection", "url"], introspection.map(|endpoint| &endpoint.url)),
        ];
        for (keys, url) in urls {
            if let Some(Err(why)) = url.map(|url| check_url(url)) {
                fault(keys, why.to_string());
            }
        }
        let scopes = [("read", &self.scopes.read), ("call", &self.scopes.call)];
        for (key, scope) in scopes {
            if let Err(why) = auth::scope::check(scope) {
                fault(&["scopes", key], why.to_string());
            }
        }
        for (role, scopes) in &self.roles {
            for scope in scopes {
                if let Err(why) = auth::scope::check(scope) {
                    fault(&["roles", role], why.to_string());
                }
            }
        }
        if self.issuer.is_none() {
            let unused = [
                ("audience", !self.audience.0.is_empty()),
                ("jwks_uri", self.jwks_uri.is_some()),
                ("tenant_claim", self.tenant_claim.is_some()),
                ("agent_claim", self.agent_claim.is_some()),
                ("roles_claim", self.roles_claim.is_some()),
                ("introspection", self.introspection.is_some()),
                ("sign_in", self.sign_in.is_some()),
            ];
            for (key, _) in unused.into_iter().filter(|(_, set)| *set) {
                fault(&[key], "has no effect without `auth.issuer`".to_owned());
            }
            if !self.api_keys {
                let message = "no caller could sign in: set `auth.issuer`, or keep `api_keys` on";
                fault(&["api_keys"], message.to_owned());
            }
        }
        if !self.roles.is_empty() && self.roles_claim.is_none() {
            fault(&["roles"], "has no effect without `auth.roles_claim`".to_owned());
        }
        let introspection = introspection.and_then(|endpoint| match &endpoint.client_secret {
            HeaderSource::Plain(_) => {
                let message =
                    "a secret is written `{env: NAME}`, `{file: PATH}` or `{secret: NAME}`";
                fault(&["introspection", "client_secret"], message.to_owned());
                None
            }
            source => match source.fetch(reader) {
                Ok(secret) => Some(IntrospectionOptions {
                    url: endpoint.url.clone(),
                    client_id: endpoint.client_id.clone(),
                    client_secret: secret,
                }),
                Err(why) => {
                    fault(&["introspection", "client_secret"], why.to_string());
                    None
                }
            },
        });
        let resolve = |sign_in: &SignIn| sign_in.resolve(reader);
        let sign_in = self.sign_in.as_ref().map(resolve).transpose().unwrap_or_else(|unusable| {
            for (key, message) in unusable {
                fault(&["sign_in", key], message);
            }
            None
        });
        if !faults.is_empty() {
            return Err(faults);
        }
        let issuer = self.issuer.clone().map(|issuer| IssuerOptions {
            issuer,
            audience: self.audience.0.clone(),
            jwks_uri: self.jwks_uri.clone(),
            tenant_claim: self.tenant_claim.clone(),
            agent_claim: self.agent_claim.clone(),
            roles_claim: self.roles_claim.clone(),
            roles: self.roles.clone(),
            introspection,
            sign_in,
        });
        let scopes = ScopeNames { read: self.scopes.read.clone(), call: self.scopes.call.clone() };
        Ok(AccessOptions { public_url, issuer, api_keys: self.api_keys, scopes })
    }
}

/// Checks that the paths of our routes can be appended to a URL.
pub(super) fn check_public_url(url: &str) -> Result<(), String> {
    check_url(url).map_err(|why| why.to_string())?;
    let path = url.splitn(4, '/').nth(3).unwrap_or_default();
    if path.is_empty() { Ok(()) } else { Err("must end after the host and port".to_owned()) }
}
