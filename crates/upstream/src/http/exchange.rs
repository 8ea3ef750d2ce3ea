//! One POST and its answer, as a JSON body or within a stream of events.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use auth::client::ServerTokens;
use bytes::Bytes;
use egress::http::{
    Body, Client as HttpClient, FetchError, Limits, Request, Scope, SendFault, StreamingResponse,
};
use files::Piece;
use futures_util::{StreamExt as _, TryStreamExt as _};
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use proto::Scrubber;
use proto::sse::Position;
use strip::Client;

use super::headers;
use super::listener::Listener;
use super::reading::EventBody;
use super::tokens::Authorizer;
use crate::caller::Caller;
use crate::context::ServerContext;
use crate::era::Era;
use crate::error::TransportError;
use crate::message_buffer::{Events, MAX_MESSAGE_BYTES};
use crate::rpc::{Answer, Message, RpcError, RpcRequest};

/// How much is read of the body of a rejection.
const MAX_REJECTION_BYTES: usize = 64 * 1024;

/// How long the rest of a body is read, so that its connection can be used again.
pub(super) const REST_TIMEOUT: Duration = Duration::from_secs(1);

/// Sends requests to one server. It has its own connection pool, so that a slow server does not delay others.
pub(super) struct Exchange {
    client: HttpClient,
    common: HeaderMap,
    tokens: Option<Arc<ServerTokens>>,
    limits: Limits,
    /// The server's own origins: a redirect must not lead to hosts that only other servers and tools may reach.
    scope: Scope,
    pub(super) context: Arc<ServerContext>,
    /// How many messages belonged to no request.
    pub(super) unexpected_messages: AtomicU64,
}

/// A response with a status other than success.
#[derive(Debug)]
pub(super) struct Rejection {
    pub(super) status: StatusCode,
    pub(super) error: Option<RpcError>,
    /// Whether the body mentions a session.
    pub(super) about_session: bool,
    pub(super) retry_after: Option<Duration>,
}

impl Rejection {
    /// The error of a rejection without a JSON-RPC answer.
    pub(super) fn transport_error(&self) -> TransportError {
        match self.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                TransportError::Unauthorized(self.status.as_u16())
            }
            status => {
                let retry_after = self.retry_after;
                TransportError::Status { status: status.as_u16(), retry_after }
            }
        }
    }
}

/// How a POST ended.
pub(super) enum PostOutcome {
    Answer { answer: Answer, headers: HeaderMap },
    Rejection(Rejection),
}

/// Where a request goes and with which headers. Replies to questions of the server go to the endpoint of the request.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) url: String,
    pub(super) headers: HeaderMap,
    /// The caller whose token is sent; the gateway's own if none.
    pub(super) caller: Option<Caller>,
    /// Whether a stream that ends before the answer can be resumed with `Last-Event-ID`.
    pub(super) resumable: bool,
}

impl Exchange {
    pub(super) fn new(
        client: HttpClient,
        common: HeaderMap,
        tokens: Option<Arc<ServerTokens>>,
        scope: Scope,
        context: &Arc<ServerContext>,
    ) -> Self {
        let limits = Limits {
            deadline: None,
            connect: Duration::from_secs(5),
            // Notifications may precede the answer.
            max_body_bytes: 2 * MAX_MESSAGE_BYTES as u64,
            ..Limits::default()
        };
        Self {
            client,
            common,
            tokens,
            limits,
            scope,
            context: Arc::clone(context),
            unexpected_messages: AtomicU64::new(0),
        }
    }

    /// The headers of every request to this server.
    pub(super) fn common(&self) -> HeaderMap {
        self.common.clone()
    }

    pub(super) fn tokens(&self) -> Option<&Arc<ServerTokens>> {
        self.tokens.as_ref()
    }

    /// Counts a message that belongs to no request.
    pub(super) fn note_unexpected(&self) {
        self.unexpected_messages.fetch_add(1, Ordering::Relaxed);
    }

    /// Sends a request and waits for the answer to `id`. Dropping the future closes the stream.
    pub(super) async fn post(
        self: &Arc<Self>,
        endpoint: &Endpoint,
        id: u64,
        body: Body,
        client: Option<&Arc<dyn Client>>,
    ) -> Result<PostOutcome, TransportError> {
        let (response, secrets) = self.send(endpoint, Method::POST, body, &self.limits).await?;
        if !response.status.is_success() {
            return Ok(PostOutcome::Rejection(rejected(response, &secrets).await?));
        }
        let answer = match kind(&response.headers) {
            Kind::Json => self.read_json(id, response.body, &secrets).await?,
            Kind::Events => {
                let body = EventBody::new(response.body, &secrets);
                self.read_answer(endpoint, id, body, client).await?
            }
            Kind::Other => {
                let status = response.status.as_u16();
                return Err(TransportError::malformed(format!(
                    "HTTP {status} without JSON or events"
                )));
            }
        };
        Ok(PostOutcome::Answer { answer, headers: response.headers })
    }

    /// Sends a message that has no answer.
    pub(super) async fn notify(
        &self,
        endpoint: &Endpoint,
        method: Method,
        body: Bytes,
    ) -> Result<StatusCode, TransportError> {
        Ok(self.send(endpoint, method, body.into(), &self.limits).await?.0.status)
    }

    /// Posts a message whose answer, if any, arrives on another stream.
    pub(super) async fn post_message(
        &self,
        endpoint: &Endpoint,
        body: Body,
    ) -> Result<Result<(), Rejection>, TransportError> {
        let (response, secrets) = self.send(endpoint, Method::POST, body, &self.limits).await?;
        if response.status.is_success() {
            return Ok(Ok(()));
        }
        Ok(Err(rejected(response, &secrets).await?))
    }

