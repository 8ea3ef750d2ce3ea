use std::num::NonZeroU32;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Span;

/// Limits of workflows.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Workflows {
    /// How long a paused workflow, and the answer of an ended one, are kept after the last command or finished layer.
    pub ttl: Span,
    /// How many commands one workflow takes per minute. Waiting, `workflow_status` and `abort` do not count.
    pub control_calls_per_minute: NonZeroU32,
    /// How many tasks of one workflow run at once.
    pub parallel_tasks: NonZeroU32,
    /// How many workflows of one tenant may be unfinished.
    pub max_active: NonZeroU32,
    /// What plans intents: `plain` for words and schemas only, `model` for the model of `model`, `client` for the model
    /// of the caller's own client. Without it: `model` where
    /// `model` is set, otherwise `plain`.
    pub planner: Option<PlannerKind>,
}

/// What plans intents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlannerKind {
    /// Words and schemas; nothing leaves the machine.
    Plain,
    /// A language model; its plans are checked, and where it fails the plain one is used.
    Model,
    /// The model of the caller's own client, by sampling; otherwise as `model`.
    Client,
}

impl Default for Workflows {
    fn default() -> Self {
        let count = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        Self {
            ttl: Span(Duration::from_secs(60 * 60)),
            control_calls_per_minute: count(10),
            parallel_tasks: count(8),
            max_active: count(10_000),
            planner: None,
        }
    }
}
