//! Newline-framed MCP, forwarded to a gateway's `/mcp`: sessions and event streams for clients of the old
//! revisions, single exchanges for those of the new.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use egress::http::{Limits, Request, Scope, StreamingResponse};
use futures_util::StreamExt as _;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use proto::sse::{self, PlainData, TooLarge};
use serde_json::{Value, json};
use tokio::io::AsyncWrite;
use tokio::sync::RwLock;
use tokio::task::{AbortHandle, JoinHandle};
use tokio_util::task::TaskTracker;

use crate::client::MessageWriter;
use crate::frame::MAX_MESSAGE;
use crate::gateway::{Remote, answer_in, is_event_stream, json_headers};
use crate::ledger::Ledger;

/// Reads events whose data are messages.
type Events = sse::Events<PlainData<MAX_MESSAGE>>;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Where a request says which revision it is written in.
const REVISION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";

/// The error of a request that the gateway could not be reached for.
const UNREACHABLE: i64 = -32000;

/// How long to wait before listening again.
const PAUSE: Duration = Duration::from_secs(1);

/// How long ending the session may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// One client's conversation with a gateway.
pub(super) struct Exchange<W> {
    remote: Remote,
    writer: Arc<MessageWriter<W>>,
    /// The client's session at the gateway, in the old revisions. Written while a session is opened.
    session: RwLock<Option<Session>>,
    ledger: Ledger,
    under_way: TaskTracker,
    /// Requests that can be given up by closing their stream, by their id.
    streams: Mutex<HashMap<String, AbortHandle>>,
    listener: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Clone)]
