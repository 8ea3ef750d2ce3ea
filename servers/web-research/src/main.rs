//! `web-research-mcp`: search, scraping and research sessions, as a server of their own.

mod settings;
mod tools;

use std::process::ExitCode;

use kit::NoFlags;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    kit::start("web-research-mcp", env!("CARGO_PKG_VERSION"), &[], |server, NoFlags {}| {
        tools::add(server, settings::read())
    })
}
