//! The kit as a client sees it: real sockets, real requests.
#![allow(clippy::unwrap_used, reason = "tests")]

mod calls;
mod description;
mod door;
mod drain;
mod offers;
mod wire;
