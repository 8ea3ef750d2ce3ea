//! The doors as clients see them: a real strip behind real sockets.
#![allow(clippy::unwrap_used, reason = "tests")]

mod admission;
mod drain;
mod files;
mod limits;
mod lsp;
mod mcp_legacy;
mod mcp_modern;
mod openapi;
mod refusals;
mod rest;
mod revisions;
mod sessions;
mod slow;
#[cfg(unix)]
mod socket;
mod stdio;
mod support;
