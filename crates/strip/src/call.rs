use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use proto::{Digest, Envelope, Meta, Principal, TraceId};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::approval::ShownFile;
use crate::files::{Attachments, Carved, Reference};
use crate::runs::RunOf;
use crate::{Client, Failure, Resume};

/// The way in that a call came by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Door {
    McpHttp,
    McpStdio,
    Http,
    Lsp,
    Cli,
    Dashboard,
}

impl Door {
    /// The word that logs, metrics and audit rows carry.
    pub fn as_str(self) -> &'static str {
        match self {
            Door::McpHttp => "mcp-http",
            Door::McpStdio => "mcp-stdio",
            Door::Http => "http",
            Door::Lsp => "lsp",
            Door::Cli => "cli",
            Door::Dashboard => "dashboard",
        }
    }
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One call on its way through the strip.
#[derive(Clone, Debug)]
pub struct Call {
    /// The tool as the caller named it: a canonical id, a short URI, a wire name, pinned or not.
    pub tool: String,
    pub input: Arc<Value>,
    pub principal: Arc<Principal>,
    pub door: Door,
    pub trace: TraceId,
    /// The caller's own key, by which a side-effecting call runs once however often it is sent.
    pub idempotency_key: Option<String>,
    /// Run a recorded call again and compare.
    pub verify: bool,
    /// A shorter time than the tool's own, if the caller has less.
    pub patience: Option<Duration>,
    /// Ends when the caller no longer wants the answer.
    pub cancel: CancellationToken,
    /// Whoever waits for the answer, if it wants to hear of the work or can be asked.
    pub client: Option<Arc<dyn Client>>,
    /// What came with a call that is repeated because its caller was asked something.
    pub resume: Option<Arc<Resume>>,
    /// The run that it belongs to.
    pub run: RunOf,
    /// Files that stand in the input by their marks, for a tool that sends them on as they are read.
    pub attached: Option<Arc<Attachments>>,
    /// The caller's own input, once files were put into it.
    pub asked: Option<Arc<Value>>,
    /// The files that a person is shown before the call may run.
    pub shown: Option<Arc<[ShownFile]>>,
    /// The digest of the code that was approved for this call: the tool runs no other.
    pub approved_code: Option<Digest>,
}

impl Call {
    /// A call with a fresh trace id and no special wishes.
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
            door,
            trace: TraceId::random(),
            idempotency_key: None,
            verify: false,
            patience: None,
            cancel: CancellationToken::new(),
            client: None,
            resume: None,
            run: RunOf::Alone,
            attached: None,
            asked: None,
            shown: None,
            approved_code: None,
        }
    }
}

/// How far a call has come with its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reply {
    /// The answer is there.
    #[default]
    Done,
    /// The caller is asked something; `native` says what. It repeats the call with the answers.
    NeedsInput,
    /// The work goes on as a task; `native` names it.
    Pending,
}

/// What a tool hands back.
#[derive(Clone, Debug)]
pub struct Output {
    pub data: Arc<Value>,
    pub warnings: Vec<String>,
    /// The result as an MCP server gave it, for doors that can pass it on whole.
    pub native: Option<Arc<Value>>,
    pub reply: Reply,
    /// Long runs of base64 that stand in the data and the result by their marks.
    pub carved: Option<Carved>,
    /// What was kept of the answer.
    pub references: Vec<Reference>,
}

/// Two outputs are the same if they say the same; what was kept of them stands in the data.
impl PartialEq for Output {
    fn eq(&self, other: &Self) -> bool {
        self.data == other.data
            && self.warnings == other.warnings
            && self.native == other.native
            && self.reply == other.reply
    }
}

impl Output {
    /// Data without warnings.
    pub fn new(data: Value) -> Self {
        Self {
            data: Arc::new(data),
            warnings: Vec::new(),
            native: None,
            reply: Reply::Done,
            carved: None,
            references: Vec::new(),
        }
    }
}

/// The end of one call, ready for any door to render.
#[derive(Clone, Debug)]
pub struct Answer {
    pub result: Result<Arc<Value>, Failure>,
    /// The result as an MCP server gave it, good or bad, for doors that can pass it on whole.
    pub native: Option<Arc<Value>>,
    pub reply: Reply,
    /// What was kept of the answer, for doors that can link to it.
    pub references: Vec<Reference>,
    pub meta: Meta,
}

impl Answer {
    /// The answer as an envelope; a failed call has `data: null`.
    pub fn envelope(self) -> Envelope {
        match self.result {
            Ok(data) => Envelope { ok: true, data, meta: self.meta, errors: Vec::new() },
            Err(failure) => Envelope {
                ok: false,
                data: Arc::new(Value::Null),
                meta: self.meta,
                errors: vec![failure.item()],
            },
        }
    }
}
