//! The kit as a client sees it: real sockets, real requests.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests play the client")]

mod calls;
mod description;
mod door;
mod drain;
mod offers;
mod wire;
