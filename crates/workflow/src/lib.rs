//! Durable workflows: DAGs of tool calls that an agent steers layer by layer, and that continue after a crash.

pub mod core;
mod dag;
pub mod evaluate;
pub mod graph;
pub mod plan;

pub use dag::{Compensation, Dag, OnError, Retry, Task, TaskApproval};
pub use operations::workflows::{
    WorkflowConsole, WorkflowDetails, WorkflowEvent, WorkflowId, WorkflowList, WorkflowQuery,
    WorkflowSummary, WorkflowTask,
};