    /// Opens a stream of unlimited length.
    pub(super) async fn open_stream(
        &self,
        endpoint: &Endpoint,
        method: Method,
        body: Body,
    ) -> Result<(StreamingResponse, Scrubber), TransportError> {
        let limits = Limits { max_body_bytes: u64::MAX, ..self.limits.clone() };
        let (response, secrets) = self.send(endpoint, method, body, &limits).await?;
        if !response.status.is_success() || !matches!(kind(&response.headers), Kind::Events) {
            let status = response.status.as_u16();
            return Err(TransportError::Status { status, retry_after: None });
        }
        Ok((response, secrets))
    }

    /// Follows a stream of unlimited length until it ends; calls `opened` once it is open. `position` says where the
    /// stream goes on, and is moved.
    pub(super) async fn follow(
        self: &Arc<Self>,
        endpoint: &Endpoint,
        method: Method,
        body: Body,
        listener: Listener<'_>,
        position: &mut Position,
        opened: impl FnOnce(),
    ) -> Result<(), TransportError> {
        let (response, secrets) = self.open_stream(endpoint, method, body).await?;
        opened();
        let body = EventBody::new(response.body, &secrets);
        let mut events = Events::after(std::mem::take(position));
        let ended = self.read_events(endpoint, body, listener, &mut events, |_, _| true).await;
        *position = events.position;
        ended.map(|_rest| ())
    }

    /// Sends a request. Returns the response and its scrubber, which includes the token of this request.
    async fn send(
        &self,
        endpoint: &Endpoint,
        method: Method,
        body: Body,
        limits: &Limits,
    ) -> Result<(StreamingResponse, Scrubber), TransportError> {
        let request = |bearer: Option<HeaderValue>, proof: Option<HeaderValue>| {
            let mut headers = endpoint.headers.clone();
            if let Some(personal) = endpoint.caller.as_ref().and_then(Caller::personal) {
                personal.add_headers(&mut headers);
            }
            if let Some(bearer) = bearer {
                headers.insert(AUTHORIZATION, bearer);
            }
            if let Some(proof) = proof {
                headers.insert("dpop", proof);
            }
            Request {
                method: method.clone(),
                url: endpoint.url.clone(),
                headers,
                body: body.clone(),
            }
        };
        let Some(tokens) = &self.tokens else {
            let response = self.client.stream(request(None, None), limits, &self.scope).await?;
            return Ok((response, self.context.scrubber_of(endpoint.caller.as_ref())));
        };
        let mut authorizer = Authorizer::new(tokens, endpoint.caller.as_ref());
        loop {
            let bearer = authorizer.bearer().await;
            let secrets = self.context.scrubber_with(endpoint.caller.as_ref(), bearer.as_ref());
            let proof = authorizer.proof(&method, &endpoint.url);
            let response = self.client.stream(request(bearer, proof), limits, &self.scope).await?;
            let Some(challenge) = authorizer.challenge(&endpoint.url, &response) else {
                return Ok((response, secrets));
            };
            drop(response);
            authorizer.answer(&endpoint.url, challenge).await?;
        }
    }
}

impl Endpoint {
    /// Adds the header that says where a stream goes on.
    pub(super) fn resume_after(&mut self, position: &Position) {
        let id = position.last_id.as_deref().map(HeaderValue::from_bytes);
        if let Some(Ok(id)) = id {
            self.headers.insert(headers::LAST_EVENT_ID, id);
        }
    }
}

enum Kind {
    Json,
    Events,
    Other,
}

fn kind(headers: &HeaderMap) -> Kind {
    let text = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = text.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        Kind::Json
    } else if essence.eq_ignore_ascii_case("text/event-stream") {
        Kind::Events
    } else {
        Kind::Other
    }
}

/// Reads the body of a rejection, for a limited time.
async fn rejected(
    response: StreamingResponse,
    secrets: &Scrubber,
) -> Result<Rejection, TransportError> {
    let StreamingResponse { status, headers, mut body, redirected, .. } = response;
    if redirected {
        return Err(TransportError::after_redirect(status));
    }
    let mut bytes = Vec::new();
    let reading = async {
        while let Some(chunk) = body.try_next().await? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_REJECTION_BYTES {
                break;
            }
        }
        Ok::<_, FetchError>(())
    };
    if let Ok(Err(error)) = tokio::time::timeout(REST_TIMEOUT, reading).await {
        let status = status.as_u16();
        return Err(TransportError::Untold(format!("HTTP {status}, then {error}").into()));
    }
    secrets.bytes(&mut bytes);
    let error = match Message::parse(&bytes) {
        Ok(Message::Answer { answer: Err(error), .. }) => Some(error),
        _ => None,
    };
    let about_session = String::from_utf8_lossy(&bytes).to_ascii_lowercase().contains("session");
    let retry_after = headers
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.trim().parse().ok())
        .map(|seconds: u64| Duration::from_secs(seconds.min(3_600)));
    Ok(Rejection { status, error, about_session, retry_after })
}

/// The body of a request, with the files that it contains.
pub(super) fn encode(request: &RpcRequest<'_>, id: u64, era: Era) -> Result<Body, TransportError> {
    let written = request.encode(id, era).map_err(|why| {
        TransportError::malformed(format!("the request cannot be written: {why}")).not_sent()
    })?;
    let Some(attached) = request.attached else { return Ok(written.into()) };
    let pieces = attached.pieces(written.into());
    let (length, attached) = (Piece::total(&pieces), Arc::clone(attached));
    let open = move || attached.read(pieces.clone()).map_err(SendFault::from).boxed();
    Ok(Body::Streamed { length, open: Arc::new(open) })
}
