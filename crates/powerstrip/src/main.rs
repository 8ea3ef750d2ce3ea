//! Powerstrip: a gateway between AI agents and tools.

mod access;
mod cli;
mod cmd;
mod context;
mod exit;
mod installer;
mod memory;
mod operation_client;
mod owner;
mod relay;
mod signals;
mod telemetry;

use std::process::ExitCode;
use std::sync::Arc;

use config::BadConfig;
use environment::{BadVariable, Environment};

use crate::cli::Cli;
use crate::context::Context;
use crate::exit::Usage;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The exit code for wrong usage and invalid configurations.
const MISCONFIGURED: u8 = 2;

fn main() -> ExitCode {
    // Must be first: as the sandbox's launcher this process must stay single-threaded.
    egress::sandbox::maybe_run_launcher();
    reading::maybe_run_reader();
    let Cli { global, command } = Cli::read();
    // The TLS provider of the process. The error only says that one is installed already.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    if let Err(error) = egress::process::become_subreaper() {
        terminal::note(format_args!(
            "powerstrip: processes of tools may outlive the gateway: {error}"
        ));
    }
    let context =
        Context { global, environment: Environment::of_process(), secrets: Arc::default() };
    match cli::run(command, context) {
        Ok(code) => code,
        Err(error) => {
            terminal::note(format_args!("powerstrip: {}", exit::describe(&error)));
            let misconfigured =
                error.is::<BadConfig>() || error.is::<BadVariable>() || error.is::<Usage>();
            if misconfigured { ExitCode::from(MISCONFIGURED) } else { ExitCode::FAILURE }
        }
    }
}
