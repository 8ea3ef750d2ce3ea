//! What the workflow tools take. Tools, routes, OpenAPI and commands are made from these types.

use std::fmt;
use std::marker::PhantomData;

use ::operations::IDEMPOTENCY_KEY;
use dag::plan::MAX_TASKS;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

/// What `execute_dag` takes.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Execute {
    /// If the gateway plans.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2000))]
    pub(crate) intent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DagOutline>")]
    pub(crate) workflow: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) config: Option<ExecuteConfig>,
}

impl Execute {
    pub(crate) const TOOL: &'static str = "execute_dag";
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExecuteConfig {
    /// Pause after each layer.
    #[serde(default)]
    pub(crate) per_layer_validation: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 600_000))]
    pub(crate) wait_ms: Option<u64>,
    #[serde(default)]
    pub(crate) accept_plan: bool,
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used: `Reading` reads DAGs")]
struct DagOutline {
    name: Option<String>,
    tasks: Vec<TaskOutline>,
}

// One task of a DAG, in short: `Reading` checks all its fields, and models pay for each word in every request. A list is
// accepted as `for_each`, too, but a union of types is not portable.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used: `Reading` reads tasks")]
struct TaskOutline {
    id: String,
    tool: Option<String>,
    /// Instead of `tool`: {tasks}, with the arguments as `input`.
    workflow: Option<Map<String, Value>>,
    /// Texts may be templates: {{ tasks.a.output.name }}
    arguments: Option<Map<String, Value>>,
    depends_on: Option<Vec<String>>,
    /// Expression; if false, skipped.
    when: Option<String>,
    /// Expression for a list: one call per `item`.
    for_each: Option<String>,
    /// {max, backoff_ms}
    retry: Option<Map<String, Value>>,
    #[schemars(with = "Option<i64>")]
    timeout_ms: Option<u64>,
    #[schemars(extend("enum" = ["fail", "skip", "continue"]))]
    on_error: Option<String>,
    /// {reason, timeout_ms}: a person must approve.
    approval: Option<Map<String, Value>>,
    /// {tool, arguments} that undoes the call.
    compensate: Option<Map<String, Value>>,
}

/// What `continue` takes besides the workflow.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Continue {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 600_000))]
    pub wait_ms: Option<u64>,
    /// Continue a quarantined workflow; only operators may.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

/// What `replan` takes besides the workflow.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replan {
    #[schemars(length(min = 1))]
    pub(crate) new_requirement: String,
    pub(crate) available_context: Option<Map<String, Value>>,
}

/// What `abort` takes besides the workflow.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Abort {
    #[schemars(length(min = 1))]
    pub reason: String,
}

/// What `approval_response` takes besides the workflow.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalResponse {
    pub(crate) checkpoint_id: String,
    pub(crate) approved: bool,
    pub(crate) feedback: Option<String>,
}

/// What `retry_task` takes besides the workflow.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryTask {
    #[schemars(length(min = 1, max = 100))]
    pub(crate) task_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) arguments: Option<Map<String, Value>>,
}

/// What `modify_args` takes besides the workflow.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModifyArgs {
    #[schemars(length(min = 1, max = 100))]
    pub(crate) task_id: String,
    pub(crate) arguments: Map<String, Value>,
}

/// What `skip_task` takes besides the workflow.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkipTask {
    #[schemars(length(min = 1, max = 100))]
    pub(crate) task_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// What `inject_tasks` takes besides the workflow.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InjectTasks {
    // Tasks are described by `execute_dag`; a second description would cost tokens.
    #[schemars(with = "Vec<Map<String, Value>>", length(min = 1, max = MAX_TASKS))]
    pub(crate) tasks: Value,
}

/// What `workflow_status` takes besides the workflow.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkflowStatus {}

/// The input of a tool that steers a workflow: `workflow_id` and what the tool takes.
#[derive(Serialize)]
pub(crate) struct ToolInput<I> {
    pub(crate) workflow_id: String,
    #[serde(flatten)]
    pub(crate) input: I,
}

impl<'de, I: DeserializeOwned> Deserialize<'de> for ToolInput<I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::<String, Value>::deserialize(deserializer)?;
        let Some(Value::String(workflow_id)) = fields.remove("workflow_id") else {
            return Err(D::Error::missing_field("workflow_id"));
        };
        let input = I::deserialize(Value::Object(fields)).map_err(D::Error::custom)?;
        Ok(Self { workflow_id, input })
    }
}

impl<I: JsonSchema> JsonSchema for ToolInput<I> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        I::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        with_property(I::json_schema(generator), "workflow_id", json!({"type": "string"}), true)
    }
}

/// The same input on a route, whose path names the workflow `id`. The tool reads it, so that all faults are reported alike.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent, bound = "")]
pub struct RouteInput<I> {
    pub(crate) fields: Map<String, Value>,
    #[serde(skip)]
    of: PhantomData<fn() -> I>,
}

impl<I: Serialize> RouteInput<I> {
    /// The input for the workflow of this id.
    pub fn new(id: &str, input: &I) -> Self {
        let mut fields = match json!(input) {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        fields.insert("id".to_owned(), id.into());
        Self { fields, of: PhantomData }
    }
}

impl<'de, I> Deserialize<'de> for RouteInput<I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = deserializer.deserialize_map(UniqueFields)?;
        Ok(Self { fields, of: PhantomData })
    }
}

/// Reads an object and refuses repeated fields: the last `id` would replace that of the path.
struct UniqueFields;

