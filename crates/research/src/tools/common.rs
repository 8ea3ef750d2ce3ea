//! Choices and defaults that several tools share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much adult content is filtered out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Safe {
    Off,
    #[default]
    Medium,
    High,
}

/// The order of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SortBy {
    #[default]
    Relevance,
    Date,
}

pub(super) fn five() -> u32 {
    5
}

pub(super) fn three() -> u32 {
    3
}

pub(super) fn yes() -> bool {
    true
}
