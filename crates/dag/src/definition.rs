//! A DAG as its author writes it, and as it is stored.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Tasks and their order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dag {
    /// How people call the workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub tasks: Vec<Task>,
}

/// One tool call of a DAG, or a whole DAG within it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The task's name in references and results: 1 to 100 letters, digits, `_` and `-`.
    pub id: String,
    /// The tool to call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// A DAG to run instead of a tool. Its templates see its own tasks, and the arguments as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<Dag>,
    /// The input of the tool; texts may be templates.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// The tasks that come first. A template that refers to a task adds it.
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// An expression; the task is skipped if it is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// A list, or an expression for one: the tool is called for each item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_each: Option<Value>,
    /// How often a failure is tried again that may pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// The task's own time limit, where it is shorter than the tool's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The consequence of a failure.
    #[serde(default, skip_serializing_if = "OnError::is_default")]
    pub on_error: OnError,
    /// Has a person approve each call, whatever the tool's own rule is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<TaskApproval>,
    /// The call that undoes this one after an abort or a failure of the workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compensate: Option<Compensation>,
}

/// When a failed call is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// How often, at most.
    pub max: u32,
    /// The first pause; each further one is twice as long, up to a minute.
    #[serde(default = "Retry::default_backoff_ms")]
    pub backoff_ms: u64,
}

impl Retry {
    fn default_backoff_ms() -> u64 {
        1_000
    }
}

/// The consequence of a task's failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// Its dependants are skipped, and the workflow pauses or fails after the layer.
    #[default]
    Fail,
    /// Its dependants are skipped.
    Skip,
    /// Its dependants run; its output is null.
    Continue,
}

impl OnError {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What a person is asked before a task runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskApproval {
    /// Why the person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How long the decision may take.
    #[serde(default = "TaskApproval::default_timeout_ms")]
    pub timeout_ms: u64,
}

impl TaskApproval {
    fn default_timeout_ms() -> u64 {
        300_000
    }
}

/// A call that undoes another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compensation {
    pub tool: String,
    #[serde(default)]
    pub arguments: Map<String, Value>,
}
