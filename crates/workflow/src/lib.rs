//! Durable workflows: DAGs of tool calls that an agent steers layer by layer, and that continue after a crash.

mod active;
mod answer;
mod calls;
mod checkpoint;
pub mod core;
mod dag;
mod drain;
mod driver;
mod embedded;
pub mod evaluate;
mod failures;
mod fit;
pub mod inputs;
mod listing;
pub mod operations;
mod outage;
mod paths;
pub mod plan;
mod planner;
mod planning;
mod proposal;
mod queue;
mod results;
mod resume;
mod service;
mod start;
mod steering;
mod tend;
mod tools;
mod undone;
mod views;
mod workflows;

pub use ::operations::workflows::{
    WorkflowConsole, WorkflowDetails, WorkflowEvent, WorkflowId, WorkflowList, WorkflowQuery,
    WorkflowSummary, WorkflowTask,
};
pub use dag::{Compensation, Dag, OnError, Retry, Task, TaskApproval};
pub use embedded::{Progress, StartOptions, Until};
pub use planner::{ClientModel, Extended, MAX_INTENT_CHARS, PlanRequest, Planner, PresentTask};
pub use proposal::{AlternativeTool, MissingArgument, OpenArgument, PlanNotes, Proposal};
pub use service::{OwnerCheck, Settings};
pub use tools::SOURCE;
pub use workflows::Workflows;
