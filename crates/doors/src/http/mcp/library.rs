//! Requests that the protocol library answers.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use auth::scope::TOOLS_READ;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::StreamExt as _;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderName, Method, StatusCode};
use http_body_util::{BodyExt as _, Full};
use http_server::{Exceeded, Holder, Share};
use proto::{Code, Failure, Principal, TraceId};
use serde::Deserialize;
use strip::{Door, RefusedRequest};
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::door::SESSION_ID;
use super::errors::{self, INTERNAL_ERROR, INVALID_REQUEST, SESSION_NOT_FOUND};
use super::stream_notices::{self, WithNotices};
use super::{priming, single_answer};
use crate::http::admission::Admitted;
use crate::http::reply;
use crate::http::sessions::{SessionFault, Sessions};
use crate::http::state::Shared;
use crate::mcp::CALLER;

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The method by which clients of 2026-07-28 subscribe to changes.
const LISTEN: &str = "subscriptions/listen";

/// The largest request that opens a session.
const MAX_INITIALIZE_BYTES: usize = 16 * 1024;

/// How soon a refused caller may try again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// How much is read of the library's explanation for a refusal.
const MAX_REASON_BYTES: usize = 16 * 1024;

/// A request that was admitted, with the body that was read.
pub(super) struct LibraryRequest<'a> {
    pub(super) context: RequestContext<'a>,
    pub(super) parts: Parts,
    pub(super) bytes: Bytes,
    pub(super) session: Option<String>,
}

impl LibraryRequest<'_> {
    /// Whether the client asks for the rest of a stream that answers a request.
    fn resumes_answer(&self) -> bool {
        let id = self.parts.headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok());
        id.is_some_and(Sessions::is_of_answer)
    }

    pub(super) async fn answer(mut self) -> Response {
        let RequestContext { shared, principal, trace } = &self.context;
        let door = &shared.mcp;
        let is_get = self.parts.method == Method::GET;
        if self.session.is_none() && is_large_initialize(&self.bytes) {
            let text = format!("an `initialize` request has at most {MAX_INITIALIZE_BYTES} bytes");
            return errors::error(StatusCode::PAYLOAD_TOO_LARGE, INVALID_REQUEST, &text, None);
        }
        let mut held = HeldByStream::default();
        if is_get || self.parts.headers.get(METHOD).is_some_and(|method| method == LISTEN) {
            let each = shared.options.streams_per_caller;
            match door.streams.take(Holder::of(principal), 1, each) {
                Ok(share) => held.share = Some(share),
                Err(Exceeded::Own { limit }) => {
                    let text = format!(
                        "you have {limit} event streams open, the limit per caller; close some"
                    );
                    let failure = Failure::new(Code::RateLimit, text).retry_after(RETRY_AFTER);
                    return self.context.refuse("streams", failure).await;
                }
                Err(Exceeded::Total { limit }) => {
                    let text =
                        format!("all {limit} streams of this gateway are open; try again later");
                    let failure = Failure::new(Code::Unavailable, text).retry_after(RETRY_AFTER);
                    return errors::refuse_with(StatusCode::SERVICE_UNAVAILABLE, &failure);
                }
            }
        }
        if let Some(id) = &self.session {
            let used = door.sessions.begin_use(id).zip(door.sessions.begin_stream(id, is_get));
            let Some((used, stream)) = used else { return errors::no_session() };
            if door.wake(id, principal, *trace).await && !self.resumes_answer() {
                // A restored session numbers the events of its own stream from the start.
                self.parts.headers.remove(LAST_EVENT_ID);
            }
            self.parts.extensions.insert(used);
            held.session = Some(stream);
        }
        let mut waiting = None;
        if self.session.is_some() && !is_get {
            let (notices, queue) = stream_notices::channel();
            self.parts.extensions.insert(notices);
            waiting = Some(queue);
        }
        let may_be_large = waiting.is_some() && single_answer::may_be_large(&self.bytes);
        let guarded = shared.access.is_guarded();
        let admitted =
            guarded.then(|| Admitted::new(TOOLS_READ, &self.parts, Arc::clone(principal)));
        let request = http::Request::from_parts(self.parts, Full::new(self.bytes.clone()));
        let handled = door.service.handle(request);
        let response = CALLER.scope(Arc::clone(&self.context.principal), handled).await;
        if response.status().is_client_error() || response.status().is_server_error() {
            return explain(response, &self.bytes, self.context).await;
        }
        let response = response.map(Body::new);
        if !is_stream(&response) {
            return response;
        }
        // A response that opens a session names it.
        let opened = response.headers().get(SESSION_ID).and_then(|id| id.to_str().ok());
        let session = self.session.as_deref().or(opened);
        let drops_priming = session.is_some_and(|id| !door.sessions.takes_priming(id));
        let shared = self.context.shared.clone();
        let ending = async move {
            let stopping = shared.options.shutdown.clone();
            let invalid = async {
                match admitted {
                    Some(admitted) => admitted.until_invalid(shared).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // An open event stream would otherwise delay the shutdown.
                () = stopping.cancelled(), if is_get => {}
                () = invalid => {}
            }
        };
        let (head, body) = response.into_parts();
        let body = body.into_data_stream().take_until(Box::pin(ending));
        let body = body.filter_map(move |part| {
            std::future::ready(match part {
                Ok(part) if drops_priming => priming::without_empty_events(part).map(Ok),
                part => Some(part),
            })
        });
        let body = body.inspect(move |_| {
            let _until_the_end = &held;
        });
        match waiting {
            Some(waiting) if may_be_large => {
                single_answer::respond(head, WithNotices::new(body, waiting)).await
            }
            Some(waiting) => {
                Response::from_parts(head, Body::from_stream(WithNotices::new(body, waiting)))
            }
            None => Response::from_parts(head, Body::from_stream(body)),
        }
    }
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// What is reserved for a stream while it is open.
#[derive(Default)]
struct HeldByStream {
    /// Counts against the caller's limit of streams.
    share: Option<Share>,
    /// Keeps the session of the stream in use.
    session: Option<TaskTrackerToken>,
}

/// What is known about a request, for refusals.
pub(super) struct RequestContext<'a> {
    pub(super) shared: &'a Shared,
    pub(super) principal: Arc<Principal>,
    pub(super) trace: TraceId,
}

