use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Input of `sequential_search`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SequentialSearch {
    /// In step 1 the question.
    #[schemars(length(min = 1, max = 10000))]
    pub search_step: String,
    #[schemars(range(min = 1))]
    pub step_number: u32,
    pub next_step_needed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub total_steps_estimate: Option<u32>,
    #[serde(default)]
    pub is_revision: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub revises_step: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub branch_from_step: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub branch_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 5000))]
    pub knowledge_gap: Option<String>,
    /// Default: your latest open session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub session_id: Option<String>,
    /// A source that this step found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceInput>,
}

impl SequentialSearch {
    /// A step with defaults.
    pub fn new(step_number: u32, search_step: impl Into<String>, next_step_needed: bool) -> Self {
        Self {
            search_step: search_step.into(),
            step_number,
            next_step_needed,
            total_steps_estimate: None,
            is_revision: false,
            revises_step: None,
            branch_from_step: None,
            branch_id: None,
            knowledge_gap: None,
            session_id: None,
            source: None,
        }
    }
}

/// A source that a step found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceInput {
    #[schemars(length(min = 1, max = 8192))]
    pub url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1000))]
    pub title: Option<String>,
}

/// Output of `sequential_search`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SequentialSearchOutput {
    /// Names the session in later steps.
    pub session_id: String,
    pub question: String,
    pub current_step: u32,
    pub total_steps_estimate: u32,
    pub is_complete: bool,
    pub steps: Vec<ResearchStep>,
    pub sources: Vec<ResearchSource>,
    pub gaps: Vec<KnowledgeGap>,
    /// RFC 3339.
    pub started_at: String,
    /// RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// What the caller should know about this session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A step of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResearchStep {
    pub step_number: u32,
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_revision: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revises_step: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_from_step: Option<u32>,
    /// RFC 3339.
    pub timestamp: String,
}

/// A source of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResearchSource {
    pub url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub found_in_step: u32,
}

/// Something that is still unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KnowledgeGap {
    pub description: String,
    pub found_in_step: u32,
}
