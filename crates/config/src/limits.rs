//! `limits`: time, size and rate limits of calls.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::time::Duration;

use proto::ToolId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strip::catalog::LimitBounds;

use crate::units::{Rate, Size, Span};

/// The limits of every call. A tool may request lower ones, or higher ones up to `max`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// How long a call may take.
    pub timeout: Span,
    /// The largest input of a call, in bytes.
    pub max_input_bytes: Size,
    /// The largest input of a call of a server's tool, where that is more than `max_input_bytes`.
    pub max_server_input_bytes: Size,
    /// The largest answer of a call, in bytes.
    pub max_output_bytes: Size,
    /// How long answers are reused: of deterministic tools for the same input, of any tool for the same idempotency
    /// key.
    pub idempotency: Span,
    /// Rate limits; without them, calls are not limited.
    pub rate: RateLimits,
    /// The highest limits that a tool may request.
    pub max: MaxLimits,
    /// Memory for the bodies of unanswered requests. One caller may use a quarter of it. If unset: a sixteenth of the
    /// memory of the machine or the control group, from 16 MB to 256 MB.
    pub body_memory: Option<Size>,
    /// Sessions of MCP clients that use revisions before 2026-07-28.
    pub sessions: Sessions,
}

impl Default for Limits {
    fn default() -> Self {
        let limits = proto::Limits::default();
        Self {
            timeout: Span(limits.timeout),
            max_input_bytes: Size(limits.max_input_bytes),
            max_server_input_bytes: SERVER_INPUT,
            max_output_bytes: Size(limits.max_output_bytes),
            idempotency: Span(Duration::from_secs(600)),
            rate: RateLimits::default(),
            max: MaxLimits::default(),
            body_memory: None,
            sessions: Sessions::default(),
        }
    }
}

/// Sessions of MCP clients that use revisions before 2026-07-28.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sessions {
    /// The most open sessions. Beyond it, a new session ends the least recently used one of the caller with the most.
    pub max: NonZeroU32,
    /// The most sessions of one caller. Beyond it, a new session ends the caller's least recently used idle one.
    pub per_caller: NonZeroU32,
    /// A session without a request, a call or a stream ends after this time.
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
    /// Per principal, over all tools.
    pub principal: Option<Rate>,
    /// Per tool, unless `tools` names it.
    pub tool: Option<Rate>,
    /// Per named tool, by id.
    #[schemars(with = "BTreeMap<String, Rate>")]
    pub tools: BTreeMap<ToolId, Rate>,
}

/// The highest limits that a tool may request. If unset: ten minutes and 16 MB, or the default limit if that is higher.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MaxLimits {
    /// The longest timeout that a tool may request.
    pub timeout: Option<Span>,
    /// The largest input that a tool may request.
    pub max_input_bytes: Option<Size>,
    /// The largest answer that a tool may request.
    pub max_output_bytes: Option<Size>,
}

/// Servers take whole documents as arguments: the content of a file to write, a page to convert.
const SERVER_INPUT: Size = Size(1 << 20);

const CEILING_TIMEOUT: Span = Span(Duration::from_secs(600));
const CEILING_BYTES: Size = Size(16 << 20);

impl RateLimits {
    /// The limits as the guard takes them.
    pub fn rules(&self) -> strip::RateRules {
        let rate = |rate: &Rate| strip::Rate { count: rate.count, per: rate.per.0 };
        strip::RateRules {
            principal: self.principal.as_ref().map(rate),
            tool: self.tool.as_ref().map(rate),
            tools: self.tools.iter().map(|(id, rule)| (id.to_string(), rate(rule))).collect(),
        }
    }
}

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
            server_input: self.max_server_input_bytes.0,
            max: proto::Limits {
                timeout: max.timeout.unwrap_or(CEILING_TIMEOUT.max(*timeout)).0,
                max_input_bytes: max.max_input_bytes.unwrap_or(CEILING_BYTES.max(*input)).0,
                max_output_bytes: max.max_output_bytes.unwrap_or(CEILING_BYTES.max(*output)).0,
            },
        }
    }

    /// The keys of optional limits that are set. Each field is named, so that a new limit cannot be forgotten here.
    pub(crate) fn set_keys(&self) -> BTreeSet<String> {
        let RateLimits { principal, tool, tools } = &self.rate;
        let MaxLimits { timeout, max_input_bytes, max_output_bytes } = &self.max;
        let single = [
            ("limits.rate.principal", principal.is_some()),
            ("limits.rate.tool", tool.is_some()),
            ("limits.max.timeout", timeout.is_some()),
            ("limits.max.max_input_bytes", max_input_bytes.is_some()),
            ("limits.max.max_output_bytes", max_output_bytes.is_some()),
        ];
        let single = single.into_iter().filter(|(_, set)| *set).map(|(key, _)| key.to_owned());
        single.chain(tools.keys().map(|tool| format!("limits.rate.tools.{tool}"))).collect()
    }

    /// The keys whose value is above `limits.max`.
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
