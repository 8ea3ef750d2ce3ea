//! The command line.

mod help;
mod reference;

use std::pin::Pin;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::cmd;
use crate::context::{Context, Global};

const EXAMPLES: &str = "\
Examples:
  powerstrip serve                                  start the gateway on 127.0.0.1:7777
  powerstrip tools                                  list what can be called
  powerstrip call demo.echo --input '{\"message\":\"hi\"}'
  powerstrip new tool weather.now --kind python     begin a tool of your own
  powerstrip check                                  find mistakes in tools, prompts and config
  powerstrip stdio                                  speak MCP over stdin and stdout

A flag beats its variable, which beats the config file. POWERSTRIP_LISTEN sets the address of `serve`.

Colours are for terminals; NO_COLOR turns them off, CLICOLOR_FORCE=1 on.

Exit codes: 0 all went well, 1 something failed, 2 wrong usage or a config that cannot be used.";

/// A gateway between AI agents and tools: drop a YAML file into a folder, and call it, guarded, from every door.
#[derive(Debug, Parser)]
#[command(name = "powerstrip", version, after_help = EXAMPLES, max_term_width = help::MAX_WIDTH)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Reads the arguments of this process; ends it with a message if they are wrong, or with the help asked for.
    pub(crate) fn read() -> Self {
        let matches = help::arrange(Self::command()).get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(cmd::serve::Serve),
    Stdio(cmd::stdio::Stdio),
    Tools(cmd::tools::ToolsCommand),
    Servers(cmd::servers::ServersCommand),
    Login(cmd::login::Login),
    Keys(cmd::keys::KeysCommand),
    Secret(cmd::secret::SecretCommand),
    Files(cmd::files::FilesCommand),
    Collections(cmd::collections::CollectionsCommand),
    Agents(cmd::agents::AgentsCommand),
    Approvals(cmd::approvals::ApprovalsCommand),
    Call(cmd::call::CallCommand),
    Calls(cmd::calls::CallsCommand),
    Search(cmd::search::SearchCommand),
    Scrape(cmd::scrape::ScrapeCommand),
    Research(cmd::research::ResearchCommand),
    Runs(cmd::runs::RunsCommand),
    Workflows(cmd::workflows::WorkflowsCommand),
    Plan(cmd::plan::PlanCommand),
    Prompts(cmd::prompts::PromptsCommand),
    Check(cmd::check::Check),
    Add(cmd::add::Add),
    Remove(cmd::remove::Remove),
    Enable(cmd::remove::Enable),
    Disable(cmd::remove::Disable),
    Connect(cmd::connect::Connect),
    Disconnect(cmd::disconnect::Disconnect),
    Import(cmd::import::Import),
    New(cmd::new::New),
    Doctor(cmd::doctor::Doctor),
    Config(cmd::config::ConfigCommand),
    Completions(cmd::completions::Completions),
    Text(cmd::text::TextCommand),
    /// Print the manual page about the command line, in Markdown
    #[command(hide = true)]
    Reference,
}

/// Runs a command to its end.
pub(crate) fn run(command: Command, context: Context) -> anyhow::Result<ExitCode> {
    let threads = context.environment.threads()?;
    let on_runtime = |work| on_runtime(threads, work);
    match command {
        Command::Completions(command) => command.run(),
        Command::Reference => {
            terminal::text(reference::page(Cli::command()))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Config(command) => command.run(&context),
        Command::New(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Add(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Remove(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Enable(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Disable(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Connect(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Disconnect(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Import(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Serve(command) => on_runtime(Box::pin(command.run(context))),
        Command::Stdio(command) => on_runtime(Box::pin(command.run(context))),
        Command::Tools(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Servers(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Login(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Secret(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Keys(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Files(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Collections(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Agents(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Approvals(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Call(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Search(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Scrape(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Research(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Calls(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Prompts(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Runs(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Workflows(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Plan(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Check(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Doctor(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Text(command) => on_runtime(Box::pin(command.run(&context))),
    }
}

/// What a command does, however it does it.
type Work<'a> = Pin<Box<dyn Future<Output = anyhow::Result<ExitCode>> + 'a>>;

fn on_runtime(threads: usize, work: Work<'_>) -> anyhow::Result<ExitCode> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(threads).enable_all().build()?;
    let ended = runtime.block_on(work);
    // A thread that still reads standard input would hold the process up for ever.
    runtime.shutdown_background();
    ended
}
