//! The input of every command: global flags and the environment.

use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwap;
use clap::Args;
use config::{BadConfig, Loaded, Overrides, load};
use environment::Environment;
use gateway::Process;
use proto::Scrubber;

/// The heading of the flags of every command.
pub(crate) const GLOBAL_OPTIONS: &str = "Global options";

/// Flags of every command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = GLOBAL_OPTIONS)]
pub(crate) struct Global {
    /// The config file [env: POWERSTRIP_CONFIG] [default: `powerstrip.yaml` in this folder, if it exists].
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The folder of the database, the lock and the local sockets [env: POWERSTRIP_DATA_DIR] [default: .powerstrip].
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// A folder of tools (`**/*.tool.yaml`); repeat for several [env: POWERSTRIP_TOOLS, separated by `:`] [default: tools].
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) tools: Vec<PathBuf>,
    /// The prompts folder [env: POWERSTRIP_PROMPTS] [default: prompts].
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) prompts: Option<PathBuf>,
    /// Print JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// The log level on standard error: `error`, `warn`, `info`, `debug`, or a filter such as `info,egress=debug` [env: POWERSTRIP_LOG].
    #[arg(long, global = true, value_name = "FILTER")]
    pub(crate) log: Option<String>,
}

impl Global {
    /// The settings of these flags.
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides {
            config: self.config.clone(),
            data_dir: self.data_dir.clone(),
            tools: self.tools.clone(),
            prompts: self.prompts.clone(),
            listen: None,
            mcp_json: None,
        }
    }
}

/// The input of every command.
pub(crate) struct Context {
    pub(crate) global: Global,
    pub(crate) environment: Environment,
    /// Removes the secrets of the current config from logs and traces.
    pub(crate) secrets: Arc<ArcSwap<Scrubber>>,
}

impl Context {
    /// Loads the configuration with the global flags.
    pub(crate) fn load(&self) -> Result<Loaded, BadConfig> {
        self.load_with(self.global.overrides())
    }

    /// Loads the configuration with these flags.
    pub(crate) fn load_with(&self, flags: Overrides) -> Result<Loaded, BadConfig> {
        load(&flags, &self.environment)
    }

    /// The environment and secrets for a gateway in this process.
    pub(crate) fn process(&self) -> Process {
        Process { environment: self.environment.clone(), secrets: Arc::clone(&self.secrets) }
    }
}
