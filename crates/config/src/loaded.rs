//! A configuration that was read, checked and completed with its secrets.

use std::path::PathBuf;

use auth::AccessOptions;
use proto::{Scrubber, secrets_of};

use crate::secret::Secret;
use crate::settings::Config;

/// Servers by name, ready to be started.
pub type Servers = Vec<(String, upstream::ServerConfig)>;

/// A configuration that holds, and where it came from.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub config: Config,
    /// The file it was read from, if there is one.
    pub file: Option<PathBuf>,
    /// Headers for the OTLP collector, secrets fetched.
    pub otlp_headers: Vec<(String, Secret)>,
    /// The servers, secrets fetched.
    pub servers: Servers,
    /// What messages about calls that wait are signed with.
    pub webhook_secret: Option<Secret>,
    /// Who may come in, secrets fetched; the local user, where nothing is said.
    pub access: Option<AccessOptions>,
}

impl Loaded {
    /// Finds the secrets of the servers, of the collector and of webhooks.
    pub fn scrubber(&self) -> Scrubber {
        let servers = self.servers.iter().flat_map(|(_, server)| server.secrets());
        let collector = self.otlp_headers.iter();
        let collector = collector.flat_map(|(name, value)| secrets_of(name, value.expose()));
        let webhooks = self.webhook_secret.iter().map(|secret| secret.expose().to_owned());
        Scrubber::new(servers.chain(collector).chain(webhooks))
    }
}
