//! Makes a plan of an intent: which tools to call, in which order, and with which arguments.
//!
//! The core (`draft`) is a function of the intent, the tools and the learned edges: equal input gives an equal plan.

mod choose;
pub mod draft;
mod edges;
mod fill;
mod forbidden;
mod given;
mod graph;
mod learn;
mod mention;
mod model;
mod number;
mod render;
mod repair;
mod score;
mod service;
mod steps;
pub mod tool;
mod value;
mod word_list;
mod zones;

pub use draft::{Alternative, Argument, Draft, DraftTask, Earlier, Intent, NothingFits};
pub use edges::{EdgeKey, LearnedEdges};
pub use graph::Toolbox;
pub use render::insert;
pub use service::{PlanBy, PlanService};
pub use tool::ToolSpec;
pub use word_list::WordList;
