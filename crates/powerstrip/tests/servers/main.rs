//! Many MCP servers behind one gateway, isolated from each other.
#![allow(clippy::disallowed_methods, clippy::print_stderr, reason = "tests")]

mod adding;
mod agents;
mod approvals;
mod apps;
mod clients;
mod console;
mod definitions;
mod finding;
mod invalid;
mod isolation;
mod leaving;
mod log_order;
mod names;
mod old_transport;
mod openapi;
mod own_instances;
mod owners;
mod passing;
mod peer;
mod portable;
mod programs;
mod quarantine;
mod questions;
mod registration;
mod registry_entries;
mod reload;
mod runs;
mod secrets;
mod side_by_side;
mod support;
mod swapped;
