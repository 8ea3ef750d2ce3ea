//! Lenses: named sets of domains to which a search is limited.

use serde::{Deserialize, Serialize};

/// A lens, as its YAML file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lens {
    pub name: String,
    #[serde(default)]
    pub domains: Vec<String>,
    /// A Google engine of its own, which is asked directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cx: Option<String>,
}
