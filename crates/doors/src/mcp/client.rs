//! The client of one request, as tools see it: what it can be asked, and which notices it wants.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use http::request::Parts;
use proto::canonical;
use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, CustomRequest, LoggingMessageNotification, ProgressNotification,
    ProgressToken, RequestId, ServerNotification, ServerRequest,
};
use rmcp::service::{OriginatingRequestId, Peer, PeerRequestOptions, RequestContext, ServiceError};
use serde_json::{Map, Value, json};
use strip::{AskError, AskMode, Client, LogLevel};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::context::{is_modern, log_level};
use super::{notice_text, render};
use crate::http::{SessionUse, StreamNotices};

/// How long a person may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(300);

/// How many notices may wait for a slow client, and their size; further ones are dropped.
const MAX_NOTICES: usize = 1_024;
const MAX_NOTICE_BYTES: usize = 8 * 1024 * 1024;

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const PROGRESS_TOKEN: &str = "progressToken";
/// The header with the session id of a legacy client over HTTP.
pub(super) const SESSION_ID: &str = "mcp-session-id";

/// The client of a request while its tool runs.
pub(super) struct RequestClient {
    capabilities: Map<String, Value>,
    meta: Map<String, Value>,
    asking: AskMode,
    progress: Option<ProgressToken>,
    log_level: Option<LogLevel>,
    session: Option<String>,
    peer: Peer<RoleServer>,
    request: RequestId,
    notices: mpsc::Sender<QueuedNotice>,
    /// How many bytes of notices wait.
    waiting: Arc<AtomicUsize>,
    /// Cancelled when the request is answered.
    answered: CancellationToken,
    /// Whether the answer is sent over HTTP, where notices before it make it an event of a stream.
    over_http: bool,
    /// Whether a notice was sent.
    notified: AtomicBool,
}

/// A notice and its size.
struct QueuedNotice {
    notice: ServerNotification,
    bytes: usize,
}

/// The notices for a client while its tool runs.
pub(super) struct NoticeQueue {
    notices: mpsc::Receiver<QueuedNotice>,
    waiting: Arc<AtomicUsize>,
    /// The stream of the answer, for a session over HTTP.
    stream: Option<StreamNotices>,
    peer: Peer<RoleServer>,
    _answered: DropGuard,
}

/// The client of a request with these capabilities, if it asks for more than a plain call does.
pub(super) fn of(
    context: &RequestContext<RoleServer>,
    declared: Map<String, Value>,
    session_level: Option<LogLevel>,
    resumed: bool,
) -> Option<(Arc<dyn Client>, NoticeQueue)> {
    let modern = is_modern(context);
    let progress = context.meta.get_progress_token();
    let level = if modern { context.meta.log_level().and_then(log_level) } else { session_level };
    let for_server = |(key, _): &(&String, &Value)| {
        *key != PROGRESS_TOKEN
            && !key.starts_with("io.modelcontextprotocol/")
            && !key.starts_with("powerstrip/")
            && !render::RUN.contains(&key.as_str())
    };
    let meta: Map<String, Value> = context
        .meta
        .iter()
        .filter(for_server)
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let plain = declared.is_empty() && progress.is_none() && level.is_none() && meta.is_empty();
    if plain && !resumed {
        return None;
    }
    let (notices, queue) = mpsc::channel(MAX_NOTICES);
    let (answered, waiting) = (CancellationToken::new(), Arc::<AtomicUsize>::default());
    let parts = context.extensions.get::<Parts>();
    let queue = NoticeQueue {
        notices: queue,
        waiting: Arc::clone(&waiting),
        stream: parts.and_then(|parts| parts.extensions.get::<StreamNotices>()).cloned(),
        peer: context.peer.clone(),
        _answered: answered.clone().drop_guard(),
    };
    let client = RequestClient {
        capabilities: declared,
        meta,
        asking: ask_mode(modern),
        progress,
        log_level: level,
        session: parts
            .and_then(|parts| Some(parts.headers.get(SESSION_ID)?.to_str().ok()?.to_owned())),
        peer: context.peer.clone(),
        request: context.id.clone(),
        notices,
        waiting,
        answered,
        over_http: parts.is_some(),
        notified: AtomicBool::new(false),
    };
    Some((Arc::new(client), queue))
}

/// How a client of this era is asked questions.
pub(super) fn ask_mode(modern: bool) -> AskMode {
    if modern { AskMode::Rounds } else { AskMode::Direct }
}

/// The capabilities of the client: those in the request, or those that a legacy client declared when it connected.
pub(super) fn capabilities(context: &RequestContext<RoleServer>) -> Map<String, Value> {
    match context.meta.get(CAPABILITIES) {
        Some(Value::Object(declared)) => declared.clone(),
        _ if is_modern(context) => Map::new(),
        _ => declared(context.client_capabilities()),
    }
}

/// The capabilities as MCP writes them.
pub(super) fn declared(capabilities: Option<ClientCapabilities>) -> Map<String, Value> {
    match capabilities.map(serde_json::to_value) {
        Some(Ok(Value::Object(declared))) => declared,
        _ => Map::new(),
    }
}

