//! What a DAG of tool calls is: how it is written, checked, arranged in layers, evaluated, and run step by step.
//!
//! Nothing here calls a tool or stores anything.

pub mod core;
mod definition;
pub mod evaluate;
mod name;
mod nesting;
pub mod paths;
pub mod plan;
mod proposal;

pub use definition::{Compensation, Dag, OnError, Retry, Task, TaskApproval};
pub use name::{call_by_tool, name_of_intent};
pub use nesting::{MAX_VALUE_DEPTH, NestingError, check_depth};
pub use proposal::{AlternativeTool, MissingArgument, OpenArgument, PlanNotes, Proposal};
