//! A plan as the planner proposes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::definition::Task;

/// A plan below this confidence waits for its caller.
const MIN_CONFIDENCE: f64 = 0.5;

/// A plan that is not checked yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proposal {
    /// As in a DAG.
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub tasks: Vec<Task>,
    /// From 0 to 1.
    pub confidence: f64,
    /// Why these tools, in sentences.
    pub reasons: Vec<String>,
    /// Other tools for tasks, at most three for each.
    pub alternatives: Vec<AlternativeTool>,
    /// Required arguments that nothing fills.
    pub missing: Vec<MissingArgument>,
}

/// Another tool for a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AlternativeTool {
    pub task_id: String,
    pub tool: String,
    /// As a share of the score of the planned tool.
    pub score: f64,
}

/// A required argument that nothing fills.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MissingArgument {
    pub task_id: String,
    /// Its name; fields of objects are separated by `.`.
    pub argument: String,
    pub schema: Value,
}

/// An argument of a task that is still to be given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenArgument {
    pub argument: String,
    pub schema: Value,
}

/// What a caller gets to read about a plan, besides its tasks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanNotes {
    pub confidence: f64,
    pub reasons: Vec<String>,
    pub alternatives: Vec<AlternativeTool>,
}

impl Proposal {
    /// Whether it runs only after its caller has seen it.
    pub fn waits(&self, accept_plan: bool) -> bool {
        !self.missing.is_empty() || !accept_plan && self.confidence < MIN_CONFIDENCE
    }

    /// What its caller gets to read, besides its tasks.
    pub fn notes(&self) -> PlanNotes {
        PlanNotes {
            confidence: self.confidence,
            reasons: self.reasons.clone(),
            alternatives: self.alternatives.clone(),
        }
    }
}
