//! What every command starts from: its flags and the environment.

use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwap;
use clap::Args;
use config::{BadConfig, Environment, Loaded, Overrides, load};
use proto::Scrubber;

/// Flags of every command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The config file; without it, `powerstrip.yaml` in this folder if there is one.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The folder for the database, the lock and the local socket [default: .powerstrip].
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// A folder of tools (`**/*.tool.yaml`); may be given several times [default: tools].
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) tools: Vec<PathBuf>,
    /// The folder of prompts [default: prompts].
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) prompts: Option<PathBuf>,
    /// Print JSON, for programs.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// What to log to standard error: `error`, `warn`, `info`, `debug`, or a filter such as `info,egress=debug`.
    #[arg(long, global = true, value_name = "FILTER")]
    pub(crate) log: Option<String>,
}

impl Global {
    /// What these flags set.
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

/// What every command starts from.
pub(crate) struct Context {
    pub(crate) global: Global,
    pub(crate) environment: Environment,
    /// Takes the secrets of the config in force out of logs and traces.
    pub(crate) secrets: Arc<ArcSwap<Scrubber>>,
}

impl Context {
    /// Loads the configuration that this command runs under.
    pub(crate) fn load(&self) -> Result<Loaded, BadConfig> {
        self.load_with(self.global.overrides())
    }

    /// Loads the configuration under these flags.
    pub(crate) fn load_with(&self, flags: Overrides) -> Result<Loaded, BadConfig> {
        load(&flags, &self.environment)
    }
}
