use std::fmt;

use serde::{Deserialize, Serialize};

/// The tenant that rows, caches and files belong to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TenantId(String);

impl TenantId {
    /// A tenant by its name, from validated claims.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The tenant's name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The scope for deciding about calls that wait for a person.
pub const APPROVALS_DECIDE: &str = "approvals:decide";

/// The operator's scope, which no token or key can carry.
pub const ADMIN: &str = "admin";

/// The authenticated caller. Only the `auth` crate makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Principal {
    pub tenant: TenantId,
    pub subject: String,
    /// The caller's agent profile, if any.
    pub agent: Option<String>,
    pub scopes: Vec<String>,
    /// How the caller was authenticated, so that work that goes on without it can be checked again.
    #[serde(default)]
    pub via: Via,
}

/// How a caller was authenticated. It holds no secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// As the local user or operator, by a pipe, the operator's socket or the admin token.
    #[default]
    Local,
    /// As the local user, by HTTP without a credential.
    Loopback,
    /// By a key of the gateway.
    Key { id: String },
    /// By a token of an identity provider; the client is the program that the provider gave it to, if the token names it.
    Token {
        issuer: String,
        client: Option<String>,
        #[serde(default)]
        audience: Audience,
    },
}

/// The part of the gateway that a token of an identity provider is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// The gateway with all its doors.
    #[default]
    Gateway,
    /// The doors of these agents only.
    Agents(Vec<String>),
}

impl Principal {
    /// Whether the caller has a scope.
    pub fn holds(&self, scope: &str) -> bool {
        self.scopes.iter().any(|held| held == scope)
    }

    /// Whether both are the same caller, regardless of scopes: one may continue what the other began.
    pub fn is_same_caller(&self, other: &Self) -> bool {
        (&self.tenant, &self.subject, &self.agent) == (&other.tenant, &other.subject, &other.agent)
    }
}
