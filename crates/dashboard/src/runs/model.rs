//! A run in the format of the strip.

use serde::Deserialize;
use serde_json::Value;

/// A run with its calls and questions.
#[derive(Deserialize)]
pub(super) struct RunDetails {
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) kind: String,
    pub(super) state: String,
    pub(super) owner: String,
    pub(super) agent: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) artifacts: Vec<String>,
    pub(super) created_unix_ms: u64,
    pub(super) touched_unix_ms: u64,
    pub(super) questions: Vec<Question>,
    pub(super) calls: Vec<RunCall>,
}

/// A question of a run to a person.
#[derive(Deserialize)]
pub(super) struct Question {
    pub(super) slot_id: String,
    pub(super) slot_type: String,
    pub(super) prompt: String,
    pub(super) options: Vec<String>,
    pub(super) state: String,
    pub(super) value: Option<Value>,
    pub(super) answered_by: Option<String>,
    pub(super) asked_unix_ms: u64,
}

/// A call of a run.
#[derive(Deserialize)]
pub(super) struct RunCall {
    pub(super) trace_id: String,
    pub(super) tool: String,
    pub(super) started_unix_ms: u64,
    pub(super) ended_unix_ms: u64,
    pub(super) outcome: String,
    pub(super) made: Vec<String>,
    pub(super) used: Vec<String>,
}
