//! `/mcp`: rmcp speaks the protocol in all its revisions; this file lets it, binds sessions to their owners, and
//! turns its plain-text refusals into JSON-RPC errors that a client can read.

mod direct;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use auth::scope::TOOLS_READ;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::StreamExt as _;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::request::Parts;
use http::{HeaderName, Method, StatusCode};
use http_body_util::{BodyExt as _, Full};
use proto::{Code, Principal, TraceId};
use rmcp::transport::streamable_http_server::session::SessionStore;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde_json::{Value, json};
use strip::{Door, Failure, RefusedRequest, Strip};
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::admission::Admitted;
use super::body::BodyFault;
use super::sessions::{Parked, SessionFault, SessionLimits, Sessions};
use super::{Options, Shared, reply, routes, scopes};
use crate::mcp::{Caller, Core, Handler, Marks, VIEWER};
use crate::shares::{Exceeded, Holder, Share, Shares};

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The request of 2026-07-28 by which a client listens.
const LISTEN: &str = "subscriptions/listen";

/// So many callers may have all streams that one caller may listen to.
const LISTENERS: usize = 16;

/// The largest request that opens a session.
const MAX_HELLO_BYTES: usize = 16 * 1024;

/// How soon a refused caller may try again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const INTERNAL_ERROR: i32 = -32603;
/// What the official SDKs answer for a session that is gone.
const SESSION_NOT_FOUND: i32 = -32001;

/// Longer explanations than this are no explanations.
const MAX_REASON_BYTES: usize = 16 * 1024;

pub(super) struct McpDoor {
    core: Arc<Core>,
    service: StreamableHttpService<Handler, Sessions>,
    sessions: Arc<Sessions>,
    /// Streams by which clients listen, by caller.
    streams: Arc<Shares>,
}

impl McpDoor {
    pub(super) fn new(strip: Arc<Strip>, options: &Options) -> Self {
        let core = Arc::new(Core::new(strip, options.shutdown.clone()));
        let streams = options.streams_per_caller.saturating_mul(LISTENERS);
        let limits = SessionLimits {
            max: options.max_sessions,
            per_caller: options.sessions_per_caller,
            idle: options.session_idle,
            park: options.session_park,
        };
        let sessions = Arc::new(Sessions::new(limits, {
            let strip = Arc::clone(core.strip());
            move || Marks::of(&strip)
        }));
        // Host and Origin were checked for every route alike. Modern clients get plain JSON unless there is
        // more than one message to send.
        let mut config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_json_response(true)
            // The whole body has been read, under a limit that follows the tools, before it gets there.
            .with_max_request_body_bytes(usize::MAX);
        config.session_store = Some(Arc::clone(&sessions) as Arc<dyn SessionStore>);
        let handled = Arc::clone(&core);
        let service = StreamableHttpService::new(
            move || Ok(Handler::new(Arc::clone(&handled), Caller::OfRequest)),
            Arc::clone(&sessions),
            config,
        );
        Self { core, service, sessions, streams: Shares::new(streams) }
    }

    /// Looks after sessions for as long as the gateway runs.
    pub(super) async fn tend(&self) {
        self.sessions.tend().await;
    }

    /// How many sessions there may be, if there are as many.
    pub(super) fn exhausted_sessions(&self) -> Option<usize> {
        self.sessions.exhausted()
    }

    /// Starts a parked session again; false if it is not parked.
    async fn wake(&self, id: &str, principal: &Arc<Principal>, trace: TraceId) -> bool {
        let Some(Parked { version, marks, changing }) = self.sessions.parked(id).await else {
            return false;
        };
        // The library starts it before it looks at this message, which says nothing new.
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
        let request = http::Request::post(routes::MCP)
            // The library refuses requests without one; any will do.
            .header(HOST, "localhost")
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .header(SESSION_ID, id)
            .header(PROTOCOL_VERSION, version)
            .extension(Arc::clone(principal))
            .extension(trace);
        let request = match marks {
            Some(marks) => request.extension(marks),
            None => request,
        };
        let Ok(request) = request.body(Full::new(Bytes::from(ready))) else { return false };
        let service = self.service.clone();
        let starting = VIEWER.scope(Arc::clone(principal), async move {
            let answered = service.handle(request).await;
            drop(changing);
            answered.status()
        });
        // In its own task: if the client disconnects, the session must still be started completely.
        match tokio::spawn(starting).await {
            Ok(StatusCode::ACCEPTED) => {}
            failed => tracing::warn!(session = id, ?failed, "a parked session did not start again"),
        }
        true
    }
}

/// Serves who comes by the router.
pub(super) async fn serve(State(shared): State<Shared>, request: Request) -> Response {
    serve_admitted(&shared, request).await
}

