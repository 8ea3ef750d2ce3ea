//! The client of one request, as tools see it: what it can be asked, and which notices it wants.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rmcp::RoleServer;
use rmcp::model::{
    CustomRequest, LoggingMessageNotification, ProgressNotification, ProgressToken, RequestId,
    ServerNotification, ServerRequest,
};
use rmcp::service::{OriginatingRequestId, Peer, PeerRequestOptions, RequestContext, ServiceError};
use serde_json::{Map, Value};
use strip::{AskError, AskMode, Client, LogLevel};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::context::{is_modern, log_level};
use super::render;
use crate::http::SessionUse;

/// How long a person may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(300);

/// How many notices may wait for a slow client; further ones are dropped.
const MAX_NOTICES: usize = 256;

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const PROGRESS_TOKEN: &str = "progressToken";

/// The client of a request while its tool runs.
pub(super) struct RequestClient {
    capabilities: Map<String, Value>,
    meta: Map<String, Value>,
    asking: AskMode,
    progress: Option<ProgressToken>,
    log_level: Option<LogLevel>,
    peer: Peer<RoleServer>,
    request: RequestId,
    notices: mpsc::Sender<ServerNotification>,
    /// Cancelled when the request is answered.
    answered: CancellationToken,
}

/// The notices for a client while its tool runs.
pub(super) struct NoticeQueue {
    notices: mpsc::Receiver<ServerNotification>,
    peer: Peer<RoleServer>,
    _answered: DropGuard,
}

/// The client of a request, if it asks for more than a plain call does.
pub(super) fn of(
    context: &RequestContext<RoleServer>,
    session_level: Option<LogLevel>,
    resumed: bool,
) -> Option<(Arc<dyn Client>, NoticeQueue)> {
    let modern = is_modern(context);
    let declared = match context.meta.get(CAPABILITIES) {
        Some(Value::Object(declared)) => declared.clone(),
        _ if modern => Map::new(),
        _ => declared(context),
    };
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
    let answered = CancellationToken::new();
    let queue = NoticeQueue {
        notices: queue,
        peer: context.peer.clone(),
        _answered: answered.clone().drop_guard(),
    };
    let client = RequestClient {
        capabilities: declared,
        meta,
        asking: if modern { AskMode::Rounds } else { AskMode::Direct },
        progress,
        log_level: level,
        peer: context.peer.clone(),
        request: context.id.clone(),
        notices,
        answered,
    };
    Some((Arc::new(client), queue))
}

/// The capabilities that a legacy client declared when it connected.
fn declared(context: &RequestContext<RoleServer>) -> Map<String, Value> {
    let declared = context.client_capabilities().map(serde_json::to_value);
    match declared {
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
    async fn send(&self, notice: ServerNotification) {
        if let Err(error) = self.peer.send_notification(notice).await {
            tracing::debug!(%error, "a notice could not be delivered");
        }
    }
}

impl RequestClient {
    fn notify(&self, notice: ServerNotification) {
        // A client that does not keep up misses some notices.
        let _ = self.notices.try_send(notice);
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
        let token = self.progress.as_ref().and_then(|token| serde_json::to_value(token).ok());
        let Some(token) = token else { return };
        report.insert(PROGRESS_TOKEN.to_owned(), token);
        if let Ok(report) = serde_json::from_value(Value::Object(report)) {
            let notice = ProgressNotification::new(report);
            self.notify(ServerNotification::ProgressNotification(notice));
        }
    }

    fn log_level(&self) -> Option<LogLevel> {
        self.log_level
    }

    fn log(&self, message: Map<String, Value>) {
        if let Ok(message) = serde_json::from_value(Value::Object(message)) {
            let notice = LoggingMessageNotification::new(message);
            self.notify(ServerNotification::LoggingMessageNotification(notice));
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
