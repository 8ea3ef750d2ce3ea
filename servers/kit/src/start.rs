//! Starts a server that reads untrusted bytes, runs programs or has flags of its own.

use std::process::ExitCode;

use clap::Args;
use reading::Work;

use crate::run::{self, Keeping};
use crate::{Capability, Server};

/// Flags of a server that has none of its own.
#[derive(Debug, Clone, Copy, Args)]
pub struct NoFlags {}

/// Runs a server as a program, like [`crate::main`], with flags of its own in addition. Calls can use [`crate::Ctx::read`],
/// [`crate::Ctx::work`] with these functions, and [`crate::Ctx::run`]; references are kept in the user's cache folder.
///
/// Must be the first call of `main`: this process may be a launcher of programs or a reader of documents.
pub fn start<F: Args>(
    name: &'static str,
    version: &'static str,
    works: &[Work],
    describe: impl FnOnce(Server, F) -> Server,
) -> ExitCode {
    // As the sandbox's launcher this process must stay single-threaded.
    egress::sandbox::maybe_run_launcher();
    reading::maybe_run_reader_with(works);
    // The TLS provider of the process. The error only says that one is installed already.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let server = Server::new(name, version);
    let describe = |flags: F| describe(server, flags);
    run::run((name, version), describe, |it: Capability| it, Keeping::InCacheFolder)
}
