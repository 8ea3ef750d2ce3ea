//! Powerstrip: one guarded strip between AI agents and tools.

mod cli;
mod cmd;
mod config;
mod environment;
mod output;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;
use crate::cmd::Context;
use crate::config::BadConfig;
use crate::environment::Environment;

/// Wrong usage, or a configuration that cannot be used.
const MISCONFIGURED: u8 = 2;

fn main() -> ExitCode {
    // First of all: as the sandbox's launcher this process must stay single-threaded.
    egress::sandbox::maybe_run_launcher();
    let Cli { global, command } = Cli::parse();
    let context = Context { global, environment: Environment::of_process() };
    match cmd::run(command, context) {
        Ok(code) => code,
        Err(error) => {
            output::note(format_args!("powerstrip: {error:#}"));
            if error.is::<BadConfig>() { ExitCode::from(MISCONFIGURED) } else { ExitCode::FAILURE }
        }
    }
}
