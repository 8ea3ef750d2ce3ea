//! `/mcp`: rmcp speaks the protocol in all its revisions; this file lets it, binds sessions to their owners, and
//! turns its plain-text refusals into JSON-RPC errors that a client can read.

mod direct;

use std::sync::Arc;

use auth::scope::TOOLS_READ;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use futures_util::StreamExt as _;
use http::header::CONTENT_TYPE;
use http::{HeaderName, Method, StatusCode};
use http_body_util::{BodyExt as _, Full};
use proto::Principal;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use strip::Strip;

use super::admission::Admitted;
use super::body::{self, BodyFault};
use super::sessions::{SessionFault, Sessions};
use super::{Options, Shared, reply, scopes};
use crate::mcp::{Caller, Core, Handler, VIEWER};

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

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
}

impl McpDoor {
    pub(super) fn new(strip: Arc<Strip>, options: &Options) -> Self {
        let core = Arc::new(Core::new(strip, options.shutdown.clone()));
        let sessions = Arc::new(Sessions::new(options.max_sessions, options.session_idle));
        // Host and Origin were checked for every route alike. Modern clients get plain JSON unless there is
        // more than one message to send.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_json_response(true)
            // The whole body has been read, under a limit that follows the tools, before it gets there.
            .with_max_request_body_bytes(usize::MAX);
        let handled = Arc::clone(&core);
        let service = StreamableHttpService::new(
            move || Ok(Handler::new(Arc::clone(&handled), Caller::OfRequest)),
            Arc::clone(&sessions),
            config,
        );
        Self { core, service, sessions }
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
        return error(StatusCode::NOT_FOUND, SESSION_NOT_FOUND, "there is no such session", None);
    }
    let options = &shared.options;
    let bytes = match parts.method {
        Method::POST => {
            body::read(&parts.headers, body, shared.max_body(), options.body_timeout).await
        }
        _ => Ok(Bytes::new()),
    };
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(fault) => {
            let status = match fault {
                BodyFault::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
                BodyFault::TooSlow(_) => StatusCode::REQUEST_TIMEOUT,
                BodyFault::Broken(_) => StatusCode::BAD_REQUEST,
            };
            return error(status, INVALID_REQUEST, &fault.to_string(), None);
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
    if let Some(id) = &session {
        door.sessions.touch(id);
    }
    let listens = parts.method == Method::GET;
    let admitted = Admitted::new(TOOLS_READ, &parts, Arc::clone(&principal));
    let request = http::Request::from_parts(parts, Full::new(bytes.clone()));
    let handled = door.service.handle(request);
    let response = VIEWER.scope(Arc::clone(&principal), handled).await;
    let opened = response.headers().get(SESSION_ID).and_then(|id| id.to_str().ok());
    if let Some(id) = opened {
        door.sessions.bind(id, principal).await;
    }
    if response.status().is_client_error() || response.status().is_server_error() {
        return explained(response, &bytes).await;
    }
    let streams = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    let response = response.map(Body::new);
    let lapsing = streams && shared.access.is_guarded();
    if !listens && !lapsing {
        return response;
    }
    let (stopping, shared) = (options.shutdown.clone(), shared.clone());
    let ending = Box::pin(async move {
        tokio::select! {
            // A listening client would otherwise hold up the shutdown for as long as it listens.
            () = stopping.cancelled(), if listens => {}
            () = admitted.lapse(shared), if lapsing => {}
        }
    });
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(ending)))
}

/// rmcp refuses some requests in plain text; clients read JSON-RPC.
async fn explained<B>(response: http::Response<B>, request: &[u8]) -> Response
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
        // rmcp knows one status for a session that cannot be made; a client that waits may well get one.
        StatusCode::INTERNAL_SERVER_ERROR if reason.contains(SessionFault::FULL) => {
            error(StatusCode::SERVICE_UNAVAILABLE, INTERNAL_ERROR, &reason, None)
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

/// Turns a request away that no session or handler has seen.
pub(super) fn refuse(status: StatusCode, message: &str) -> Response {
    error(status, INVALID_REQUEST, message, None)
}

fn error(status: StatusCode, code: i32, message: &str, id: Option<&Value>) -> Response {
    let body = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}});
    reply::json(status, &body)
}
