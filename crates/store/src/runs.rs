use proto::TraceId;
use serde_json::Value;

/// A run as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    pub id: String,
    pub tenant: String,
    pub subject: String,
    pub agent: Option<String>,
    pub kind: String,
    pub name: Option<String>,
    pub state: String,
    pub summary: Option<String>,
    /// The ids of its artifacts.
    pub artifacts: Vec<String>,
    pub data_tools: u64,
    pub created_unix_ms: u64,
    pub touched_unix_ms: u64,
}

/// One call of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunCallRow {
    pub run: String,
    pub trace: TraceId,
    pub tool: String,
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
    /// `OK`, or the code of its failure.
    pub outcome: String,
    /// The references that it gave out.
    pub made: Vec<String>,
    /// The references that it took in.
    pub used: Vec<String>,
}

/// A question of a run to a person.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionRow {
    pub id: String,
    pub run: String,
    pub tenant: String,
    pub slot_id: String,
    pub slot_type: String,
    pub prompt: String,
    pub options: Vec<String>,
    pub state: String,
    pub answer: Option<Value>,
    pub answered_by: Option<String>,
    pub asked_unix_ms: u64,
    pub settled_unix_ms: Option<u64>,
}

/// Which run is meant, by what it is known by beside its id.
#[derive(Clone, Copy, Debug)]
pub struct RunName<'a> {
    pub tenant: &'a str,
    pub subject: &'a str,
    pub agent: Option<&'a str>,
    pub kind: &'a str,
    pub name: Option<&'a str>,
}

/// Which runs are listed, newest first.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    /// Of this tenant alone.
    pub tenant: Option<String>,
    /// In this state alone.
    pub state: Option<String>,
    pub limit: Option<u32>,
    pub offset: u32,
}

/// How a question ends.
#[derive(Clone, Copy, Debug)]
pub struct Settlement<'a> {
    pub question: &'a str,
    pub state: &'a str,
    pub answer: Option<&'a Value>,
    pub by: Option<&'a str>,
    pub at_unix_ms: u64,
}
