//! Real pages in the real Chromium. The pages come from loopback servers that the policy allows by address and port; all
//! other listeners are canaries, which must not see a connection.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod ending;
mod guard;
mod hidden;
mod limits;
mod proxy;
mod rendering;
#[path = "../http/server.rs"]
#[allow(dead_code, reason = "shared with the tests of the HTTP client")]
mod server;
mod soak;
mod support;
