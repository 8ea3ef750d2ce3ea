use std::fmt;

use serde::{Deserialize, Serialize};

/// The tenant that rows, caches and files belong to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TenantId(String);

impl TenantId {
    /// Takes a tenant's name as validated claims gave it.
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

/// The scope of those who decide about calls that wait for a person.
pub const APPROVALS_DECIDE: &str = "approvals:decide";

/// The scope of whoever runs the gateway, which no token or key can carry.
pub const ADMIN: &str = "admin";

/// Who is asking. Only the `auth` crate makes one; a header never does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Principal {
    pub tenant: TenantId,
    pub subject: String,
    /// The agent profile the caller came as, if any.
    pub agent: Option<String>,
    pub scopes: Vec<String>,
}

impl Principal {
    /// Whether the caller may do what a scope stands for.
    pub fn holds(&self, scope: &str) -> bool {
        self.scopes.iter().any(|held| held == scope)
    }

    /// Whether this is the same caller, whatever each may do: what one began, the other may go on with.
    pub fn is_same_caller(&self, other: &Self) -> bool {
        (&self.tenant, &self.subject, &self.agent) == (&other.tenant, &other.subject, &other.agent)
    }
}
