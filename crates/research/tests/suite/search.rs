//! The search tools against providers on loopback.

mod academic;
mod caches;
mod patents;
mod requests;
mod router;
mod sessions;
mod support;
mod tools;