/// Serves who was let in.
pub(super) async fn serve_admitted(shared: &Shared, request: Request) -> Response {
    let door = &shared.mcp;
    let (parts, body) = request.into_parts();
    let Some(principal) = parts.extensions.get::<Arc<Principal>>().cloned() else {
        return error(StatusCode::UNAUTHORIZED, INVALID_REQUEST, "nobody was let in", None);
    };
    let session =
        parts.headers.get(SESSION_ID).map(|id| id.to_str().unwrap_or_default().to_owned());
    if session.as_ref().is_some_and(|id| !door.sessions.owned_by(id, &principal)) {
        return no_session();
    }
    if parts.method == Method::DELETE
        && let Some(id) = &session
    {
        door.sessions.end(id).await;
        // Clients of the official SDKs take other statuses, such as rmcp's 202, for a failure.
        return StatusCode::NO_CONTENT.into_response();
    }
    let trace = parts.extensions.get().copied().unwrap_or_else(TraceId::random);
    let bytes = match parts.method {
        Method::POST => shared.bodies.read(&parts, body, shared.max_body()).await,
        _ => Ok(Bytes::new()),
    };
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(fault) => {
            let failure = shared.refuse_body(&fault, routes::MCP, &principal, trace).await;
            let status = match fault {
                BodyFault::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
                BodyFault::TooSlow(_) | BodyFault::BelowRate => StatusCode::REQUEST_TIMEOUT,
                _ => reply::usual_status(&failure),
            };
            return refused(status, &failure);
        }
    };

    if scopes::calls_without_leave(&principal, &bytes) {
        let missing = auth::Refusal::MissingScope;
        let refused = error(StatusCode::FORBIDDEN, INVALID_REQUEST, &missing.to_string(), None);
        let (path, scope) = (parts.uri.path(), Some(auth::scope::TOOLS_CALL));
        return scopes::challenged(refused, &shared.access, path, &missing, scope);
    }

    if parts.method == Method::POST
        && let Some(response) = direct::answer(door, &parts, &bytes, &principal).await
    {
        return response;
    }
    let refusing = Refusing { shared, principal, trace };
    let by_library = ByLibrary { refusing, parts, bytes, session };
    // Boxed to keep the future of plain calls small.
    Box::pin(by_library.answer()).await
}

/// A request that the protocol library answers.
struct ByLibrary<'a> {
    refusing: Refusing<'a>,
    parts: Parts,
    bytes: Bytes,
    session: Option<String>,
}

impl ByLibrary<'_> {
    async fn answer(mut self) -> Response {
        let Refusing { shared, principal, trace } = &self.refusing;
        let door = &shared.mcp;
        let is_get = self.parts.method == Method::GET;
        if self.session.is_none() && is_large_hello(&self.bytes) {
            let text = format!("an `initialize` request has at most {MAX_HELLO_BYTES} bytes");
            return error(StatusCode::PAYLOAD_TOO_LARGE, INVALID_REQUEST, &text, None);
        }
        let mut held = Held::default();
        if is_get || self.parts.headers.get(METHOD).is_some_and(|method| method == LISTEN) {
            let each = shared.options.streams_per_caller;
            match door.streams.take(Holder::of(principal), 1, each) {
                Ok(share) => held.share = Some(share),
                Err(Exceeded::Own { limit }) => {
                    let text = format!(
                        "you listen to {limit} streams, which is as many as one caller may have; close some"
                    );
                    let failure = Failure::new(Code::RateLimit, text).retry_after(RETRY_AFTER);
                    return self.refusing.refuse("streams", failure).await;
                }
                Err(Exceeded::Total { limit }) => {
                    let text =
                        format!("all {limit} streams of this gateway are open; try again later");
                    let failure = Failure::new(Code::Unavailable, text).retry_after(RETRY_AFTER);
                    return refused(StatusCode::SERVICE_UNAVAILABLE, &failure);
                }
            }
        }
        if let Some(id) = &self.session {
            let used = door.sessions.begin_use(id).zip(door.sessions.begin_stream(id, is_get));
            let Some((used, stream)) = used else { return no_session() };
            if door.wake(id, principal, *trace).await {
                // Its events are counted anew.
                self.parts.headers.remove(LAST_EVENT_ID);
            }
            self.parts.extensions.insert(used);
            held.session = Some(stream);
        }
        let guarded = shared.access.is_guarded();
        let admitted =
            guarded.then(|| Admitted::new(TOOLS_READ, &self.parts, Arc::clone(principal)));
        let request = http::Request::from_parts(self.parts, Full::new(self.bytes.clone()));
        let handled = door.service.handle(request);
        let response = VIEWER.scope(Arc::clone(&self.refusing.principal), handled).await;
        if response.status().is_client_error() || response.status().is_server_error() {
            return explained(response, &self.bytes, self.refusing).await;
        }
        let response = response.map(Body::new);
        if !is_stream(&response) {
            return response;
        }
        let shared = self.refusing.shared.clone();
        let ending = async move {
            let stopping = shared.options.shutdown.clone();
            let lapsing = async {
                match admitted {
                    Some(admitted) => admitted.lapse(shared).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // A listening client would otherwise hold up the shutdown for as long as it listens.
                () = stopping.cancelled(), if is_get => {}
                () = lapsing => {}
            }
        };
        response.map(|body| {
            let body = body.into_data_stream().take_until(Box::pin(ending));
            Body::from_stream(body.inspect(move |_| {
                let _until_the_end = &held;
            }))
        })
    }
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// What a stream holds for as long as it is open.
#[derive(Default)]
struct Held {
    /// A place among the caller's streams.
    share: Option<Share>,
    /// The session that it belongs to, which is in use meanwhile.
    session: Option<TaskTrackerToken>,
}

/// A request that may have to be refused.
struct Refusing<'a> {
    shared: &'a Shared,
    principal: Arc<Principal>,
    trace: TraceId,
}

