//! The search tools against providers on loopback.
#![allow(clippy::unwrap_used, reason = "tests")]

mod academic;
mod caches;
mod patents;
mod requests;
mod router;
mod sessions;
mod support;
mod tools;
