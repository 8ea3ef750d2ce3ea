//! The caller's client while a call runs: it may receive progress and log messages, and may be asked questions.

mod task_client;
mod tool_client;

use std::fmt;

use async_trait::async_trait;
use serde_json::{Map, Value};

pub(crate) use task_client::TaskClient;
pub(crate) use tool_client::ToolClient;

/// How a question reaches a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskMode {
    /// By a separate request while the call waits, as before MCP 2026-07-28.
    Direct,
    /// As the answer to its request, which it then sends again with what it was asked for.
    Rounds,
}

/// Why a question got no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The caller does not support such questions.
    #[error("the caller cannot be asked for this")]
    Unable,
    /// The caller left, or took too long.
    #[error("the caller did not answer")]
    Silent,
    /// The caller answered with a JSON-RPC error.
    #[error("{message}")]
    Refused { code: i64, message: String },
}

/// The client that waits for a call. Doors make one only for requests that need it.
#[async_trait]
pub trait Client: fmt::Debug + Send + Sync + 'static {
    /// The client's capabilities, as MCP writes them: `elicitation`, `sampling`, `roots`, `extensions`.
    fn capabilities(&self) -> &Map<String, Value>;

    /// The `_meta` of the caller's request.
    fn meta(&self) -> &Map<String, Value>;

    fn ask_mode(&self) -> AskMode;

    fn wants_progress(&self) -> bool;

    /// Sends a `notifications/progress` without its token. Never waits.
    fn progress(&self, report: Map<String, Value>);

    /// The least severe level of log messages that the caller wants; none if it wants no messages.
    fn log_level(&self) -> Option<LogLevel>;

    /// The session of the client, which distinguishes it from others of the same caller.
    fn session(&self) -> Option<&str> {
        None
    }

    /// Sends a `notifications/message`. Never waits.
    fn log(&self, message: Map<String, Value>);

    /// Whether the answer will be one event of a stream, because something was sent before it.
    fn has_streamed(&self) -> bool {
        false
    }

    /// Sends a request to the client and waits for its response.
    async fn ask(&self, method: &str, params: Value) -> Result<Value, AskError>;
}

/// The severity of a log message, the most severe last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LogLevel {
    const NAMES: [(&str, Self); 8] = [
        ("debug", Self::Debug),
        ("info", Self::Info),
        ("notice", Self::Notice),
        ("warning", Self::Warning),
        ("error", Self::Error),
        ("critical", Self::Critical),
        ("alert", Self::Alert),
        ("emergency", Self::Emergency),
    ];

    /// The level of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, level)| *level)
    }

    /// The name that MCP uses.
    pub fn as_str(self) -> &'static str {
        Self::NAMES.iter().find(|(_, level)| *level == self).map_or("debug", |(name, _)| name)
    }
}

/// What a caller sends with a request that it repeats because it was asked something.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resume {
    /// Its answers, by the names of the questions.
    pub responses: Map<String, Value>,
    /// The state that came with the questions. Untrusted until its seal is checked.
    pub state: Option<String>,
}
