//! The commands of the real binary.

mod bridge;
mod call;
mod check;
mod client_edits;
mod client_files;
mod collections;
mod config;
mod doctor;
mod keys;
mod new;
mod owner;
mod pipe;
pub(crate) mod project;
mod prompts;
mod reload;
mod secret;
mod serve;
mod stdio;
mod telemetry;
mod terminal;
mod text;
mod user_files;
mod workflows;
