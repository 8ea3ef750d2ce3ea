//! The guarded HTTP client against real servers on loopback.
//!
//! No test dials anything but loopback: where a story needs a good address, loopback plays it,
//! opened by a rule for the one port of the test's own server.

mod content;
mod guard;
mod limits;
mod names;
mod partial;
mod pool;
mod redirects;
pub(crate) mod server;
mod tls;