impl RequestContext<'_> {
    /// Refuses a request over a limit of its caller, and records that in the audit trail.
    async fn refuse(&self, about: &str, failure: Failure) -> Response {
        let request = RefusedRequest {
            about,
            principal: Arc::clone(&self.principal),
            door: Door::McpHttp,
            trace: self.trace,
        };
        let failure = self.shared.strip.record_refusal(request, failure).await;
        errors::refuse_with(reply::usual_status(&failure), &failure)
    }
}

/// Whether a body opens a session and is too large: it is kept for as long as the session.
fn is_large_initialize(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        method: Cow<'a, str>,
    }
    body.len() > MAX_INITIALIZE_BYTES
        && serde_json::from_slice(body).is_ok_and(|Message { method }| method == "initialize")
}

/// Turns a refusal of rmcp in plain text into a JSON-RPC error.
async fn explain<B>(
    response: http::Response<B>,
    request: &[u8],
    context: RequestContext<'_>,
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
            errors::malformed(request)
        }
        StatusCode::NOT_FOUND => errors::error(parts.status, SESSION_NOT_FOUND, &reason, None),
        // rmcp has one status for every session that cannot be created.
        StatusCode::INTERNAL_SERVER_ERROR if reason.contains(SessionFault::FULL) => {
            let failure = Failure::new(Code::Unavailable, reason).retry_after(RETRY_AFTER);
            errors::refuse_with(StatusCode::SERVICE_UNAVAILABLE, &failure)
        }
        StatusCode::INTERNAL_SERVER_ERROR if reason.contains(SessionFault::CALLER_FULL) => {
            let failure = Failure::new(Code::RateLimit, reason).retry_after(RETRY_AFTER);
            context.refuse("sessions", failure).await
        }
        status if status.is_server_error() => {
            tracing::error!(%status, reason, "rmcp failed on a request");
            errors::error(status, INTERNAL_ERROR, "the gateway failed on this request", None)
        }
        status => errors::error(status, INVALID_REQUEST, &reason, None),
    };
    parts.headers.remove(CONTENT_TYPE);
    parts.headers.remove(http::header::CONTENT_LENGTH);
    response.headers_mut().extend(parts.headers);
    response
}
