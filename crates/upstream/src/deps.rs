use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use auth::client::OAuthClient;
use auth::secrets::SecretStore;
use egress::http::Client;
use egress::process::Runner;
use proto::{Clock, Digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strip::Tool;
use strip::servers::{Claims, InstanceKey, OfferedAt, Servers};

use crate::era::Era;
use crate::instances::Announced;
use crate::timing::Timing;

/// Puts the whole list of one server into the catalog.
pub type Publish = Arc<dyn Fn(&str, Vec<Arc<dyn Tool>>) + Send + Sync>;

/// Puts the whole list of one caller's instance of a server into the catalog, for that caller only, or takes it out.
/// Returns whether this is a change.
pub type PublishOwn =
    Arc<dyn Fn(&str, InstanceKey, Option<Vec<Arc<dyn Tool>>>) -> bool + Send + Sync>;

/// The services that connections to servers need, made once by the binary.
#[derive(Clone)]
pub struct Deps {
    pub runner: Arc<Runner>,
    pub http: Client,
    /// Tokens for servers that require them; without it, no token is sent.
    pub keyring: Option<Arc<OAuthClient>>,
    /// Secrets of people, for servers that take a value of each person.
    pub secrets: Option<Arc<SecretStore>>,
    /// Usually `Catalog::publish`.
    pub publish: Publish,
    /// Usually `Catalog::publish_own`.
    pub publish_own: PublishOwn,
    /// Where prompts and resources are published.
    pub servers: Arc<Servers>,
    pub lists: Arc<dyn ListStore>,
    pub clock: Clock,
    /// When the gateway started: servers that list their offerings shortly after it offered them at the same time.
    pub began_unix_ms: u64,
    /// The gateway's environment, of which child processes get a few harmless variables.
    pub environment: BTreeMap<String, String>,
    pub timing: Timing,
}

/// Names that a server lists within this time after the gateway's start count as offered from the start.
const START: u64 = 30_000;

impl Deps {
    /// The time of claims on names that are offered now.
    pub(crate) fn offered_at(&self) -> OfferedAt {
        let (now_ms, began_ms) = (self.clock.unix_ms(), self.began_unix_ms);
        let is_start = now_ms.saturating_sub(began_ms) < START;
        OfferedAt { now_ms, start_ms: if is_start { began_ms } else { now_ms } }
    }
}

/// A server's tools as it listed them, including fields that the gateway does not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolList {
    pub tools: Vec<Arc<Value>>,
    /// When it was listed, in milliseconds since 1970.
    pub listed_at: u64,
    pub era: Option<Era>,
    /// A digest of the command or URLs that it came from.
    pub origin: Digest,
    /// What the server offers in addition to tools.
    #[serde(default, alias = "beside")]
    pub other: OtherOfferings,
}

impl ToolList {
    /// Which lists of a later one differ.
    pub(crate) fn changes(&self, later: &Self) -> Announced {
        let (before, now) = (&self.other, &later.other);
        Announced {
            tools: self.tools != later.tools,
            prompts: before.prompts != now.prompts,
            resources: before.resources != now.resources || before.templates != now.templates,
        }
    }
}

/// What a server lists in addition to tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OtherOfferings {
    pub prompts: Vec<Arc<Value>>,
    pub resources: Vec<Arc<Value>>,
    pub templates: Vec<Arc<Value>>,
    /// The server's capabilities, as it states them.
    pub capabilities: Value,
    /// When each entry was first offered.
    pub claims: Claims,
}

/// Stores the last list of each server across restarts.
#[async_trait]
pub trait ListStore: Send + Sync + 'static {
    /// The last list that was saved for a server.
    async fn load(&self, server: &str) -> Option<ToolList>;

    /// Replaces the stored list; a failure to store it has no effect but a slower next start.
    async fn save(&self, server: &str, list: &ToolList);
}
