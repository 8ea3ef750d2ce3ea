//! How large a DAG may be.

/// The most tasks of a workflow, with items and the tasks of sub-workflows.
pub const MAX_TASKS: usize = 500;

/// The most layers of a workflow.
pub const MAX_LAYERS: usize = 100;

/// How deep sub-workflows may be nested.
pub const MAX_DEPTH: usize = 3;

/// The longest id of a task.
pub const MAX_ID_CHARS: usize = 100;

/// The most faults of a DAG that come with a similar name: a search through all names takes its time.
pub const MAX_HINTS: usize = 20;
