//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::cmd;
use crate::config::Overrides;

const EXAMPLES: &str = "\
Examples:
  powerstrip serve                                  start the gateway on 127.0.0.1:7777
  powerstrip tools                                  list what can be called
  powerstrip call demo.echo --input '{\"message\":\"hi\"}'
  powerstrip new tool weather.now --kind python     begin a tool of your own
  powerstrip check                                  find mistakes in tools, prompts and config
  powerstrip stdio                                  speak MCP over stdin and stdout

Environment: POWERSTRIP_CONFIG, POWERSTRIP_DATA_DIR, POWERSTRIP_TOOLS (separated by `:`), POWERSTRIP_PROMPTS,
POWERSTRIP_LISTEN, POWERSTRIP_LOG. A flag beats its variable, which beats the config file.

Exit codes: 0 all went well, 1 something failed, 2 wrong usage or a config that cannot be used.";

/// A gateway between AI agents and tools: drop a YAML file into a folder, and call it, guarded, from every door.
#[derive(Debug, Parser)]
#[command(name = "powerstrip", version, after_help = EXAMPLES, max_term_width = 120)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

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
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(cmd::serve::Serve),
    Stdio(cmd::stdio::Stdio),
    Tools(cmd::tools::ToolsCommand),
    Call(cmd::call::CallCommand),
    Prompts(cmd::prompts::PromptsCommand),
    Check(cmd::check::Check),
    New(cmd::new::New),
    Doctor(cmd::doctor::Doctor),
    Config(cmd::config::ConfigCommand),
    Completions(cmd::completions::Completions),
}
