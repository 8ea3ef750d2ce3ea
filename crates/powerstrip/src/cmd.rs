//! One file per subcommand.

pub(crate) mod agents;
pub(crate) mod approvals;
pub(crate) mod call;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod extract_text;
pub(crate) mod files;
pub(crate) mod import;
pub(crate) mod keys;
pub(crate) mod login;
pub(crate) mod new;
pub(crate) mod prompts;
pub(crate) mod runs;
pub(crate) mod serve;
pub(crate) mod servers;
pub(crate) mod stdio;
pub(crate) mod text;
pub(crate) mod tools;

use std::pin::Pin;
use std::process::ExitCode;

use crate::cli::Command;
use crate::context::Context;

/// Something failed.
pub(crate) const FAILED: ExitCode = ExitCode::FAILURE;

/// A command that was asked for in a way that makes no sense.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Runs a command to its end.
pub(crate) fn run(command: Command, context: Context) -> anyhow::Result<ExitCode> {
    let threads = context.environment.threads()?;
    let on_runtime = |work| on_runtime(threads, work);
    match command {
        Command::Completions(command) => command.run(),
        Command::ExtractText(command) => command.run(),
        Command::Config(command) => command.run(&context),
        Command::Import(command) => command.run(&context),
        Command::New(command) => command.run(&context),
        Command::Serve(command) => on_runtime(Box::pin(command.run(context))),
        Command::Stdio(command) => on_runtime(Box::pin(command.run(context))),
        Command::Tools(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Servers(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Login(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Keys(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Files(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Agents(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Approvals(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Call(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Prompts(command) => on_runtime(Box::pin(command.run(&context))),
        Command::Runs(command) => on_runtime(Box::pin(command.run(&context))),
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
