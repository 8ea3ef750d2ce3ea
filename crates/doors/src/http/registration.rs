//! Registration of servers, as the door needs it.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The announcement of a server that starts. It has no command: only the config file can have one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Announced {
    pub name: String,
    /// The URL of its streamable HTTP transport.
    pub url: String,
    pub version: String,
    /// Its tools as in `tools/list`, offered until the server itself has been asked.
    #[serde(default)]
    pub tools: Option<Vec<Value>>,
    /// Whether the URL is an additional replica instead of the new address of the server.
    #[serde(default)]
    pub replica: bool,
}

/// A lease on a name.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Granted {
    pub name: String,
    pub lease_id: String,
    pub expires_in_ms: u64,
    pub heartbeat_every_ms: u64,
    pub replicas: usize,
}

/// Why a request of a server is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Declined {
    /// The token is unknown or not for registration.
    Token,
    Invalid(String),
    /// The name belongs to another server.
    Taken(String),
    /// The lease does not exist.
    Unknown(String),
    /// The lease cannot be granted now.
    Unavailable(String),
}

/// Grants leases to servers; the door only reads requests and renders answers.
#[async_trait]
pub trait ServerRegistration: Send + Sync {
    /// The state of every server, as a list.
    fn report(&self) -> Value;

    /// Grants a lease to the holder of the token.
    async fn register(&self, token: &str, announced: Announced) -> Result<Granted, Declined>;

    /// Renews a lease.
    async fn heartbeat(&self, token: &str, name: &str, lease: &str) -> Result<Granted, Declined>;

    /// Ends a lease, or all leases of the holder on the name.
    async fn goodbye(&self, token: &str, name: &str, lease: Option<&str>) -> Result<(), Declined>;
}
