//! The schemas of the answers. Answers are made from stored values and are checked against these schemas on their way out.
#![expect(dead_code, reason = "only the schemas of these types are used")]

use operations::workflows::NotUndone;
use schemars::JsonSchema;
use serde_json::{Map, Value, json};
use strip::typed::schema_of;

#[derive(JsonSchema)]
#[schemars(tag = "status", rename_all = "snake_case")]
enum Answer {
    Complete {
        workflow_id: String,
        results: Vec<TaskAnswer>,
    },
    LayerComplete {
        workflow_id: String,
        checkpoint_id: String,
        layer_index: usize,
        layer_results: Vec<TaskAnswer>,
        next_layer_preview: Vec<Map<String, Value>>,
        options: Vec<String>,
        checkpoint_type: Option<String>,
        failed_tasks: Option<Vec<String>>,
        decision_context: Option<String>,
        decisions: Option<Vec<Map<String, Value>>>,
        questions: Option<Vec<Map<String, Value>>>,
        reason: Option<String>,
    },
    Replanned {
        workflow_id: String,
        new_tasks: Vec<Map<String, Value>>,
        options: Vec<String>,
        confidence: Option<f64>,
        reasons: Option<Vec<String>>,
        alternatives: Option<Vec<Value>>,
        missing: Option<Vec<Map<String, Value>>>,
    },
    Aborted {
        workflow_id: String,
        partial_results: Vec<TaskAnswer>,
        completed_layers: usize,
        reason: String,
        compensations: Option<Vec<TaskAnswer>>,
        not_undone: Option<Vec<NotUndone>>,
    },
    Rejected {
        workflow_id: String,
        checkpoint_id: String,
        feedback: Option<String>,
    },
    Running {
        workflow_id: String,
        layer_index: usize,
        done: usize,
        total: usize,
    },
    Failed {
        workflow_id: String,
        results: Vec<TaskAnswer>,
        failed_tasks: Vec<String>,
        compensations: Option<Vec<TaskAnswer>>,
        not_undone: Option<Vec<NotUndone>>,
    },
    Planned {
        workflow_id: String,
        checkpoint_id: String,
        tasks: Vec<Map<String, Value>>,
        confidence: f64,
        reasons: Vec<String>,
        alternatives: Vec<Value>,
        missing: Vec<Map<String, Value>>,
        options: Vec<String>,
    },
    Report {
        workflow_id: String,
        #[schemars(extend("enum" = ["running", "paused", "ended"]))]
        state: String,
        run_id: String,
        expires_at: String,
        checkpoint: Option<Map<String, Value>>,
        not_undone: Option<Vec<NotUndone>>,
        tasks: Vec<Map<String, Value>>,
        events: Vec<Map<String, Value>>,
    },
}

#[derive(JsonSchema)]
struct TaskAnswer {
    task_id: String,
    #[schemars(extend("enum" = ["success", "failed", "skipped"]))]
    status: String,
    output: Option<Value>,
    error: Option<TaskError>,
    duration_ms: u64,
    attempt: u32,
    items: Option<Vec<Map<String, Value>>>,
}

#[derive(JsonSchema)]
struct TaskError {
    code: String,
    message: String,
    retryable: bool,
    details: Option<Value>,
}

#[derive(JsonSchema)]
struct ErrorAnswer {
    error: ControlError,
}

#[derive(JsonSchema)]
struct ControlError {
    code: i64,
    message: String,
    data: Option<Map<String, Value>>,
}

/// The answers of these statuses, or the error object.
pub(super) fn schema(statuses: &[&str]) -> Value {
    // Fields without a value are left out, as in inputs.
    let mut answers = schema_of::<Answer>(true);
    let mut forms = match answers["oneOf"].take() {
        Value::Array(forms) => forms,
        _ => Vec::new(),
    };
    forms.retain(|form| {
        let status = form["properties"]["status"]["const"].as_str();
        status.is_some_and(|status| statuses.contains(&status))
    });
    assert_eq!(forms.len(), statuses.len(), "every status has an answer");
    forms.push(schema_of::<ErrorAnswer>(true));
    json!({"type": "object", "oneOf": forms})
}
