//! `registration`: servers that announce themselves.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Span;

/// How servers that register themselves are kept.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Registration {
    /// How long a server stays without a heartbeat. It is told to send three in this time.
    pub lease: Span,
    /// How many different tools all registered servers may bring together, counted over all that they ever brought.
    pub max_tools: usize,
}

impl Default for Registration {
    fn default() -> Self {
        Self { lease: Span(Duration::from_secs(30)), max_tools: 20_000 }
    }
}
