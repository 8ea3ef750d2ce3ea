//! Durable workflows: DAGs of tool calls that an agent steers layer by layer, and that continue after a crash.

mod active;
mod answer;
mod calls;
mod catalog_tools;
mod checkpoint;
mod drain;
mod driver;
mod embedded;
mod events;
mod failures;
mod fit;
pub mod inputs;
mod listing;
pub mod operations;
mod outage;
mod planner;
mod planning;
mod queue;
mod readable;
mod results;
mod resume;
mod service;
mod start;
mod steering;
mod tend;
#[cfg(test)]
mod testing;
mod tools;
mod undone;
mod views;
mod workflows;

pub use catalog_tools::CatalogTools;
pub use embedded::{Progress, StartOptions, Until};
pub use planner::{ClientModel, Extended, MAX_INTENT_CHARS, PlanRequest, Planner, PresentTask};
pub use service::Settings;
pub use tools::{MAX_BYTES, SOURCE};
pub use workflows::Workflows;
