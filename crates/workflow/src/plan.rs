//! Checks a DAG before anything runs, and arranges its tasks in layers.

mod fault;
mod fields;
mod level;
mod order;
mod task;
#[cfg(test)]
mod tests;
mod tools;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Dag, Task};
use level::Level;

pub use fault::{Fault, FaultCode};
pub use tools::{CatalogTools, InputCheck, ToolInfo, Tools, UnknownName};

/// The most tasks of a workflow, with items and the tasks of sub-workflows.
pub const MAX_TASKS: usize = 500;

/// The most layers of a workflow.
pub const MAX_LAYERS: usize = 100;

/// How deep sub-workflows may be nested.
pub const MAX_DEPTH: usize = 3;

/// The longest id of a task.
pub const MAX_ID_CHARS: usize = 100;

/// A DAG that can be run: checked, its tools and prompts pinned to their majors, its tasks in layers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// In the order of the DAG; injected tasks come after the others.
    pub tasks: Vec<PlannedTask>,
}

/// A task of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedTask {
    /// The task with pinned names, without its sub-workflow.
    pub task: Task,
    /// The positions of the tasks that come first: those of `depends_on` and those that its templates refer to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<usize>,
    pub layer: usize,
    /// The sub-workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<Box<Plan>>,
    /// Whether the tool was deterministic when the plan was made.
    #[serde(default, skip_serializing_if = "is_false")]
    pub deterministic: bool,
    /// Whether it ends the run, so that it is alone in the last layer.
    #[serde(default, skip_serializing_if = "is_false")]
    pub ends_run: bool,
}

fn is_false(value: &bool) -> bool {
    !*value
}

impl Plan {
    /// Checks a DAG; fails with all its faults.
    pub fn of(dag: &Dag, tools: &dyn Tools) -> Result<Self, Vec<Fault>> {
        Self::default().extend(dag.tasks.clone(), 0, tools)
    }

    /// Adds tasks that run in the layer `from_layer` or later. The paths of faults begin at the new tasks.
    pub fn extend(
        &self,
        tasks: Vec<Task>,
        from_layer: usize,
        tools: &dyn Tools,
    ) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        let count = self.size().saturating_add(order::count(&tasks));
        if tasks.is_empty() || count > MAX_TASKS {
            let message = format!(
                "a workflow has 1 to {MAX_TASKS} tasks, with items and sub-workflows; this one has {count}"
            );
            return Err(vec![Fault::new("/tasks", FaultCode::Limit, message)]);
        }
        let level = Level { tools, present: &self.tasks, from_layer, depth: 0, input: None };
        let plan = level.plan(&tasks, "", &mut faults);
        if faults.is_empty() { Ok(plan) } else { Err(faults) }
    }

    /// Gives a task other arguments. They may refer to tasks of earlier layers only; the layers stay as they are.
    pub fn with_arguments(
        &self,
        id: &str,
        arguments: Map<String, Value>,
        tools: &dyn Tools,
    ) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        let level = Level { tools, present: &self.tasks, from_layer: 0, depth: 0, input: None };
        let plan = level.replace_arguments(id, arguments, &mut faults);
        if faults.is_empty() { Ok(plan) } else { Err(faults) }
    }

    /// The number of layers.
    pub fn layers(&self) -> usize {
        self.tasks.iter().map(|task| task.layer + 1).max().unwrap_or(0)
    }

    /// The tasks that count towards the limit: with the items that are known, and sub-workflows.
    pub fn size(&self) -> usize {
        self.tasks.iter().map(PlannedTask::size).fold(0, usize::saturating_add)
    }

    /// The position of a task.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.tasks.iter().position(|task| task.task.id == id)
    }

    /// The DAG that this plan was made of, with pinned names.
    pub fn dag(&self) -> Dag {
        Dag { tasks: self.tasks.iter().map(PlannedTask::definition).collect() }
    }
}

impl PlannedTask {
    /// The task as its author can write it, with pinned names and its sub-workflow.
    pub fn definition(&self) -> Task {
        Task { workflow: self.workflow.as_deref().map(Plan::dag), ..self.task.clone() }
    }

    /// How many tasks it counts for: one for each item that is known, each with its sub-workflow.
    pub fn size(&self) -> usize {
        let each = self.workflow.as_ref().map_or(0, |workflow| workflow.size());
        order::items(&self.task).saturating_mul(each.saturating_add(1))
    }
}
