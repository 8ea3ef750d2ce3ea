//! `limits`: what a call may cost.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use proto::ToolId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strip::catalog::LimitBounds;

use crate::units::{Rate, Size, Span};

/// The guardrails of every call. A tool may ask for less, or for more up to `max`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// How long a call may take.
    pub timeout: Span,
    /// The largest input of a call.
    pub max_input_bytes: Size,
    /// The largest answer of a call.
    pub max_output_bytes: Size,
    /// How long the answer of a deterministic tool is given again for the same input, and that of any tool for the
    /// same idempotency key.
    pub idempotency: Span,
    /// How many calls are let in; nothing is limited unless set here.
    pub rate: RateLimits,
    /// What no tool can raise its own limits above.
    pub max: MaxLimits,
    /// How much memory the bodies of requests may take that are not answered yet. One caller may use a quarter of it.
    /// Unset: a sixteenth of the memory of the machine or of the control group, from 16 MB to 256 MB.
    pub body_memory: Option<Size>,
    /// Sessions of MCP clients before 2026-07-28.
    pub sessions: Sessions,
}

impl Default for Limits {
    fn default() -> Self {
        let limits = proto::Limits::default();
        Self {
            timeout: Span(limits.timeout),
            max_input_bytes: Size(limits.max_input_bytes),
            max_output_bytes: Size(limits.max_output_bytes),
            idempotency: Span(Duration::from_secs(600)),
            rate: RateLimits::default(),
            max: MaxLimits::default(),
            body_memory: None,
            sessions: Sessions::default(),
        }
    }
}

/// How many sessions of MCP clients before 2026-07-28 there may be, and for how long.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sessions {
    /// How many may be open. If all are, a new one ends the least used one of the caller that has most.
    pub max: NonZeroU32,
    /// How many one caller may have. If it has them, a new one ends its least used one that is not in use.
    pub per_caller: NonZeroU32,
    /// A session ends after so long without a request, a call or a stream.
    pub idle: Span,
}

const MAX_SESSIONS: NonZeroU32 = NonZeroU32::new(10_000).unwrap();
const SESSIONS_PER_CALLER: NonZeroU32 = NonZeroU32::new(5_000).unwrap();

impl Default for Sessions {
    fn default() -> Self {
        Self {
            max: MAX_SESSIONS,
            per_caller: SESSIONS_PER_CALLER,
            idle: Span(Duration::from_secs(600)),
        }
    }
}

/// Rates, as in `100/1m`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimits {
    /// For each principal, over all tools.
    pub principal: Option<Rate>,
    /// For each tool that `tools` does not name.
    pub tool: Option<Rate>,
    /// For single tools, by id.
    #[schemars(with = "BTreeMap<String, Rate>")]
    pub tools: BTreeMap<ToolId, Rate>,
}

/// The operator's ceiling. Unset: ten minutes and 16 MB, or the limit itself if that is higher.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MaxLimits {
    /// The longest time-out that a tool may ask for.
    pub timeout: Option<Span>,
    /// The largest input that a tool may ask for.
    pub max_input_bytes: Option<Size>,
    /// The largest answer that a tool may ask for.
    pub max_output_bytes: Option<Size>,
}

const CEILING_TIMEOUT: Span = Span(Duration::from_secs(600));
const CEILING_BYTES: Size = Size(16 << 20);

impl Limits {
    /// The bounds as the catalog takes them.
    pub fn bounds(&self) -> LimitBounds {
        let Self { timeout, max_input_bytes: input, max_output_bytes: output, max, .. } = self;
        LimitBounds {
            default: proto::Limits {
                timeout: timeout.0,
                max_input_bytes: input.0,
                max_output_bytes: output.0,
            },
            max: proto::Limits {
                timeout: max.timeout.unwrap_or(CEILING_TIMEOUT.max(*timeout)).0,
                max_input_bytes: max.max_input_bytes.unwrap_or(CEILING_BYTES.max(*input)).0,
                max_output_bytes: max.max_output_bytes.unwrap_or(CEILING_BYTES.max(*output)).0,
            },
        }
    }

    /// The keys whose default lies above the operator's own ceiling.
    pub fn above_max(&self) -> Vec<&'static str> {
        let above = [
            ("timeout", self.max.timeout.is_some_and(|max| max < self.timeout)),
            (
                "max_input_bytes",
                self.max.max_input_bytes.is_some_and(|max| max < self.max_input_bytes),
            ),
            (
                "max_output_bytes",
                self.max.max_output_bytes.is_some_and(|max| max < self.max_output_bytes),
            ),
        ];
        above.into_iter().filter(|(_, above)| *above).map(|(key, _)| key).collect()
    }
}
