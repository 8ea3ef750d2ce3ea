//! Workflows, as people and programs are shown them.

pub mod graph;
mod outcome;
mod waiting;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Caller, OperationError};

pub use outcome::only_text;

/// Which workflows to list; a field that is not set does not narrow the choice.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkflowQuery {
    /// Only workflows in this state: `running`, `paused`, `quarantined` (paused because processes died while it was active)
    /// or `ended`.
    pub state: Option<WorkflowState>,
    /// Only workflows whose id begins so.
    pub id: Option<String>,
    /// The most workflows to list: 50 unless set.
    #[schemars(range(max = 500))]
    pub limit: Option<u32>,
    /// How many workflows to skip.
    pub offset: u32,
}

/// A state by which workflows are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum WorkflowState {
    Running,
    Paused,
    Quarantined,
    Ended,
}

impl WorkflowState {
    pub const ALL: [Self; 4] = [Self::Running, Self::Paused, Self::Quarantined, Self::Ended];

    /// The name in queries.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Quarantined => "quarantined",
            Self::Ended => "ended",
        }
    }
}

/// Workflows, the last changed first.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowList {
    pub workflows: Vec<WorkflowSummary>,
}

/// Names one workflow.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkflowId {
    /// The workflow's id, a UUID, or the id of its run.
    pub id: String,
}

/// A workflow in a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowSummary {
    pub workflow_id: String,
    pub run_id: String,
    /// The name of its DAG, else its first tool and when it was started.
    #[serde(default)]
    pub name: String,
    /// `running`, `paused` or `ended`.
    pub state: String,
    /// How it ended (`complete`, `failed`, `rejected`, `aborted` or `expired`), or why it is paused: the type of its
    /// checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    pub tenant: String,
    /// The subject that started it.
    pub owner: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// The layer that runs now or ran last, counted from 0.
    pub layer: usize,
    pub layers: usize,
    /// The tasks that succeeded. Of a workflow in a list that has not ended: those of its finished layers, without the
    /// failed and skipped ones that are known.
    pub tasks_done: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tasks_failed: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tasks_skipped: usize,
    pub tasks_total: usize,
    pub started_unix_ms: u64,
    pub updated_unix_ms: u64,
    /// When a paused workflow expires, or the answer of an ended one; when it expired, if it did.
    pub expires_unix_ms: u64,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl WorkflowSummary {
    /// How many tasks succeeded, failed and were skipped: `2 of 4 tasks done, 1 failed, 1 skipped`.
    pub fn progress(&self) -> String {
        let tasks = if self.tasks_total == 1 { "task" } else { "tasks" };
        let (done, total) = (self.tasks_done, self.tasks_total);
        format!("{done} of {total} {tasks} done{}", self.shortfall())
    }

    /// The tasks that did not succeed: `, 1 failed, 1 skipped`, or nothing.
    pub fn shortfall(&self) -> String {
        let counts = [(self.tasks_failed, "failed"), (self.tasks_skipped, "skipped")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        counts.map(|(count, word)| format!(", {count} {word}")).collect()
    }

    /// Counts the tasks by their states.
    pub fn count<'a>(&mut self, states: impl Iterator<Item = &'a str> + Clone) {
        let count = |name| states.clone().filter(|state| *state == name).count();
        self.tasks_done = count("success");
        self.tasks_failed = count("failed");
        self.tasks_skipped = count("skipped");
    }
}

/// A workflow with its tasks and its last events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowDetails {
    pub workflow: WorkflowSummary,
    /// What an aborted, failed or expired workflow has done and could not undo.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_undone: Vec<NotUndone>,
    /// The answer at which it is paused, or with which it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Value>,
    /// In the order of the DAG.
    pub tasks: Vec<WorkflowTask>,
    /// The last events, oldest first.
    pub events: Vec<WorkflowEvent>,
}

impl WorkflowDetails {
    /// The id of the checkpoint at which it is paused.
    pub fn checkpoint_id(&self) -> Option<&Value> {
        self.checkpoint.as_ref()?.get("checkpoint_id")
    }

    /// The state of a task in words: of a workflow that has ended, nothing is pending.
    pub fn task_state<'a>(&self, task: &'a WorkflowTask) -> &'a str {
        match task.status.as_str() {
            "pending" if self.workflow.state == "ended" => "not run",
            state => state,
        }
    }
}

