//! The heart of Powerstrip: tools, the catalog of them, and the one guard stack that every call passes.

pub mod agents;
mod call;
pub mod catalog;
mod discovery;
mod failure;
mod finding;
mod guard;
mod health;
mod meter;
pub mod prompts;
mod schema;
mod stack;
mod strip;
mod tool;
mod usage;

pub use call::{Answer, Call, Door, Output};
pub use catalog::Catalog;
pub use failure::Failure;
pub use finding::{Finding, Severity};
pub use guard::rate::{Rate, RateRules};
pub use health::Health;
pub use schema::{Schema, SchemaFault, Violation};
pub use strip::{Parts, Settings, Strip};
pub use tool::Tool;
