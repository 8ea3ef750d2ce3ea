//! Checks a DAG before anything runs, and arranges its tasks in layers.

mod fault;
mod fields;
mod level;
mod limits;
mod order;
mod planned;
mod read;
mod task;
#[cfg(test)]
mod tests;
mod tools;

use serde_json::{Map, Value};

use level::Level;

pub use fault::{Fault, FaultCode};
pub use limits::{MAX_DEPTH, MAX_HINTS, MAX_ID_CHARS, MAX_LAYERS, MAX_TASKS};
pub use planned::{Plan, PlannedTask};
pub use read::Reading;
pub use tools::{InputCheck, TaskPosition, ToolInfo, Tools, UnknownName};

/// The size and first free layer of a workflow before tasks are added.
#[derive(Clone, Copy, Debug, Default)]
pub struct Present {
    /// How many tasks it counts for, with the items that are known by now.
    pub size: usize,
    /// The first layer that new tasks can run in.
    pub from_layer: usize,
}

impl Plan {
    /// Checks a DAG; fails with all its faults.
    pub fn of(dag: Reading, tools: &dyn Tools) -> Result<Self, Vec<Fault>> {
        Self::default().extend(dag, Present::default(), tools)
    }

    /// Adds tasks. The paths of faults begin at the new tasks.
    pub fn extend(
        &self,
        more: Reading,
        present: Present,
        tools: &dyn Tools,
    ) -> Result<Self, Vec<Fault>> {
        let Present { size, from_layer } = present;
        let Reading { name, tasks, mut faults, missing } = more;
        let count = size.saturating_add(order::count(&tasks));
        if tasks.is_empty() || count > MAX_TASKS {
            let message = format!(
                "a workflow has 1 to {MAX_TASKS} tasks, with items and sub-workflows; this one has {count}"
            );
            faults.push(Fault::new("/tasks", FaultCode::Limit, message));
            return Err(faults);
        }
        let level = Level {
            tools,
            present: &self.tasks,
            from_layer,
            depth: 0,
            input: None,
            missing: Some(&missing),
        };
        let plan = level.plan(&tasks, "", &mut faults);
        let name = self.name.clone().or(name);
        if faults.is_empty() { Ok(Self { name, ..plan }) } else { Err(faults) }
    }

    /// Gives a task other arguments. They may refer to tasks of earlier layers only; the layers stay as they are.
    pub fn with_arguments(
        &self,
        id: &str,
        arguments: Map<String, Value>,
        tools: &dyn Tools,
    ) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        let level = Level {
            tools,
            present: &self.tasks,
            from_layer: 0,
            depth: 0,
            input: None,
            missing: None,
        };
        let plan = level.replace_arguments(id, arguments, &mut faults);
        let name = self.name.clone();
        if faults.is_empty() { Ok(Self { name, ..plan }) } else { Err(faults) }
    }
}
