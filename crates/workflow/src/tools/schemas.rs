//! The input and output schemas of the workflow tools.

use serde_json::{Value, json};

use crate::plan::MAX_TASKS;

const MAX_WAIT_MS: u64 = 600_000;

fn object(properties: Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn workflow_id() -> Value {
    json!({"type": "string"})
}

fn wait_ms() -> Value {
    json!({"type": "integer", "minimum": 0, "maximum": MAX_WAIT_MS})
}

fn task_id() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": 100})
}

fn arguments() -> Value {
    json!({"type": "object"})
}

/// One task of a DAG, in short: the reader checks all its fields, and models pay for each word in every request. A list is
/// accepted as `for_each`, too, but a union of types is not portable.
fn task() -> Value {
    let properties = json!({
        "id": {"type": "string"},
        "tool": {"type": "string"},
        "workflow": {"type": "object", "description": "Instead of `tool`: {tasks}, with the arguments as `input`."},
        "arguments": {"type": "object", "description": "Texts may be templates: {{ tasks.a.output.name }}"},
        "depends_on": {"type": "array", "items": {"type": "string"}},
        "when": {"type": "string", "description": "Expression; if false, skipped."},
        "for_each": {"type": "string", "description": "Expression for a list: one call per `item`."},
        "retry": {"type": "object", "description": "{max, backoff_ms}"},
        "timeout_ms": {"type": "integer"},
        "on_error": {"type": "string", "enum": ["fail", "skip", "continue"]},
        "approval": {"type": "object", "description": "{reason, timeout_ms}: a person must approve."},
        "compensate": {"type": "object", "description": "{tool, arguments} that undoes the call."},
    });
    object(properties, &["id"])
}

/// Tasks as `execute_dag` describes them.
fn tasks() -> Value {
    json!({"type": "array", "minItems": 1, "maxItems": MAX_TASKS, "items": {"type": "object"}})
}

/// A schema that admits any DAG: its faults are reported by the reader, all at once.
pub(super) fn without_tasks(mut schema: Value) -> Value {
    for field in ["workflow", "tasks"] {
        if let Some(dag) = schema["properties"].get_mut(field) {
            *dag = Value::Bool(true);
        }
    }
    schema
}

/// A schema that also admits `force`, which operators use and agents are not shown.
pub(super) fn with_force(mut schema: Value) -> Value {
    schema["properties"]["force"] = json!({"type": "boolean"});
    schema
}

pub(super) fn execute_dag() -> Value {
    let workflow = json!({
        "type": "object",
        "properties": {"tasks": {"type": "array", "items": task()}},
        "required": ["tasks"],
        "additionalProperties": false,
    });
    let config = object(
        json!({
            "per_layer_validation": {"type": "boolean", "default": false, "description": "Pause after each layer."},
            "wait_ms": wait_ms(),
            "accept_plan": {"type": "boolean", "default": false},
        }),
        &[],
    );
    object(
        json!({
            "intent": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "If the gateway plans."},
            "workflow": workflow,
            "config": config,
        }),
        &[],
    )
}

pub(super) fn continue_workflow() -> Value {
    object(
        json!({
            "workflow_id": workflow_id(),
            "reason": {"type": "string"},
            "checkpoint_id": {"type": "string"},
            "wait_ms": wait_ms(),
        }),
        &["workflow_id"],
    )
}

pub(super) fn replan() -> Value {
    object(
        json!({
            "workflow_id": workflow_id(),
            "new_requirement": {"type": "string", "minLength": 1},
            "available_context": {"type": "object"},
        }),
        &["workflow_id", "new_requirement"],
    )
}

pub(super) fn abort() -> Value {
    object(
        json!({"workflow_id": workflow_id(), "reason": {"type": "string", "minLength": 1}}),
        &["workflow_id", "reason"],
    )
}

pub(super) fn approval_response() -> Value {
    object(
        json!({
            "workflow_id": workflow_id(),
            "checkpoint_id": {"type": "string"},
            "approved": {"type": "boolean"},
            "feedback": {"type": "string"},
        }),
        &["workflow_id", "checkpoint_id", "approved"],
    )
}

pub(super) fn retry_task() -> Value {
    object(
        json!({
            "workflow_id": workflow_id(),
            "task_id": task_id(),
            "arguments": arguments(),
        }),
        &["workflow_id", "task_id"],
    )
}

pub(super) fn modify_args() -> Value {
    object(
        json!({
            "workflow_id": workflow_id(),
            "task_id": task_id(),
            "arguments": arguments(),
        }),
        &["workflow_id", "task_id", "arguments"],
    )
}

pub(super) fn skip_task() -> Value {
    object(
        json!({
            "workflow_id": workflow_id(),
            "task_id": task_id(),
            "reason": {"type": "string"},
        }),
        &["workflow_id", "task_id"],
    )
}

