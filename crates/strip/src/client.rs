//! The caller's side of a call while it runs: it may hear how the work is getting on, and may be asked.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::{Map, Value};

/// Under this name W3C's trace parent stands in `_meta`.
const TRACE_PARENT: &str = "traceparent";

/// How a question reaches a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// By a request of its own while the call waits, as before MCP 2026-07-28.
    Direct,
    /// As the answer to its request, which it then sends again with what it was asked for.
    Rounds,
}

/// Why a caller gave no answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unasked {
    /// It cannot be asked this way, or not this.
    #[error("the caller cannot be asked for this")]
    Unable,
    /// It left, or took too long.
    #[error("the caller did not answer")]
    Silent,
    /// It answered with an error of JSON-RPC.
    #[error("{message}")]
    Refused { code: i64, message: String },
}

/// Whoever waits for a call. Doors make one only for a request that asks for something of it.
#[async_trait]
pub trait Client: fmt::Debug + Send + Sync + 'static {
    /// What the caller says that it can do, as MCP writes it: `elicitation`, `sampling`, `roots`, `extensions`.
    fn capabilities(&self) -> &Map<String, Value>;

    /// What the caller added to its request's `_meta`.
    fn meta(&self) -> &Map<String, Value>;

    fn asking(&self) -> Asking;

    fn wants_progress(&self) -> bool;

    /// Tells how far the work is: a `notifications/progress` without its token. Never waits.
    fn progress(&self, report: Map<String, Value>);

    /// The least level of log messages that the caller wants to see; none if it wants none.
    fn log_level(&self) -> Option<LogLevel>;

    /// Passes on a `notifications/message`. Never waits.
    fn log(&self, message: Map<String, Value>);

    /// Asks directly, and waits for the person or program on the other side.
    async fn ask(&self, method: &str, params: Value) -> Result<Value, Unasked>;
}

/// How grave a log message is, the gravest last.
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
    /// The state that came with the questions. Untrusted until whoever sealed it has opened it.
    pub state: Option<String>,
}

/// A caller of whose `_meta` only the trace is handed on: for calls that a person approves, who is not shown it.
#[derive(Debug)]
pub(crate) struct Terse {
    client: Arc<dyn Client>,
    meta: Map<String, Value>,
}

impl Terse {
    pub(crate) fn of(client: Arc<dyn Client>) -> Arc<dyn Client> {
        let told = |(key, value): &(&String, &Value)| {
            *key == TRACE_PARENT && value.as_str().is_some_and(is_trace_parent)
        };
        let meta = client.meta().iter().filter(told);
        let meta = meta.map(|(key, value)| (key.clone(), value.clone())).collect();
        Arc::new(Self { client, meta })
    }
}

/// Whether it has the letters of a W3C trace parent, and room for nothing else.
fn is_trace_parent(text: &str) -> bool {
    text.len() == "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".len()
        && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f' | b'-'))
}

#[async_trait]
impl Client for Terse {
    fn capabilities(&self) -> &Map<String, Value> {
        self.client.capabilities()
    }

    fn meta(&self) -> &Map<String, Value> {
        &self.meta
    }

    fn asking(&self) -> Asking {
        self.client.asking()
    }

    fn wants_progress(&self) -> bool {
        self.client.wants_progress()
    }

    fn progress(&self, report: Map<String, Value>) {
        self.client.progress(report);
    }

    fn log_level(&self) -> Option<LogLevel> {
        self.client.log_level()
    }

    fn log(&self, message: Map<String, Value>) {
        self.client.log(message);
    }

    async fn ask(&self, method: &str, params: Value) -> Result<Value, Unasked> {
        self.client.ask(method, params).await
    }
}

/// A caller and the time that it took to answer questions, which is not the tool's.
#[derive(Debug)]
pub(crate) struct Thinking {
    client: Arc<dyn Client>,
    spent: Mutex<Spent>,
}

#[derive(Debug, Default)]
struct Spent {
    done: Duration,
    /// Since when at least one question is open, and how many are.
    open: Option<(Instant, usize)>,
}

impl Thinking {
    pub(crate) fn new(client: Arc<dyn Client>) -> Arc<Self> {
        Arc::new(Self { client, spent: Mutex::default() })
    }

    /// How long the caller has been thinking so far, and whether it still is.
    pub(crate) fn spent(&self) -> Duration {
        let spent = self.lock();
        spent.done + spent.open.map_or(Duration::ZERO, |(since, _)| since.elapsed())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One open question; it ends when the answer is there or nobody waits for it.
struct Question<'a>(&'a Thinking);

impl<'a> Question<'a> {
    fn open(thinking: &'a Thinking) -> Self {
        let mut spent = thinking.lock();
        let (since, count) = spent.open.unwrap_or_else(|| (Instant::now(), 0));
        spent.open = Some((since, count + 1));
        drop(spent);
        Self(thinking)
    }
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        let mut spent = self.0.lock();
        if let Some((since, count)) = spent.open.take() {
            if count > 1 {
                spent.open = Some((since, count - 1));
            } else {
                spent.done += since.elapsed();
            }
        }
    }
}

#[async_trait]
impl Client for Thinking {
    fn capabilities(&self) -> &Map<String, Value> {
        self.client.capabilities()
    }

    fn meta(&self) -> &Map<String, Value> {
        self.client.meta()
    }

    fn asking(&self) -> Asking {
        self.client.asking()
    }

    fn wants_progress(&self) -> bool {
        self.client.wants_progress()
    }

    fn progress(&self, report: Map<String, Value>) {
        self.client.progress(report);
    }

    fn log_level(&self) -> Option<LogLevel> {
        self.client.log_level()
    }

    fn log(&self, message: Map<String, Value>) {
        self.client.log(message);
    }

    async fn ask(&self, method: &str, params: Value) -> Result<Value, Unasked> {
        let _open = Question::open(self);
        self.client.ask(method, params).await
    }
}
