//! What the door needs to register servers.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a server says of itself when it starts. There is no way to name a command here: only the config file can.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Announced {
    pub name: String,
    /// Where it serves streamable HTTP.
    pub url: String,
    pub version: String,
    /// Its tools as in `tools/list`, offered until it has been asked itself.
    #[serde(default)]
    pub tools: Option<Vec<Value>>,
    /// Whether the URL is one more replica, instead of the new place of the server.
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

/// Why a server's wish is not granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Declined {
    /// The token is nobody's, or not for registration.
    Token,
    Invalid(String),
    /// The name is somebody else's.
    Taken(String),
    /// There is no such lease.
    Unknown(String),
    /// It cannot be granted now.
    Unavailable(String),
}

/// Who keeps the leases; the door only reads requests and renders answers.
#[async_trait]
pub trait ServerDesk: Send + Sync {
    /// How every server is, as a list.
    fn report(&self) -> Value;

    /// Gives a lease to the holder of the token.
    async fn register(&self, token: &str, announced: Announced) -> Result<Granted, Declined>;

    /// Renews a lease.
    async fn heartbeat(&self, token: &str, name: &str, lease: &str) -> Result<Granted, Declined>;

    /// Ends a lease, or all that the holder has on the name.
    async fn goodbye(&self, token: &str, name: &str, lease: Option<&str>) -> Result<(), Declined>;
}
