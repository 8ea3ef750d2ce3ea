//! The web tools at the boundary: through every door, as a server of their own, and from the command line.

mod answers;
mod commands;
mod doors;
mod joining;
mod kills;
mod modelling;
mod reports;
mod schemas;
mod sessions;
mod setup;
pub(crate) mod support;
mod vanishing;
mod web;
