//! The guarded HTTP client against real servers on loopback.
//!
//! No test dials anything but loopback: where a story needs a good address, loopback plays it,
//! opened by a rule for the one port of the test's own server.
#![allow(clippy::unwrap_used, reason = "tests")]

mod content;
mod guard;
mod limits;
mod names;
mod partial;
mod pool;
mod redirects;
mod server;
mod tls;
