//! Calls that have ended, as people and programs are shown them.

use std::borrow::Cow;
use std::fmt;

use proto::TraceId;
use proto::time::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The order of a list of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CallOrder {
    /// Those that began last come first.
    #[default]
    Newest,
    /// Those that began first come first.
    Oldest,
    /// Those that took longest come first.
    Slowest,
    /// In the order in which they ended. With `cursor` it continues a live tail: no call is skipped.
    Recorded,
}

/// Which calls to list; a field that is not set does not narrow the choice.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CallQuery {
    /// Calls that began at this time or later.
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub since_at: Option<Time>,
    /// Calls that began before this time.
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub until_at: Option<Time>,
    /// The same as `since_at`, in milliseconds since 1970.
    #[schemars(extend("deprecated" = true))]
    pub since_unix_ms: Option<u64>,
    /// The same as `until_at`, in milliseconds since 1970.
    #[schemars(extend("deprecated" = true))]
    pub until_unix_ms: Option<u64>,
    /// Calls that began within this time from now, such as `15m`; instead of `since_at`.
    pub range: Option<String>,
    /// Calls of tools of this server.
    pub server: Option<String>,
    /// Calls of this tool.
    pub tool: Option<String>,
    /// `OK`, or the code of a failure; `failed` for every failure.
    pub code: Option<String>,
    /// Calls of this subject or agent.
    pub caller: Option<String>,
    /// A text in the tool, the caller, the code or the message, in upper or lower case.
    pub text: Option<String>,
    pub order: CallOrder,
    /// The most calls to list: 100 unless set.
    #[schemars(range(max = 500))]
    pub limit: Option<u32>,
    /// Where the page before ended: its `next`.
    pub cursor: Option<String>,
}

/// A call that has ended, or another row of the audit trail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallSummary {
    /// The number of its row in the audit trail.
    pub number: i64,
    #[schemars(with = "String")]
    pub trace_id: TraceId,
    pub at_unix_ms: u64,
    pub tenant: String,
    pub subject: String,
    pub agent: Option<String>,
    pub door: String,
    pub tool: String,
    pub version: String,
    /// How it ended: `ran`, `replayed`, `shared`, `asked`, `refused`, `failed`, `abandoned` or `interrupted`; other
    /// rows of the audit trail have other words, such as `approved` or `restarted`.
    pub decision: String,
    /// `OK`, or the code of its failure.
    pub code: String,
    /// The side to blame for a failure: `caller`, `tool` or `gateway`.
    pub blame: Option<String>,
    pub duration_us: u64,
    /// The message of its failure.
    pub message: Option<String>,
    /// The server whose own words the message is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
}

impl CallSummary {
    /// Whether it ended without a failure.
    pub fn is_ok(&self) -> bool {
        self.code == "OK"
    }

    /// Whether it is a call of a tool, rather than a decision or a change that the audit trail records.
    pub fn is_call(&self) -> bool {
        let calls =
            ["ran", "replayed", "shared", "asked", "refused", "failed", "abandoned", "interrupted"];
        calls.contains(&self.decision.as_str())
    }

    /// The message of its failure as people read it: what a server itself said is marked as its words.
    pub fn shown_message(&self) -> Option<Cow<'_, str>> {
        let message = self.message.as_deref()?;
        Some(match &self.answered_by {
            Some(server) => format!("{server} answered: {message}").into(),
            None => message.into(),
        })
    }

    /// What to show to people: `OK` only for a call that was answered. Other rows without a failure say what happened,
    /// such as `ASKED` or `EXPIRED`.
    pub fn outcome(&self) -> Cow<'_, str> {
        match self.decision.as_str() {
            "ran" | "replayed" | "shared" => (&*self.code).into(),
            other if self.is_ok() => other.to_ascii_uppercase().into(),
            _ => (&*self.code).into(),
        }
    }
}

/// A row of the audit trail that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DamagedCall {
    /// The number of the row.
    pub number: i64,
    /// Unset if the trace cannot be read either.
    #[schemars(with = "Option<String>")]
    pub trace_id: Option<TraceId>,
    /// The first column that cannot be read.
    pub column: String,
}

impl fmt::Display for DamagedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the audit row {}", self.number)?;
        if let Some(trace) = &self.trace_id {
            write!(f, " of the trace {trace}")?;
        }
        write!(f, " is damaged: its {} cannot be read", self.column)
    }
}

/// A page of calls.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CallPage {
    pub calls: Vec<CallSummary>,
    /// Rows of this page that cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<DamagedCall>,
    /// The cursor of the next page, if there are more calls. With the order `recorded` there always is one.
    pub next: Option<String>,
}

/// Names the calls of one trace.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallTrace {
    /// The trace id.
    pub trace: String,
}

/// A call with all that was stored about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallRecord {
    #[serde(flatten)]
    pub summary: CallSummary,
    /// The SHA-256 digest of its canonical arguments.
    pub arguments_digest: String,
    /// The SHA-256 digest of the tool's definition.
    pub definition_digest: Option<String>,
    /// Its arguments, where `audit.payloads` is `redacted`: secrets are masked. A text if they were too long to be
    /// stored whole.
    pub arguments: Option<Value>,
    /// Its result, as for the arguments.
    pub result: Option<Value>,
    /// Whether arguments or result were too long to be stored whole.
    pub truncated: bool,
}

/// The calls of one trace, the first to begin first.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CallDetails {
    pub calls: Vec<CallRecord>,
    /// Rows of the trace that cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<DamagedCall>,
}

/// Which calls the statistics are of.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OverviewQuery {
    /// How far back they reach, such as `15m`, `1h` or `7d`: `1h` unless set.
    pub range: Option<String>,
    /// Only calls of tools of this server.
    pub server: Option<String>,
    /// The most tools to list: 10 unless set.
    #[schemars(range(max = 1000))]
    pub tools: Option<u32>,
}

/// Statistics of the calls since a time.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Overview {
    pub since_unix_ms: u64,
    pub until_unix_ms: u64,
    pub calls: u64,
    pub errors: u64,
    /// Errors per call, from 0 to 1.
    pub error_rate: f64,
    pub p50_ms: Option<f64>,
    pub p95_ms: Option<f64>,
    /// The tools with the most calls.
    pub top_tools: Vec<ToolStats>,
    /// How long each bucket of `series` is.
    pub bucket_ms: u64,
    /// The calls over time, one bucket after the other without gaps.
    pub series: Vec<Bucket>,
    /// Whether there were so many calls that only the newest are counted.
    pub partial: bool,
    /// How many rows of the audit trail are damaged, so that they are not counted.
    #[serde(default)]
    pub damaged: u64,
}

/// The calls of one tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolStats {
    pub tool: String,
    pub calls: u64,
    pub errors: u64,
    pub p50_ms: f64,
    pub p95_ms: f64,
    /// When it was last called.
    pub last_unix_ms: u64,
}

/// The calls of one stretch of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bucket {
    pub at_unix_ms: u64,
    pub calls: u64,
    pub errors: u64,
    pub p50_ms: Option<f64>,
    pub p95_ms: Option<f64>,
}
