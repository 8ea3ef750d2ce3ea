//! Workflows at the boundary: through MCP, across restarts, with people and with failures.

mod asking;
mod changing;
mod decisions;
mod draining;
mod examples;
mod execution;
mod expiry;
mod guarding;
mod limits;
mod listing;
mod modelling;
mod outages;
mod outlines;
mod people;
mod planning;
mod quarantine;
mod questions;
mod replanning;
mod starting;
mod steering;
pub(crate) mod support;
mod templates;
mod undoing;
mod values;
mod watching;