/// Runs the work of a request and sends its notices to the client.
pub(super) async fn send_notices<T>(
    queue: Option<NoticeQueue>,
    mut work: Pin<&mut impl Future<Output = T>>,
) -> T {
    let Some(mut queue) = queue else { return work.await };
    loop {
        tokio::select! {
            biased;
            Some(notice) = queue.notices.recv() => queue.send(notice).await,
            done = &mut work => {
                while let Ok(notice) = queue.notices.try_recv() {
                    queue.send(notice).await;
                }
                return done;
            }
        }
    }
}

/// Runs the work of a request, and cancels it when the client cancels it or the session ends.
pub(super) async fn cancel_on_end<T>(
    cancel: &CancellationToken,
    cancelled: &CancellationToken,
    session: Option<&SessionUse>,
    mut work: Pin<&mut impl Future<Output = T>>,
) -> T {
    let ended = async {
        match session {
            Some(session) => session.ended.cancelled().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        done = &mut work => return done,
        () = cancelled.cancelled() => {}
        () = ended => {}
    }
    cancel.cancel();
    work.await
}

impl NoticeQueue {
    async fn send(&self, QueuedNotice { notice, bytes }: QueuedNotice) {
        self.waiting.fetch_sub(bytes, Ordering::Relaxed);
        let notice = match &self.stream {
            // After a lost connection the library keeps it for the client's next one.
            Some(stream) => match stream.send(notice) {
                None => return,
                Some(notice) => notice,
            },
            None => notice,
        };
        if let Err(error) = self.peer.send_notification(notice).await {
            tracing::debug!(%error, "a notice could not be delivered");
        }
    }
}

impl RequestClient {
    fn notify(&self, notice: ServerNotification, bytes: usize) {
        // A client that does not keep up misses some notices.
        if self.waiting.fetch_add(bytes, Ordering::Relaxed) > MAX_NOTICE_BYTES {
            self.waiting.fetch_sub(bytes, Ordering::Relaxed);
            return;
        }
        let late = match self.notices.try_send(QueuedNotice { notice, bytes }) {
            Ok(()) => {
                self.notified.store(true, Ordering::Relaxed);
                return;
            }
            Err(TrySendError::Full(_)) => None,
            Err(TrySendError::Closed(queued)) => Some(queued.notice),
        };
        self.waiting.fetch_sub(bytes, Ordering::Relaxed);
        // A log message that a server sends after its answer still belongs to the session of the client.
        if let Some(notice @ ServerNotification::LoggingMessageNotification(_)) = late
            && self.asking == AskMode::Direct
        {
            let peer = self.peer.clone();
            tokio::spawn(async move { peer.send_notification(notice).await });
        }
    }
}

impl fmt::Debug for RequestClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestClient").field("asking", &self.asking).finish_non_exhaustive()
    }
}

#[async_trait]
impl Client for RequestClient {
    fn capabilities(&self) -> &Map<String, Value> {
        &self.capabilities
    }

    fn meta(&self) -> &Map<String, Value> {
        &self.meta
    }

    fn ask_mode(&self) -> AskMode {
        self.asking
    }

    fn wants_progress(&self) -> bool {
        self.progress.is_some()
    }

    fn progress(&self, mut report: Map<String, Value>) {
        let Some(token) = &self.progress else { return };
        notice_text::shorten_progress(&mut report);
        report.insert(PROGRESS_TOKEN.to_owned(), json!(token));
        let report = Value::Object(report);
        let bytes = canonical::len(&report);
        if let Ok(report) = serde_json::from_value(report) {
            let notice = ProgressNotification::new(report);
            self.notify(ServerNotification::ProgressNotification(notice), bytes);
        }
    }

    fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    fn log_level(&self) -> Option<LogLevel> {
        self.log_level
    }

    fn has_streamed(&self) -> bool {
        self.over_http && self.notified.load(Ordering::Relaxed)
    }

    fn log(&self, mut message: Map<String, Value>) {
        notice_text::shorten_log(&mut message);
        let message = Value::Object(message);
        let bytes = canonical::len(&message);
        if let Ok(message) = serde_json::from_value(message) {
            let notice = LoggingMessageNotification::new(message);
            self.notify(ServerNotification::LoggingMessageNotification(notice), bytes);
        }
    }

    async fn ask(&self, method: &str, params: Value) -> Result<Value, AskError> {
        if self.asking != AskMode::Direct {
            return Err(AskError::Unable);
        }
        let mut request = CustomRequest::new(method, Some(params));
        request.extensions.insert(OriginatingRequestId(self.request.clone()));
        let options = PeerRequestOptions::with_timeout(ANSWER_TIMEOUT);
        let asking = async {
            let request = ServerRequest::CustomRequest(request);
            self.peer.send_request_with_option(request, options).await?.await_response().await
        };
        let answered = self.answered.run_until_cancelled(asking).await.ok_or(AskError::Silent)?;
        match answered {
            Ok(result) => serde_json::to_value(result).map_err(|_| AskError::Silent),
            Err(ServiceError::McpError(error)) => Err(AskError::Refused {
                code: i64::from(error.code.0),
                message: error.message.into_owned(),
            }),
            Err(_) => Err(AskError::Silent),
        }
    }
}
