use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use proto::{Principal, TraceId};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::runs::RunOf;
use crate::{Client, Resume};

/// Where a call came from: the transport of its caller, or a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Door {
    McpHttp,
    McpStdio,
    Http,
    Lsp,
    Cli,
    Dashboard,
    /// A task of a workflow.
    Workflow,
}

impl Door {
    /// The name in logs, metrics and audit rows.
    pub fn as_str(self) -> &'static str {
        match self {
            Door::McpHttp => "mcp-http",
            Door::McpStdio => "mcp-stdio",
            Door::Http => "http",
            Door::Lsp => "lsp",
            Door::Cli => "cli",
            Door::Dashboard => "dashboard",
            Door::Workflow => "workflow",
        }
    }
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a caller asks for: one call of one tool. A door builds it; the stack holds it in a [`Job`](crate::Job) and never changes it.
#[derive(Clone, Debug)]
pub struct Request {
    /// The tool as the caller named it: a canonical id, a short URI, a wire name, pinned or not.
    pub tool: String,
    pub input: Arc<Value>,
    pub principal: Arc<Principal>,
    /// Set if the operator steers what another caller owns: that caller. Rights and the audit row stay the operator's.
    pub on_behalf_of: Option<Arc<Principal>>,
    pub door: Door,
    pub trace: TraceId,
    /// A side-effecting call with this key runs once, however often it is sent.
    pub idempotency_key: Option<String>,
    /// Run a recorded call again and compare the answers.
    pub verify: bool,
    /// The caller's own limit, where it is shorter than the tool's.
    pub timeout: Option<Duration>,
    /// Cancelled when the caller no longer wants the answer.
    pub cancel: CancellationToken,
    /// Whether the caller speaks MCP 2026-07-28, where a client gets only what it has declared support for.
    pub modern: bool,
    /// The caller's client, if it accepts progress and logs or can be asked questions.
    pub client: Option<Arc<dyn Client>>,
    /// The answers that come with a call that is repeated because its caller was asked something.
    pub resume: Option<Arc<Resume>>,
    /// The run that the call belongs to.
    pub run: RunOf,
    /// Set for a task of a workflow: it does not wait for people.
    pub park: Option<Arc<Park>>,
}

/// How the call of a workflow's task waits for people: not at all. Where another call would wait for a decision or an answer,
/// it is answered with [`Parked`](crate::Parked) and repeated afterwards: then it runs, or fails with DENIED.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Park {
    /// Distinguishes equal calls, so that each needs an approval of its own: the idempotency key of the task, also where the
    /// tool gets none.
    pub key: String,
    /// The approval that an earlier answer to this call named. Its decision counts, if it is about the same call: otherwise
    /// it is cancelled and a new one is created.
    pub approval: Option<String>,
    /// What came with the questions that an earlier answer to this call named, as JSON that only the strip reads.
    pub resume: Option<Value>,
    /// Set if this call needs approval even if no skill says so: the time to decide. The stricter rule applies.
    pub timeout: Option<Duration>,
    /// Why a person is asked, as the reviewer is shown it.
    pub reason: Option<String>,
    /// Set for a compensation: it is called in the workflow's run even if that run has ended. No door sets it.
    pub compensates: bool,
}

impl Request {
    /// Whether the answer may be one event of a stream, which clients before MCP 2026-07-28 read up to a limit.
    pub fn is_answered_in_one_event(&self) -> bool {
        self.door == Door::McpHttp && !self.modern
    }

    /// A request with a fresh trace id and no options.
    pub fn new(
        tool: impl Into<String>,
        input: Value,
        principal: Arc<Principal>,
        door: Door,
    ) -> Self {
        Self {
            tool: tool.into(),
            input: Arc::new(input),
            principal,
            on_behalf_of: None,
            door,
            trace: TraceId::random(),
            idempotency_key: None,
            verify: false,
            timeout: None,
            cancel: CancellationToken::new(),
            modern: false,
            client: None,
            resume: None,
            run: RunOf::Alone,
            park: None,
        }
    }
}
