//! The servers behind a gateway, as people and programs are shown them.

mod causes;
mod findings;
mod switches;

pub use causes::{Cause, causes, fix_missing_program, how_to_install, lacks_program};
pub use findings::{SchemaUse, findings};
pub use switches::{Health, ServerState, ServerSwitch};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A server without its logs and processes.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerSummary {
    pub name: String,
    /// `stdio`, `http`, `sse`, `openapi`, or `registered` for a server that registered itself.
    pub kind: String,
    /// `stdio`, `http`, `sse` or `openapi`.
    pub transport: String,
    pub state: ServerState,
    /// Whether `disabled` is set in the config file.
    pub disabled: bool,
    /// Why it cannot be used, if it cannot.
    pub reason: Option<String>,
    pub era: Option<String>,
    /// Name and version, as the server says.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub server: Option<Value>,
    /// How many tools it offers.
    pub tools: usize,
    /// How long ago they were listed.
    pub list_age_ms: Option<u64>,
    /// Tools that it lists but that are not offered.
    pub faults: Vec<ToolNote>,
    pub hidden_characters: Vec<HiddenCharacters>,
    /// Tools whose input schemas some model API refuses.
    pub unportable: Vec<ToolNote>,
    pub quarantined: Vec<ToolNote>,
    pub last_error: Option<String>,
    pub last_error_unix_ms: Option<u64>,
    /// When a server that is down is tried again.
    pub retry_in_ms: Option<u64>,
    /// The end of what its process wrote to stderr.
    pub stderr_tail: Option<String>,
    pub replicas: Vec<ReplicaView>,
    /// Sessions or processes held for callers.
    pub sessions: usize,
    /// How often a process of this server ended by itself or did not start.
    pub restarts: u64,
    /// Messages that belong to no request, arrived twice, or could not be read.
    pub odd_messages: u64,
    /// The leases of a server that registered itself.
    pub lease: Option<LeaseView>,
}

/// A tool and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolNote {
    pub tool: String,
    pub reason: String,
}

/// How many invisible characters were removed from a tool's definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HiddenCharacters {
    pub tool: String,
    pub characters: usize,
}

/// One URL of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaView {
    pub url: String,
    pub era: Option<String>,
    /// Calls under way.
    pub outstanding: usize,
    /// Whether calls are sent there now.
    pub admitted: bool,
    pub last_error: Option<String>,
}

/// The leases of a server that registered itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeaseView {
    pub version: String,
    pub age_ms: u64,
    pub replicas: Vec<ReplicaLeaseView>,
}

/// The lease of one URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaLeaseView {
    pub url: String,
    pub expires_in_ms: u64,
}

/// The state of every server.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ServerList {
    pub servers: Vec<ServerSummary>,
}

/// A server with its processes, logs, tools and calls.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerDetail {
    #[serde(flatten)]
    pub summary: ServerSummary,
    pub processes: Vec<ProcessView>,
    /// The last lines that its processes wrote to stderr, and what the gateway noted about it; at most 200.
    pub stderr: Vec<LogLine>,
    /// The tools that it offers.
    pub offered: Vec<ServerTool>,
    /// The calls of its tools in the last hour.
    pub calls: CallStats,
}

/// A process of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessView {
    pub pid: u32,
    pub started_unix_ms: u64,
}

/// The writer of a line in a server's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogSource {
    /// A process of the server, to stderr.
    Stderr,
    /// The gateway, when a process started or ended, or the server's state changed.
    Gateway,
}

/// A line of a server's log, cleaned and without secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogLine {
    /// Lines are numbered from 1.
    pub number: u64,
    pub at_unix_ms: u64,
    pub source: LogSource,
    /// The process that wrote it.
    pub pid: Option<u32>,
    pub line: String,
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerTool {
    pub id: String,
    /// The name that MCP clients see.
    pub wire_name: String,
    pub title: Option<String>,
    pub description: String,
}

/// How many calls there were, how many failed, and how long they took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallStats {
    pub count: u64,
    pub errors: u64,
    pub p50_ms: Option<f64>,
    pub p95_ms: Option<f64>,
}

/// Names one server.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerName {
    pub name: String,
}

/// Which lines of a server's log to return.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogQuery {
    pub name: String,
    /// Only lines after this number: `next` of the answer before.
    pub after: Option<u64>,
    /// The most lines to return, the newest of them.
    #[schemars(range(max = 1000))]
    pub limit: Option<usize>,
}

/// Lines of a server's log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerLogs {
    pub lines: Vec<LogLine>,
    /// The number to continue after.
    pub next: u64,
}

/// What changed at a server.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ServerChange {
    pub name: String,
    pub state: ServerState,
    /// What was done, and what is left to do.
    pub message: String,
}
