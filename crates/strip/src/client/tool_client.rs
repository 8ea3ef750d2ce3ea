use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::{AskError, AskMode, Client, LogLevel};

/// The key of W3C's trace parent in `_meta`.
const TRACE_PARENT: &str = "traceparent";

/// The extension by which a server may answer with a task.
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Takes secrets out of what a tool sends to its caller.
type Redact = dyn Fn(&mut Value) + Send + Sync;

/// The caller's client as a tool sees it: with a part of what the client declares, with secrets taken out of what is
/// sent to it, and with a count of the time that it takes to answer questions.
pub(crate) struct ToolClient {
    client: Arc<dyn Client>,
    capabilities: Option<Map<String, Value>>,
    meta: Option<Map<String, Value>>,
    redact: Option<Box<Redact>>,
    answering: Mutex<Answering>,
}

#[derive(Default)]
struct Answering {
    done: Duration,
    /// Since when at least one question is open, and how many are.
    open: Option<(Instant, usize)>,
}

impl ToolClient {
    /// A client whose time for answering questions is counted.
    pub(crate) fn new(client: Arc<dyn Client>) -> Self {
        let answering = Mutex::default();
        Self { client, capabilities: None, meta: None, redact: None, answering }
    }

    /// Keeps only the trace of the caller's `_meta`: a reviewer is not shown the rest, so the tool must not act on it.
    pub(crate) fn trace_only(mut self) -> Self {
        let is_trace = |(key, value): &(&String, &Value)| {
            *key == TRACE_PARENT && value.as_str().is_some_and(is_trace_parent)
        };
        let meta = self.client.meta().iter().filter(is_trace);
        self.meta = Some(meta.map(|(key, value)| (key.clone(), value.clone())).collect());
        self
    }

    /// Takes secrets out of everything that is sent to the caller. The result of a task is read by a later request, where
    /// the secrets are not known any more: the capability for tasks is removed.
    pub(crate) fn redacted(mut self, redact: impl Fn(&mut Value) + Send + Sync + 'static) -> Self {
        let mut capabilities = self.client.capabilities().clone();
        if let Some(extensions) = capabilities.get_mut("extensions").and_then(Value::as_object_mut)
        {
            extensions.remove(TASKS);
        }
        self.capabilities = Some(capabilities);
        self.redact = Some(Box::new(redact));
        self
    }

    /// How long the caller has taken to answer questions so far, those that are open included.
    pub(crate) fn time_answering(&self) -> Duration {
        let answering = self.lock();
        answering.done + answering.open.map_or(Duration::ZERO, |(since, _)| since.elapsed())
    }

    fn lock(&self) -> MutexGuard<'_, Answering> {
        self.answering.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn without_secrets(&self, sent: Map<String, Value>) -> Map<String, Value> {
        let Some(redact) = &self.redact else { return sent };
        let mut sent = Value::Object(sent);
        redact(&mut sent);
        match sent {
            Value::Object(sent) => sent,
            _ => Map::new(),
        }
    }
}

impl fmt::Debug for ToolClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolClient").field(&self.client).finish()
    }
}

/// Whether a text has the form of a W3C trace parent, which leaves no room for anything else.
fn is_trace_parent(text: &str) -> bool {
    text.len() == "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".len()
        && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f' | b'-'))
}

/// One open question; dropped when it is answered or the tool has given up on it.
struct OpenQuestion<'a>(&'a ToolClient);

impl<'a> OpenQuestion<'a> {
    fn new(client: &'a ToolClient) -> Self {
        let mut answering = client.lock();
        let (since, count) = answering.open.unwrap_or_else(|| (Instant::now(), 0));
        answering.open = Some((since, count + 1));
        drop(answering);
        Self(client)
    }
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        let mut answering = self.0.lock();
        if let Some((since, count)) = answering.open.take() {
            if count > 1 {
                answering.open = Some((since, count - 1));
            } else {
                answering.done += since.elapsed();
            }
        }
    }
}

#[async_trait]
impl Client for ToolClient {
    fn capabilities(&self) -> &Map<String, Value> {
        self.capabilities.as_ref().unwrap_or_else(|| self.client.capabilities())
    }

    fn meta(&self) -> &Map<String, Value> {
        self.meta.as_ref().unwrap_or_else(|| self.client.meta())
    }

    fn ask_mode(&self) -> AskMode {
        self.client.ask_mode()
    }

    fn wants_progress(&self) -> bool {
        self.client.wants_progress()
    }

    fn progress(&self, report: Map<String, Value>) {
        self.client.progress(self.without_secrets(report));
    }

    fn log_level(&self) -> Option<LogLevel> {
        self.client.log_level()
    }

    fn session(&self) -> Option<&str> {
        self.client.session()
    }

    fn log(&self, message: Map<String, Value>) {
        self.client.log(self.without_secrets(message));
    }

    fn has_streamed(&self) -> bool {
        self.client.has_streamed()
    }

    async fn ask(&self, method: &str, mut params: Value) -> Result<Value, AskError> {
        if let Some(redact) = &self.redact {
            redact(&mut params);
        }
        let _open = OpenQuestion::new(self);
        self.client.ask(method, params).await
    }
}
