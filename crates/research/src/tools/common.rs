//! Choices and defaults that several tools share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
