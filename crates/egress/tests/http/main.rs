//! The guarded HTTP client against real servers on loopback.
//!
//! No test dials anything but loopback: a public address in a DNS answer stands beside a private one,
//! and the whole answer is refused before anyone is called.
#![allow(clippy::unwrap_used, reason = "tests")]

mod content;
mod guard;
mod limits;
mod names;
mod pool;
mod redirects;
mod server;
mod tls;
