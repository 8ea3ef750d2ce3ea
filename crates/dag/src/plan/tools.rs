use std::sync::Arc;

use schema::{Unknowns, Violation};
use serde_json::Value;

/// The tools and prompts that the owner of a workflow can use.
pub trait Tools {
    /// Finds a tool by any of its names.
    fn find(&self, name: &str) -> Result<ToolInfo, UnknownName>;

    /// Finds a prompt, and pins it to its major: `domain/name@1`.
    fn prompt(&self, reference: &str) -> Result<String, UnknownName>;
}

/// Checks arguments of which some parts are templates.
pub type InputCheck = Arc<dyn Fn(&Value, &Unknowns) -> Vec<Violation> + Send + Sync>;

/// What the check of a DAG needs to know of a tool.
#[derive(Clone)]
pub struct ToolInfo {
    /// Its id with its major: `server:tool@1`.
    pub pinned: String,
    pub check_input: InputCheck,
    pub output_schema: Option<Arc<Value>>,
    pub position: TaskPosition,
    pub deterministic: bool,
}

/// The positions in a workflow at which a task can call a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskPosition {
    Anywhere,
    /// At the end, because it ends the run.
    End,
    /// Not in a task: the tool finds tools or steers workflows.
    Nowhere,
}

/// A name that no tool or prompt has which the owner can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    pub message: String,
    /// The nearest names, best first.
    pub nearest: Vec<String>,
}