impl<'de> Visitor<'de> for UniqueFields {
    type Value = Map<String, Value>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if fields.contains_key(&name) {
                return Err(A::Error::custom(format_args!("duplicate field `{name}`")));
            }
            fields.insert(name, map.next_value()?);
        }
        Ok(fields)
    }
}

impl<I: JsonSchema> JsonSchema for RouteInput<I> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        I::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let id = json!({"type": "string", "description": "The workflow's id."});
        with_property(I::json_schema(generator), "id", id, true)
    }
}

/// A workflow to run: what `execute_dag` takes, and a key.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StartInput {
    pub fields: Map<String, Value>,
}

impl JsonSchema for StartInput {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "StartInput".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let key = json!({
            "type": ["string", "null"],
            "description": "A repeated request with the same key returns the first workflow. The header `Idempotency-Key` \
                            has the same effect.",
        });
        with_property(Execute::json_schema(generator), IDEMPOTENCY_KEY, key, false)
    }
}

/// The schema of an object that has one more property.
fn with_property(mut schema: Schema, name: &str, property: Value, required: bool) -> Schema {
    let keywords = schema.ensure_object();
    let properties = keywords.entry("properties").or_insert_with(|| json!({}));
    properties[name] = property;
    if required {
        let names = keywords.entry("required").or_insert_with(|| json!([]));
        if let Value::Array(names) = names {
            names.insert(0, name.into());
        }
    }
    schema
}

/// The answers while a workflow goes on.
const PROGRESS: &[&str] =
    &["complete", "layer_complete", "running", "failed", "rejected", "aborted"];

/// The answers while a workflow goes on or its plan waits for its caller.
pub(crate) const PLAN_OR_PROGRESS: &[&str] =
    &["planned", "complete", "layer_complete", "running", "failed", "rejected", "aborted"];

/// The side effect of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    /// It changes what will run.
    Plans,
    /// Tasks or compensations run because of it, which may do anything.
    RunsTasks,
}

/// What the types of a tool do not say.
pub struct Facts {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) effect: Effect,
    /// Whether the same call again has no further effect.
    pub(crate) idempotent: bool,
    /// The statuses of its answers.
    pub(crate) answers: &'static [&'static str],
}

/// The input of a tool that steers a workflow, and what its type does not say of the tool and of its operation.
pub trait SteeringInput: JsonSchema + 'static {
    const TOOL: &'static str;
    const FACTS: Facts;
    const OPERATION: &'static str;
    const SUMMARY: &'static str;
    const PATH: &'static str;
    /// The `operationId` in OpenAPI.
    const OPERATION_ID: &'static str;
}

macro_rules! steering {
    ($($input:ident = $tool:literal, $title:literal, $description:literal, $effect:ident, idempotent $idempotent:literal,
       $answers:expr, $operation_id:literal, $summary:literal;)*) => {$(
        impl SteeringInput for $input {
            const TOOL: &'static str = $tool;
            const FACTS: Facts = Facts {
                id: concat!("powerstrip:", $tool),
                title: $title,
                description: $description,
                effect: Effect::$effect,
                idempotent: $idempotent,
                answers: $answers,
            };
            const OPERATION: &'static str = concat!("powerstrip.workflows.", $tool);
            const SUMMARY: &'static str = $summary;
            const PATH: &'static str = concat!("/v1/workflows/{id}/", $tool);
            const OPERATION_ID: &'static str = $operation_id;
        }
    )*};
}

steering! {
    Continue = "continue", "Continue a workflow", "Runs the next layer of a paused workflow, or waits for a running one.",
        RunsTasks, idempotent false, PLAN_OR_PROGRESS, "gateway.continueWorkflow", "Run the next layer of a workflow, or wait for it";
    Replan = "replan", "Plan more tasks", "Adds tasks planned for a new requirement.",
        Plans, idempotent false, &["replanned"], "gateway.replanWorkflow", "Plan more tasks for a workflow";
    Abort = "abort", "Abort a workflow", "Ends a workflow: running calls are cancelled, finished ones compensated.",
        RunsTasks, idempotent true, PROGRESS, "gateway.abortWorkflow", "End a workflow and undo what can be undone";
    ApprovalResponse = "approval_response", "Decide about a checkpoint",
        "Approves or rejects what waits at a checkpoint. Agents cannot approve their own calls.",
        RunsTasks, idempotent true, PROGRESS, "gateway.respondToWorkflow", "Decide about the calls that a workflow waits for";
    RetryTask = "retry_task", "Retry a failed task",
        "Runs a failed task of a paused workflow again, with other arguments if given.",
        RunsTasks, idempotent false, PROGRESS, "gateway.retryWorkflowTask", "Call a failed task again";
    ModifyArgs = "modify_args", "Change a task's arguments",
        "Replaces the arguments of a task that has not begun, in a paused workflow.",
        Plans, idempotent true, PLAN_OR_PROGRESS, "gateway.modifyWorkflowTask", "Replace the arguments of a task that has not started";
    SkipTask = "skip_task", "Skip a task", "Skips a task that has not begun, in a paused workflow.",
        Plans, idempotent true, PLAN_OR_PROGRESS, "gateway.skipWorkflowTask", "Skip a task that has not started";
    InjectTasks = "inject_tasks", "Add tasks",
        "Adds tasks, of the form that execute_dag takes, to a paused workflow. They run after continue.",
        Plans, idempotent true, &["replanned"], "gateway.injectWorkflowTasks", "Add tasks to a paused workflow";
    WorkflowStatus = "workflow_status", "Show a workflow",
        "Shows a workflow's state, tasks and last events, without waiting.",
        Reads, idempotent true, &["report"], "gateway.workflowStatus", "Report the state of an own workflow";
}

#[cfg(test)]
mod tests;
