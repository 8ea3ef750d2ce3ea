//! What the gateway takes from the process that runs it.

use std::sync::Arc;

use arc_swap::ArcSwap;
use config::{BadConfig, Loaded, Overrides, load};
use environment::Environment;
use proto::Scrubber;

/// The environment of the process, and the secrets that its logs must not show.
#[derive(Clone)]
pub struct Process {
    pub environment: Environment,
    /// Removes the secrets of the current config from logs and traces.
    pub secrets: Arc<ArcSwap<Scrubber>>,
}

impl Process {
    /// Loads the configuration with these flags.
    pub fn load(&self, flags: &Overrides) -> Result<Loaded, BadConfig> {
        load(flags, &self.environment)
    }
}
