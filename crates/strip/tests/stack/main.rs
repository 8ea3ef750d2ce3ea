//! The guard stack and the catalog, driven through `Strip::call` with a real store behind it.
#![allow(clippy::unwrap_used, reason = "tests")]

mod agents;
mod approvals;
mod artifacts;
mod asking;
mod audit;
mod batches;
mod catalog;
mod filling;
mod fitting;
mod foreign_references;
mod guards;
mod idempotency;
mod questions;
mod runs;
mod support;
mod tasks;
