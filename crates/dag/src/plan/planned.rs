use serde::{Deserialize, Serialize};

use crate::name::call_by_tool;
use crate::{Dag, OpenArgument, Task};

/// A DAG that can be run: checked, its tools and prompts pinned to their majors, its tasks in layers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// In the order of the DAG; injected tasks come after the others.
    pub tasks: Vec<PlannedTask>,
}

/// A task of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Required arguments that are still to be given: nothing runs before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<OpenArgument>,
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
    /// The number of layers.
    pub fn layers(&self) -> usize {
        self.tasks.iter().map(|task| task.layer + 1).max().unwrap_or(0)
    }

    /// The position of a task.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.tasks.iter().position(|task| task.task.id == id)
    }

    /// The DAG that this plan was made of, with pinned names.
    pub fn dag(&self) -> Dag {
        let tasks = self.tasks.iter().map(PlannedTask::definition).collect();
        Dag { name: self.name.clone(), tasks }
    }

    /// How people call the workflow: by its name, or else by its first tool and when it was started.
    pub fn called(&self, started_unix_ms: u64) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let first = self.tasks.first().and_then(|first| first.task.tool.as_deref());
        call_by_tool(first.unwrap_or("workflow"), started_unix_ms)
    }
}

impl PlannedTask {
    /// The task as its author can write it, with pinned names and its sub-workflow.
    pub fn definition(&self) -> Task {
        Task { workflow: self.workflow.as_deref().map(Plan::dag), ..self.task.clone() }
    }
}
