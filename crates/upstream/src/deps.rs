use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use auth::client::OAuthClient;
use egress::http::Client;
use egress::process::Runner;
use proto::{Clock, Digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strip::Tool;
use strip::servers::{Claims, Servers};

use crate::{Era, Timing};

/// Puts the whole list of one server into the catalog.
pub type Publish = Arc<dyn Fn(&str, Vec<Arc<dyn Tool>>) + Send + Sync>;

/// What the servers are connected with; the binary puts it together once.
#[derive(Clone)]
pub struct Deps {
    pub runner: Arc<Runner>,
    pub http: Client,
    /// Tokens for servers that ask for them; without it, they are not answered.
    pub keyring: Option<Arc<OAuthClient>>,
    /// Where the tools go, usually `Catalog::publish`.
    pub publish: Publish,
    /// Where everything else goes that servers offer.
    pub servers: Arc<Servers>,
    pub lists: Arc<dyn ListStore>,
    pub clock: Clock,
    /// The gateway's environment, of which children get a few harmless variables.
    pub environment: BTreeMap<String, String>,
    pub timing: Timing,
}

/// A server's tools as it listed them, with all that the gateway does not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolList {
    pub tools: Vec<Arc<Value>>,
    /// When it was listed, in milliseconds since 1970.
    pub listed_at: u64,
    pub era: Option<Era>,
    /// The command or URLs that it came from.
    pub origin: Digest,
    /// What the server offers beside tools.
    #[serde(default)]
    pub beside: Beside,
}

/// What a server offers beside tools, as it listed it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Beside {
    pub prompts: Vec<Arc<Value>>,
    pub resources: Vec<Arc<Value>>,
    pub templates: Vec<Arc<Value>>,
    /// The server's capabilities, as it states them.
    pub capabilities: Value,
    /// When each entry was first offered.
    pub claims: Claims,
}

/// Where the last list of each server outlives the gateway.
#[async_trait]
pub trait ListStore: Send + Sync + 'static {
    /// The last list that was saved for a server.
    async fn load(&self, server: &str) -> Option<ToolList>;

    /// Keeps a list in place of the one before; what cannot be kept is lost without harm.
    async fn save(&self, server: &str, list: &ToolList);
}
