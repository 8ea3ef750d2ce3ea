//! Files at the boundary: a real gateway over HTTP and MCP, its files in a folder or in a real S3 service.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stderr, reason = "tests")]

mod attacks;
mod bucket;
mod commands;
mod resources;
mod store;
mod support;
mod tenants;
mod uploads;
