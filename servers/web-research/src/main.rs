//! `web-research-mcp`: search, scraping and research sessions, as a server of their own.

mod settings;
mod tools;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Must be first: as the sandbox's launcher this process must stay single-threaded.
    egress::sandbox::maybe_run_launcher();
    reading::maybe_run_reader();
    // The TLS provider of the process. The error only says that one is installed already.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    kit::main(tools::server(settings::read()))
}
