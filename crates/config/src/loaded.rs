//! A configuration that was read, checked and completed with its secrets.

use std::path::PathBuf;

use auth::AccessOptions;
use proto::{Scrubber, secrets_of};

use crate::secret::Secret;
use crate::settings::Config;

/// Servers by name, with secrets fetched.
pub type Servers = Vec<(String, upstream::ServerConfig)>;

/// A valid configuration and its file.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub config: Config,
    /// The file that it was read from, if any.
    pub file: Option<PathBuf>,
    /// Headers for the OTLP collector, with secrets fetched.
    pub otlp_headers: Vec<(String, Secret)>,
    /// The servers, with secrets fetched.
    pub servers: Servers,
    /// The secret that signs messages of the approval webhook.
    pub webhook_secret: Option<Secret>,
    /// Which callers are accepted, with secrets fetched; only the local user if unset.
    pub access: Option<AccessOptions>,
}

impl Loaded {
    /// A scrubber of the secrets of servers, the OTLP collector and the webhook.
    pub fn scrubber(&self) -> Scrubber {
        let servers = self.servers.iter().flat_map(|(_, server)| server.secrets());
        let collector = self.otlp_headers.iter();
        let collector = collector.flat_map(|(name, value)| secrets_of(name, value.expose()));
        let webhooks = self.webhook_secret.iter().map(|secret| secret.expose().to_owned());
        Scrubber::new(servers.chain(collector).chain(webhooks))
    }
}
