//! The heart of Powerstrip: tools, the catalog of them, and the one guard stack that every call passes.

pub mod agents;
pub mod approval;
pub mod batch;
mod call;
pub mod catalog;
mod client;
pub mod control;
mod discovery;
mod failure;
pub mod files;
mod finding;
mod guard;
mod health;
mod meter;
mod passing;
pub mod prompts;
pub mod runs;
mod schema;
pub mod servers;
mod stack;
mod strip;
mod tool;
mod usage;
mod work;

pub use call::{Answer, Call, Door, Output, Reply};
pub use catalog::Catalog;
pub use client::{Asking, Client, LogLevel, Resume, Unasked};
pub use failure::Failure;
pub use finding::{Finding, Severity};
pub use guard::rate::{Rate, RateRules};
pub use health::Health;
pub use schema::{Schema, SchemaFault, Violation};
pub use strip::{Parts, Settings, Strip};
pub use tool::Tool;
