//! `registration`: servers that register themselves.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Span;

/// Limits of servers that register themselves.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Registration {
    /// How long a server stays registered without a heartbeat. Servers are asked to send three in this time.
    pub lease: Span,
    /// The most different tools of all registered servers together, including tools that they no longer offer.
    pub max_tools: usize,
}

impl Default for Registration {
    fn default() -> Self {
        Self { lease: Span(Duration::from_secs(30)), max_tools: 20_000 }
    }
}
