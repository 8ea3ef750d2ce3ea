//! One file per subcommand.

pub(crate) mod completions;
pub(crate) mod config;

use std::process::ExitCode;

use crate::cli::{Command, Global};
use crate::config::{BadConfig, Loaded, Overrides, load};
use crate::environment::Environment;

/// Something failed.
pub(crate) const FAILED: ExitCode = ExitCode::FAILURE;

/// What every command starts from.
pub(crate) struct Context {
    pub(crate) global: Global,
    pub(crate) environment: Environment,
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

/// Runs a command to its end.
pub(crate) fn run(command: Command, context: Context) -> anyhow::Result<ExitCode> {
    match command {
        Command::Completions(command) => command.run(),
        Command::Config(command) => command.run(&context),
    }
}