struct Session {
    id: HeaderValue,
    version: HeaderValue,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Exchange<W> {
    pub(super) fn new(remote: Remote, writer: Arc<MessageWriter<W>>) -> Self {
        Self {
            remote,
            writer,
            session: RwLock::default(),
            ledger: Ledger::default(),
            under_way: TaskTracker::new(),
            streams: Mutex::default(),
            listener: Mutex::default(),
        }
    }

    /// Forwards one message. Requests run concurrently; notifications keep their order.
    pub(super) async fn take(self: Arc<Self>, message: Bytes) {
        let parsed: Value = match serde_json::from_slice(&message) {
            Ok(parsed) => parsed,
            Err(error) => {
                let why = format!("the message is not JSON: {error}");
                return self.refuse(&Value::Null, -32700, &why).await;
            }
        };
        self.ledger.record_request(&message);
        let method = parsed["method"].as_str().unwrap_or_default().to_owned();
        let id = parsed.get("id").filter(|_| !method.is_empty()).cloned();
        match (id, method.as_str()) {
            (Some(id), "initialize") => self.initialize(&id, &message).await,
            (Some(id), _) => self.begin(id, message, parsed),
            (None, "notifications/cancelled") if self.session.read().await.is_none() => {
                let id = parsed["params"]["requestId"].to_string();
                if let Some(stream) = lock(&self.streams).remove(&id) {
                    stream.abort();
                }
            }
            (None, method) => {
                if let Err(error) = self.post(&message, &parsed).await {
                    tracing::warn!(%error, "a message could not be forwarded");
                }
                if method == "notifications/initialized" {
                    let listener = tokio::spawn(Arc::clone(&self).listen());
                    if let Some(before) = lock(&self.listener).replace(listener) {
                        before.abort();
                    }
                }
            }
        }
    }

    /// Waits for running requests, and ends the session.
    pub(super) async fn finish(&self) {
        self.ledger.settled().await;
        for (_, stream) in lock(&self.streams).drain() {
            stream.abort();
        }
        self.under_way.close();
        self.under_way.wait().await;
        if let Some(listener) = lock(&self.listener).take() {
            listener.abort();
        }
        if let Some(session) = self.session.write().await.take() {
            let mut headers = HeaderMap::new();
            headers.insert(SESSION, session.id);
            headers.insert(VERSION, session.version);
            let _ = self
                .remote
                .send(Method::DELETE, "/mcp", headers, Bytes::new(), Some(FAREWELL))
                .await;
        }
    }

    /// Opens a session, and forwards the gateway's answer to the client.
    async fn initialize(&self, id: &Value, message: &Bytes) {
        match self.open_session(message).await {
            Ok(answer) => self.tell(&answer).await,
            Err(error) => self.refuse(id, UNREACHABLE, &format!("{error:#}")).await,
        }
    }

    async fn open_session(&self, message: &Bytes) -> anyhow::Result<Vec<u8>> {
        let mut session = self.session.write().await;
        let response = self.send(Method::POST, json_headers(), message.clone()).await?;
        let opened = response.headers.get(SESSION).cloned();
        let answer = whole(response).await?;
        let parsed: Value = serde_json::from_slice(&answer)?;
        if let (Some(id), Some(version)) = (opened, parsed["result"]["protocolVersion"].as_str()) {
            *session = Some(Session { id, version: HeaderValue::from_str(version)? });
        }
        Ok(answer)
    }

    /// Lets a request run until its answer is there.
    fn begin(self: Arc<Self>, id: Value, message: Bytes, parsed: Value) {
        let key = id.to_string();
        let exchange = Arc::clone(&self);
        let task = self.under_way.spawn(async move {
            if let Err(error) = exchange.converse(&message, &parsed).await {
                exchange.refuse(&id, UNREACHABLE, &format!("{error:#}; try again")).await;
            }
            lock(&exchange.streams).remove(&id.to_string());
        });
        lock(&self.streams).insert(key, task.abort_handle());
    }

    async fn converse(&self, message: &Bytes, parsed: &Value) -> anyhow::Result<()> {
        let mut response = self.post(message, parsed).await?;
        // The gateway was restarted and has forgotten us: we introduce the client again, once.
        if response.status == StatusCode::NOT_FOUND && self.session.read().await.is_some() {
            let mut replay = self.ledger.replay().into_iter();
            if let Some(hello) = replay.next() {
                self.open_session(&hello).await?;
                for message in replay {
                    self.post(&message, &Value::Null).await?;
                }
                response = self.post(message, parsed).await?;
            }
        }
        if !is_event_stream(&response.headers) {
            let status = response.status;
            let answer = whole(response).await?;
            anyhow::ensure!(is_message(&answer), "the gateway answered {status} without a message");
            self.tell(&answer).await;
            return Ok(());
        }
        let mut events = Events::default();
        let mut body = response.body;
        while let Some(chunk) = body.next().await {
            for message in messages(&mut events, &chunk?)? {
                self.tell(&message).await;
            }
        }
        Ok(())
    }

    /// Reads the gateway's own messages, for clients of the old revisions.
    async fn listen(self: Arc<Self>) {
        loop {
            let Some(Session { id, version }) = self.session.read().await.clone() else { return };
            let mut headers = HeaderMap::new();
            headers.insert(SESSION, id);
            headers.insert(VERSION, version);
            headers.insert(http::header::ACCEPT, HeaderValue::from_static("text/event-stream"));
            match self.send(Method::GET, headers, Bytes::new()).await {
                Ok(response) if is_event_stream(&response.headers) => {
                    let mut events = Events::default();
                    let mut body = response.body;
                    while let Some(Ok(chunk)) = body.next().await {
                        let Ok(messages) = messages(&mut events, &chunk) else { break };
                        for message in messages {
                            self.tell(&message).await;
                        }
                    }
                }
                // This gateway does not offer it.
                Ok(response) if response.status == StatusCode::METHOD_NOT_ALLOWED => return,
                Ok(_) | Err(_) => {}
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn post(&self, message: &Bytes, parsed: &Value) -> anyhow::Result<StreamingResponse> {
        let mut headers = json_headers();
        if let Some(revision) = parsed.pointer(REVISION).and_then(Value::as_str) {
            headers.insert(VERSION, HeaderValue::from_str(revision)?);
            let method = parsed["method"].as_str().unwrap_or_default();
            headers.insert(METHOD, HeaderValue::from_str(method)?);
            let name = ["name", "uri"].into_iter().find_map(|key| parsed["params"][key].as_str());
            if let Some(name) = name.and_then(|name| HeaderValue::from_str(name).ok()) {
                headers.insert(NAME, name);
            }
        } else if let Some(Session { id, version }) = self.session.read().await.clone() {
            headers.insert(SESSION, id);
            headers.insert(VERSION, version);
        }
        self.send(Method::POST, headers, message.clone()).await
    }

    async fn send(
        &self,
        method: Method,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> anyhow::Result<StreamingResponse> {
        self.remote.introduce(&mut headers);
        let request = Request { method, url: self.remote.url("/mcp"), headers, body: body.into() };
        let limits = Limits {
            deadline: None,
            max_body_bytes: u64::MAX,
            max_redirects: 0,
            ..Limits::default()
        };
        Ok(self.remote.client().stream(request, &limits, &Scope::everything()).await?)
    }

    async fn tell(&self, message: &[u8]) {
        if Ledger::concerns_client(message) {
            self.writer.send(message).await;
        }
        self.ledger.record_answer(message);
    }

    async fn refuse(&self, id: &Value, code: i64, why: &str) {
        let message = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}});
        self.tell(message.to_string().as_bytes()).await;
    }
}

/// A body's one message, whether it came plain or as an event. Events before an answer are notifications.
async fn whole(response: StreamingResponse) -> anyhow::Result<Vec<u8>> {
    let as_event = is_event_stream(&response.headers);
    let mut body = response.body;
    let (mut plain, mut events) = (Vec::new(), Events::default());
    while let Some(chunk) = body.next().await {
        let chunk = chunk?;
        if as_event {
            let mut messages = messages(&mut events, &chunk)?.into_iter();
            if let Some(answer) = messages.find(|message| answer_in(message).is_some()) {
                return Ok(answer);
            }
        }
        plain.extend_from_slice(&chunk);
        anyhow::ensure!(
            plain.len() <= MAX_MESSAGE,
            "the gateway's answer has more than {MAX_MESSAGE} bytes"
        );
    }
    Ok(plain)
}

/// The messages in the events that end in these bytes. An event without text carries none.
fn messages(events: &mut Events, chunk: &Bytes) -> Result<Vec<Vec<u8>>, TooLarge> {
    let mut messages = Vec::new();
    events.feed(chunk, |_, data| {
        messages.push(data);
        true
    })?;
    messages.retain(|message| !message.trim_ascii().is_empty());
    Ok(messages)
}

fn is_message(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Value>(bytes).is_ok_and(|message| message.get("jsonrpc").is_some())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
