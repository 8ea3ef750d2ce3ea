//! Runs, their questions and their calls, as people and programs are shown them.

use std::sync::Arc;

use proto::TraceId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{QuestionRow, RunCallRow, RunRow};

use super::IDLE;
use super::kind::{Kind, State};

/// A run without its questions and calls.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunSummary {
    pub id: String,
    #[serde(skip)]
    pub tenant: String,
    pub name: Option<String>,
    /// `named`, `session`, `current`, `batch` or `workflow`.
    pub kind: String,
    /// `open`, `waiting`, `completed`, `aborted`, `rejected`, `failed` or `expired`.
    pub state: String,
    pub owner: String,
    pub agent: Option<String>,
    pub summary: Option<String>,
    pub artifacts: Vec<String>,
    pub data_tools: u64,
    pub created_unix_ms: u64,
    pub touched_unix_ms: u64,
}

impl RunSummary {
    pub(super) fn of(row: RunRow, now: u64) -> Self {
        let idle = u128::from(now.saturating_sub(row.touched_unix_ms)) > IDLE.as_millis();
        let open = row.state == State::Open.as_str();
        let expired = row.kind == Kind::Current.as_str() && open && idle;
        Self {
            id: row.id,
            tenant: row.tenant,
            name: row.name,
            kind: row.kind,
            state: if expired { State::Expired.as_str().to_owned() } else { row.state },
            owner: row.subject,
            agent: row.agent,
            summary: row.summary,
            artifacts: row.artifacts,
            data_tools: row.data_tools,
            created_unix_ms: row.created_unix_ms,
            touched_unix_ms: row.touched_unix_ms,
        }
    }
}

/// A run with its questions and calls.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunDetails {
    #[serde(flatten)]
    pub run: RunSummary,
    /// The tools that are being called now.
    pub in_flight: Vec<Arc<str>>,
    pub questions: Vec<QuestionView>,
    pub calls: Vec<RunCall>,
}

/// A question of a run to a person.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct QuestionView {
    pub question_id: String,
    pub slot_id: String,
    pub slot_type: String,
    pub prompt: String,
    /// What to choose from; of a `document`, the text that it begins with.
    pub options: Vec<String>,
    /// `open`, `answered`, `declined` or `withdrawn`.
    pub state: String,
    pub value: Option<Value>,
    pub answered_by: Option<String>,
    pub asked_unix_ms: u64,
    pub settled_unix_ms: Option<u64>,
}

impl From<QuestionRow> for QuestionView {
    fn from(row: QuestionRow) -> Self {
        Self {
            question_id: row.id,
            slot_id: row.slot_id,
            slot_type: row.slot_type.as_str().to_owned(),
            prompt: row.prompt,
            options: row.options,
            state: row.state.as_str().to_owned(),
            value: row.answer,
            answered_by: row.answered_by,
            asked_unix_ms: row.asked_unix_ms,
            settled_unix_ms: row.settled_unix_ms,
        }
    }
}

/// A call of a run that has ended.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunCall {
    #[schemars(with = "String")]
    pub trace_id: TraceId,
    pub tool: String,
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
    /// `OK`, the code of its failure, or `ASKED`: it did not run, because a person has to decide first.
    pub outcome: String,
    /// The references that it returned.
    pub made: Vec<String>,
    /// The references that it was given.
    pub used: Vec<String>,
}

impl From<RunCallRow> for RunCall {
    fn from(row: RunCallRow) -> Self {
        Self {
            trace_id: row.trace,
            tool: row.tool,
            started_unix_ms: row.started_unix_ms,
            ended_unix_ms: row.ended_unix_ms,
            outcome: row.outcome,
            made: row.made,
            used: row.used,
        }
    }
}