pub(super) fn inject_tasks() -> Value {
    object(json!({"workflow_id": workflow_id(), "tasks": tasks()}), &["workflow_id", "tasks"])
}

pub(super) fn workflow_status() -> Value {
    object(json!({"workflow_id": workflow_id()}), &["workflow_id"])
}

/// The answers of these statuses, or the error object.
pub(super) fn output(statuses: &[&str]) -> Value {
    let mut forms: Vec<Value> = statuses.iter().map(|status| answer(status)).collect();
    forms.push(json!({
        "properties": {"error": {
            "type": "object",
            "properties": {
                "code": {"type": "integer"},
                "message": {"type": "string"},
                "data": {"type": "object"},
            },
            "required": ["code", "message"],
        }},
        "required": ["error"],
    }));
    json!({"type": "object", "oneOf": forms})
}

fn answer(status: &str) -> Value {
    let results = json!({"type": "array", "items": task_result()});
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let definitions = json!({"type": "array", "items": {"type": "object"}});
    let (properties, required): (Value, &[&str]) = match status {
        "complete" => (json!({"results": results}), &["results"]),
        "layer_complete" => (
            json!({
                "checkpoint_id": {"type": "string"},
                "layer_index": {"type": "integer"},
                "layer_results": results,
                "next_layer_preview": definitions,
                "options": texts,
                "checkpoint_type": {"type": "string"},
                "failed_tasks": texts,
                "decision_context": {"type": "string"},
                "decisions": definitions,
                "questions": definitions,
                "reason": {"type": "string"},
            }),
            &["checkpoint_id", "layer_index", "layer_results", "next_layer_preview", "options"],
        ),
        "replanned" => (
            json!({
                "new_tasks": definitions,
                "options": texts,
                "confidence": {"type": "number"},
                "reasons": texts,
                "alternatives": {"type": "array"},
                "missing": definitions,
            }),
            &["new_tasks", "options"],
        ),
        "aborted" => (
            json!({
                "partial_results": results,
                "completed_layers": {"type": "integer"},
                "reason": {"type": "string"},
                "compensations": results,
                "not_undone": not_undone(),
            }),
            &["partial_results", "completed_layers", "reason"],
        ),
        "rejected" => (
            json!({"checkpoint_id": {"type": "string"}, "feedback": {"type": "string"}}),
            &["checkpoint_id"],
        ),
        "running" => (
            json!({
                "layer_index": {"type": "integer"},
                "done": {"type": "integer"},
                "total": {"type": "integer"},
            }),
            &["layer_index", "done", "total"],
        ),
        "failed" => (
            json!({
                "results": results,
                "failed_tasks": texts,
                "compensations": results,
                "not_undone": not_undone(),
            }),
            &["results", "failed_tasks"],
        ),
        "planned" => (
            json!({
                "checkpoint_id": {"type": "string"},
                "tasks": definitions,
                "confidence": {"type": "number"},
                "reasons": texts,
                "alternatives": {"type": "array"},
                "missing": definitions,
                "options": texts,
            }),
            &[
                "checkpoint_id",
                "tasks",
                "confidence",
                "reasons",
                "alternatives",
                "missing",
                "options",
            ],
        ),
        _ => (
            json!({
                "state": {"enum": ["running", "paused", "ended"]},
                "run_id": {"type": "string"},
                "expires_at": {"type": "string"},
                "checkpoint": {"type": "object"},
                "not_undone": not_undone(),
                "tasks": definitions,
                "events": definitions,
            }),
            &["state", "run_id", "expires_at", "tasks", "events"],
        ),
    };
    let mut properties = properties;
    properties["status"] = json!({"const": status});
    properties["workflow_id"] = json!({"type": "string"});
    let mut required = required.to_vec();
    required.extend(["status", "workflow_id"]);
    json!({"properties": properties, "required": required})
}

/// What was done and could not be undone; absent if everything was.
fn not_undone() -> Value {
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "task_id": {"type": "string"},
                "tool": {"type": "string"},
                "reason": {"type": "string"},
            },
            "required": ["task_id", "tool", "reason"],
        },
    })
}

fn task_result() -> Value {
    json!({
        "type": "object",
        "properties": {
            "task_id": {"type": "string"},
            "status": {"enum": ["success", "failed", "skipped"]},
            "output": true,
            "error": {
                "type": "object",
                "properties": {
                    "code": {"type": "string"},
                    "message": {"type": "string"},
                    "retryable": {"type": "boolean"},
                    "details": true,
                },
                "required": ["code", "message", "retryable"],
            },
            "duration_ms": {"type": "integer"},
            "attempt": {"type": "integer"},
            "items": {"type": "array", "items": {"type": "object"}},
        },
        "required": ["task_id", "status", "duration_ms", "attempt"],
    })
}
