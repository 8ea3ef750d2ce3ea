//! The command line.

use clap::{Parser, Subcommand};

use crate::cmd;
use crate::context::Global;

const EXAMPLES: &str = "\
Examples:
  powerstrip serve                                  start the gateway on 127.0.0.1:7777
  powerstrip tools                                  list what can be called
  powerstrip call demo.echo --input '{\"message\":\"hi\"}'
  powerstrip new tool weather.now --kind python     begin a tool of your own
  powerstrip check                                  find mistakes in tools, prompts and config
  powerstrip stdio                                  speak MCP over stdin and stdout

Environment: POWERSTRIP_CONFIG, POWERSTRIP_DATA_DIR, POWERSTRIP_TOOLS (separated by `:`), POWERSTRIP_PROMPTS,
POWERSTRIP_LISTEN, POWERSTRIP_LOG, POWERSTRIP_KEY. A flag beats its variable, which beats the config file.

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

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(cmd::serve::Serve),
    Stdio(cmd::stdio::Stdio),
    Tools(cmd::tools::ToolsCommand),
    Servers(cmd::servers::ServersCommand),
    Login(cmd::login::Login),
    Keys(cmd::keys::KeysCommand),
    Files(cmd::files::FilesCommand),
    Agents(cmd::agents::AgentsCommand),
    Approvals(cmd::approvals::ApprovalsCommand),
    Call(cmd::call::CallCommand),
    Runs(cmd::runs::RunsCommand),
    Prompts(cmd::prompts::PromptsCommand),
    Check(cmd::check::Check),
    Import(cmd::import::Import),
    New(cmd::new::New),
    Doctor(cmd::doctor::Doctor),
    Config(cmd::config::ConfigCommand),
    Completions(cmd::completions::Completions),
    Text(cmd::text::TextCommand),
    #[command(hide = true)]
    ExtractText(cmd::extract_text::ExtractText),
}