impl Refusing<'_> {
    /// Refuses what a caller has too many of already, and leaves an audit row.
    async fn refuse(&self, about: &str, failure: Failure) -> Response {
        let request = RefusedRequest {
            about,
            principal: Arc::clone(&self.principal),
            door: Door::McpHttp,
            trace: self.trace,
        };
        self.shared.strip.record_refusal(request, &failure).await;
        refused(reply::usual_status(&failure), &failure)
    }
}

/// Whether a body opens a session and says more than there is to say. What a client says is kept with its session.
fn is_large_hello(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Asked<'a> {
        #[serde(borrow)]
        method: Cow<'a, str>,
    }
    body.len() > MAX_HELLO_BYTES
        && serde_json::from_slice(body).is_ok_and(|Asked { method }| method == "initialize")
}

/// rmcp refuses some requests in plain text; clients read JSON-RPC.
async fn explained<B>(
    response: http::Response<B>,
    request: &[u8],
    refusing: Refusing<'_>,
) -> Response
where
    B: hyper::body::Body<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    let is_json = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if is_json {
        return response.map(Body::new);
    }
    let (mut parts, body) = response.into_parts();
    let reason = match http_body_util::Limited::new(body, MAX_REASON_BYTES).collect().await {
        Ok(reason) => String::from_utf8_lossy(&reason.to_bytes()).into_owned(),
        Err(_) => "the request was refused".to_owned(),
    };
    let mut response = match parts.status {
        StatusCode::UNSUPPORTED_MEDIA_TYPE if reason.starts_with("fail to deserialize") => {
            malformed(request)
        }
        StatusCode::NOT_FOUND => error(parts.status, SESSION_NOT_FOUND, &reason, None),
        // rmcp knows one status for a session that cannot be made.
        StatusCode::INTERNAL_SERVER_ERROR if reason.contains(SessionFault::FULL) => {
            let failure = Failure::new(Code::Unavailable, reason).retry_after(RETRY_AFTER);
            refused(StatusCode::SERVICE_UNAVAILABLE, &failure)
        }
        StatusCode::INTERNAL_SERVER_ERROR if reason.contains(SessionFault::CALLER_FULL) => {
            let failure = Failure::new(Code::RateLimit, reason).retry_after(RETRY_AFTER);
            refusing.refuse("sessions", failure).await
        }
        status if status.is_server_error() => {
            tracing::error!(%status, reason, "rmcp failed on a request");
            error(status, INTERNAL_ERROR, "the gateway failed on this request", None)
        }
        status => error(status, INVALID_REQUEST, &reason, None),
    };
    parts.headers.remove(CONTENT_TYPE);
    parts.headers.remove(http::header::CONTENT_LENGTH);
    response.headers_mut().extend(parts.headers);
    response
}

/// Says what is wrong with a body that is no JSON-RPC message.
fn malformed(body: &[u8]) -> Response {
    match serde_json::from_slice::<Value>(body) {
        Err(fault) => error(
            StatusCode::BAD_REQUEST,
            PARSE_ERROR,
            &format!("the body is not JSON: {fault}"),
            None,
        ),
        Ok(Value::Array(_)) => error(
            StatusCode::BAD_REQUEST,
            INVALID_REQUEST,
            "batches are not supported; send each message in a request of its own",
            None,
        ),
        Ok(message) => error(
            StatusCode::BAD_REQUEST,
            INVALID_REQUEST,
            "the body is not a JSON-RPC 2.0 message of this protocol",
            message.get("id").filter(|id| id.is_string() || id.is_number()),
        ),
    }
}

/// A refusal with its code, and when to try again.
fn refused(status: StatusCode, failure: &Failure) -> Response {
    let body = json!({"jsonrpc": "2.0", "id": null, "error": {
        "code": INVALID_REQUEST, "message": failure.message, "data": failure.item()}});
    let mut response = reply::json(status, &body);
    reply::set_retry_after(response.headers_mut(), failure);
    response
}

fn no_session() -> Response {
    error(StatusCode::NOT_FOUND, SESSION_NOT_FOUND, "there is no such session", None)
}

/// Turns a request away that no session or handler has seen.
pub(super) fn refuse(status: StatusCode, message: &str) -> Response {
    error(status, INVALID_REQUEST, message, None)
}

fn error(status: StatusCode, code: i32, message: &str, id: Option<&Value>) -> Response {
    let body = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}});
    reply::json(status, &body)
}