/// A task whose compensation did not succeed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotUndone {
    /// The task whose effect remains.
    pub task_id: String,
    /// The tool of its compensation.
    pub tool: String,
    /// Why it is not undone.
    pub reason: String,
}

/// A task of a workflow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowTask {
    pub task_id: String,
    /// The tool with its major, or `workflow` for a sub-workflow.
    pub tool: String,
    pub layer: usize,
    /// `pending`, `running`, `waiting`, `success`, `failed` or `skipped`.
    pub status: String,
    pub attempt: u32,
    /// The ids of the tasks before it.
    pub depends_on: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_unix_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_unix_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// With their templates filled in once the tool was called; as written in the DAG before that, with `for_each` and for a
    /// sub-workflow, and where they are longer than 2 KB.
    pub arguments: Value,
    /// The output. In place of one over 4 KB: `large`, its size in `bytes` and its beginning as `preview`; after the end, the
    /// output up to 64 KB, or its reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
}

/// A row of a workflow's journal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowEvent {
    /// Counts from 1 in each workflow.
    pub number: i64,
    pub at_unix_ms: u64,
    /// `layer_started`, `task_started`, `task_done`, `layer_complete`, `decision_required`, `input_required`,
    /// `quarantined`, `planned`, `replanned`, `complete`, `failed`, `aborted`, `expired`, or `command`.
    pub kind: String,
    pub data: Value,
}

impl WorkflowEvent {
    /// Whether nothing follows it.
    pub fn is_last(&self) -> bool {
        matches!(self.kind.as_str(), "complete" | "failed" | "aborted" | "expired")
    }
}

/// A command to a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkflowCommand {
    /// Run the next layer, if the workflow is still paused at this checkpoint.
    Continue { checkpoint_id: Option<String> },
    /// Continue a quarantined workflow.
    Release,
    /// End the workflow and undo what can be undone.
    Abort { reason: String },
    /// Call a failed task again.
    RetryTask { task_id: String },
    /// Skip a task that has not started.
    SkipTask { task_id: String },
}

/// What a workflow is started with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkflowDefinition {
    /// The DAG: `{name, tasks}`.
    pub dag: Value,
    /// Whether it pauses after each layer.
    #[serde(default)]
    pub per_layer_validation: bool,
}

/// The workflows of a gateway, for people who watch and steer them. Rows are limited to the caller's tenant here; doors
/// and pages check the scopes `runs:read` and, for `steer` and `start`, `tools:call`.
#[async_trait]
pub trait WorkflowConsole: Send + Sync {
    async fn list(
        &self,
        caller: &Caller,
        query: WorkflowQuery,
    ) -> Result<WorkflowList, OperationError>;

    /// One workflow, by its id or the id of its run.
    async fn show(&self, caller: &Caller, id: &str) -> Result<WorkflowDetails, OperationError>;

    /// The events after a number, and those that come; the stream ends with the workflow, or with an error.
    async fn events(
        &self,
        caller: &Caller,
        id: &str,
        after: i64,
    ) -> Result<BoxStream<'static, Result<WorkflowEvent, OperationError>>, OperationError>;

    /// The plan of an intent, as `POST /v1/workflows/plan` answers it; callers need `tools:call`.
    async fn plan(&self, caller: &Caller, intent: &str) -> Result<Value, OperationError>;

    /// The workflow as an SVG document.
    async fn draw(&self, caller: &Caller, id: &str) -> Result<String, OperationError>;

    /// What a workflow was started with, and the tasks that were added since.
    async fn definition(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<WorkflowDefinition, OperationError>;

    /// Gives a command to a workflow of the caller, through the guards of all tool calls. An administrator acts for the
    /// owner of any workflow. Returns once the command is carried out, or after a moment.
    async fn steer(
        &self,
        caller: &Caller,
        id: &str,
        command: WorkflowCommand,
    ) -> Result<(), OperationError>;

    /// Starts a workflow of the caller, through the guards of all tool calls, and returns its id.
    async fn start(
        &self,
        caller: &Caller,
        definition: WorkflowDefinition,
    ) -> Result<String, OperationError>;
}
