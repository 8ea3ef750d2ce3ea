//! Workflows at the boundary: through MCP, across restarts, with people and with failures.
#![allow(clippy::disallowed_methods, clippy::print_stderr, reason = "tests")]

mod changing;
mod examples;
mod execution;
mod guarding;
mod people;
mod steering;
mod support;
mod watching;
