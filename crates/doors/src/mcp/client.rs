//! The caller of one request: what it can be asked and wants to hear, and the way back to it.

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
use strip::{Asking, Client, LogLevel, Unasked};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{is_modern, named, render};
use crate::http::SessionUse;

/// How long a person may take to answer.
const PATIENCE: Duration = Duration::from_secs(300);

/// Notices that may wait for a slow caller; the rest is lost.
const MAX_NOTICES: usize = 256;

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const PROGRESS_TOKEN: &str = "progressToken";

/// The caller as a tool sees it while it works.
pub(super) struct Caller {
    capabilities: Map<String, Value>,
    meta: Map<String, Value>,
    asking: Asking,
    progress: Option<ProgressToken>,
    log_level: Option<LogLevel>,
    peer: Peer<RoleServer>,
    request: RequestId,
    notices: mpsc::Sender<ServerNotification>,
    /// The request has its answer.
    over: CancellationToken,
}

/// Our end of a caller: passes on what it is told while its request is worked on.
pub(super) struct Ear {
    notices: mpsc::Receiver<ServerNotification>,
    peer: Peer<RoleServer>,
    _over: DropGuard,
}

/// Makes a caller of a request that asks for something a plain call does not: `None` costs nothing.
pub(super) fn of(
    context: &RequestContext<RoleServer>,
    session_level: Option<LogLevel>,
    resumed: bool,
) -> Option<(Arc<dyn Client>, Ear)> {
    let modern = is_modern(context);
    let declared = match context.meta.get(CAPABILITIES) {
        Some(Value::Object(declared)) => declared.clone(),
        _ if modern => Map::new(),
        _ => declared(context),
    };
    let progress = context.meta.get_progress_token();
    let log_level = if modern { context.meta.log_level().and_then(named) } else { session_level };
    let theirs = |(key, _): &(&String, &Value)| {
        *key != PROGRESS_TOKEN
            && !key.starts_with("io.modelcontextprotocol/")
            && !key.starts_with("powerstrip/")
            && !render::RUN.contains(&key.as_str())
    };
    let meta: Map<String, Value> = context
        .meta
        .iter()
        .filter(theirs)
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let plain = declared.is_empty() && progress.is_none() && log_level.is_none() && meta.is_empty();
    if plain && !resumed {
        return None;
    }
    let (notices, heard) = mpsc::channel(MAX_NOTICES);
    let over = CancellationToken::new();
    let ear = Ear { notices: heard, peer: context.peer.clone(), _over: over.clone().drop_guard() };
    let caller = Caller {
        capabilities: declared,
        meta,
        asking: if modern { Asking::Rounds } else { Asking::Direct },
        progress,
        log_level,
        peer: context.peer.clone(),
        request: context.id.clone(),
        notices,
        over,
    };
    Some((Arc::new(caller), ear))
}

/// What a legacy client declared when it began.
fn declared(context: &RequestContext<RoleServer>) -> Map<String, Value> {
    let declared = context.client_capabilities().map(serde_json::to_value);
    match declared {
        Some(Ok(Value::Object(declared))) => declared,
        _ => Map::new(),
    }
}

/// Does the work of a request, passing on meanwhile what its caller is told.
pub(super) async fn attended<T>(
    ear: Option<Ear>,
    mut work: Pin<&mut impl Future<Output = T>>,
) -> T {
    let Some(mut ear) = ear else { return work.await };
    loop {
        tokio::select! {
            biased;
            Some(notice) = ear.notices.recv() => ear.tell(notice).await,
            done = &mut work => {
                while let Ok(notice) = ear.notices.try_recv() {
                    ear.tell(notice).await;
                }
                return done;
            }
        }
    }
}

/// Does the work of a request, and cancels it when its client asks for that or its session ends.
pub(super) async fn cancelling<T>(
    cancel: &CancellationToken,
    asked: &CancellationToken,
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
        () = asked.cancelled() => {}
        () = ended => {}
    }
    cancel.cancel();
    work.await
}

impl Ear {
    async fn tell(&self, notice: ServerNotification) {
        if let Err(error) = self.peer.send_notification(notice).await {
            tracing::debug!(%error, "a notice could not be delivered");
        }
    }
}

impl Caller {
    fn notify(&self, notice: ServerNotification) {
        // A caller that does not keep up misses some; it can do without.
        let _ = self.notices.try_send(notice);
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").field("asking", &self.asking).finish_non_exhaustive()
    }
}

#[async_trait]
impl Client for Caller {
    fn capabilities(&self) -> &Map<String, Value> {
        &self.capabilities
    }

    fn meta(&self) -> &Map<String, Value> {
        &self.meta
    }

    fn asking(&self) -> Asking {
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

    async fn ask(&self, method: &str, params: Value) -> Result<Value, Unasked> {
        if self.asking != Asking::Direct {
            return Err(Unasked::Unable);
        }
        let mut request = CustomRequest::new(method, Some(params));
        request.extensions.insert(OriginatingRequestId(self.request.clone()));
        let options = PeerRequestOptions::with_timeout(PATIENCE);
        let asked = async {
            let request = ServerRequest::CustomRequest(request);
            self.peer.send_request_with_option(request, options).await?.await_response().await
        };
        let answered = self.over.run_until_cancelled(asked).await.ok_or(Unasked::Silent)?;
        match answered {
            Ok(result) => serde_json::to_value(result).map_err(|_| Unasked::Silent),
            Err(ServiceError::McpError(error)) => Err(Unasked::Refused {
                code: i64::from(error.code.0),
                message: error.message.into_owned(),
            }),
            Err(_) => Err(Unasked::Silent),
        }
    }
}
