use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Input of `sequential_search`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SequentialSearch {
    /// What this step does or found; of step 1 the question of the research.
    #[schemars(length(min = 1, max = 10000))]
    pub search_step: String,
    /// The number of this step; 1 opens a session.
    #[schemars(range(min = 1))]
    pub step_number: u32,
    /// Whether more steps follow.
    pub next_step_needed: bool,
    /// How many steps there will be, as estimated now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub total_steps_estimate: Option<u32>,
    /// Whether this step revises an earlier one.
    #[serde(default)]
    pub is_revision: bool,
    /// The step that is revised; the step of the same number if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub revises_step: Option<u32>,
    /// The step from which a branch starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub branch_from_step: Option<u32>,
    /// The name of the branch; needs `branchFromStep`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub branch_id: Option<String>,
    /// What is still unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 5000))]
    pub knowledge_gap: Option<String>,
    /// The session; the caller's latest open session if left out.
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
