//! One POST and its answer, as a JSON body or within a stream of events.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use auth::client::ServerTokens;
use bytes::Bytes;
use egress::http::{
    Body, BodyStream, Client as HttpClient, Limits, Request, Scope, StreamingResponse,
};
use futures_util::{FutureExt as _, StreamExt as _};
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use proto::Scrubber;
use strip::Client;
use tokio::task::JoinSet;

use super::listener::Listener;
use super::tokens::Authorizer;
use crate::caller::Caller;
use crate::context::ServerContext;
use crate::error::{AskResult, TransportError};
use crate::message_buffer::{MAX_ANSWER_BYTES, MAX_MESSAGE_BYTES, MessageBuffer, TooLarge};
use crate::notifications::{self, Recipient};
use crate::questions;
use crate::rpc::{Answer, Message, RpcError};
use crate::sse::Events;

/// How much is read of the body of a rejection.
const MAX_REJECTION_BYTES: usize = 64 * 1024;

/// How long the rest of a body is read, so that its connection can be used again.
const REST_TIMEOUT: Duration = Duration::from_secs(1);

/// Sends requests to one server. It has its own connection pool, so that a slow server does not delay others.
pub(super) struct Exchange {
    client: HttpClient,
    common: HeaderMap,
    tokens: Option<Arc<ServerTokens>>,
    limits: Limits,
    /// The server's own origins: a redirect must not lead to hosts that only other servers and tools may reach.
    scope: Scope,
    context: Arc<ServerContext>,
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
            return Ok(PostOutcome::Rejection(rejected(response, &secrets).await));
        }
        let answer = match kind(&response.headers) {
            Kind::Json => self.read_json(id, response.body, &secrets).await?,
            Kind::Events => {
                let body = EventBody { stream: response.body, secrets: &secrets };
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

    /// Follows a stream of unlimited length until it ends; calls `opened` once it is open.
    pub(super) async fn follow(
        self: &Arc<Self>,
        endpoint: &Endpoint,
        method: Method,
        body: Body,
        listener: Listener<'_>,
        opened: impl FnOnce(),
    ) -> Result<(), TransportError> {
        let limits = Limits { max_body_bytes: u64::MAX, ..self.limits.clone() };
        let (response, secrets) = self.send(endpoint, method, body, &limits).await?;
        if !response.status.is_success() || !matches!(kind(&response.headers), Kind::Events) {
            let status = response.status.as_u16();
            return Err(TransportError::Status { status, retry_after: None });
        }
        opened();
        let body = EventBody { stream: response.body, secrets: &secrets };
        self.read_events(endpoint, body, listener, |_, _| true).await.map(|_rest| ())
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

    async fn read_json(&self, id: u64, mut body: BodyStream, secrets: &Scrubber) -> AskResult {
        let mut buffer = MessageBuffer::default();
        while let Some(chunk) = body.next().await {
            buffer.add(&chunk?);
            buffer.check().map_err(too_large)?;
        }
        buffer.take().open(secrets, |message| match message.map_err(TransportError::malformed)? {
            Message::Answer { id: Some(answered), answer } if answered == id => Ok(answer),
            // A request that the server could not parse is rejected without its id.
            Message::Answer { id: None, answer: Err(error) } => Ok(Err(error)),
            _ => {
                self.unexpected_messages.fetch_add(1, Ordering::Relaxed);
                Err(TransportError::malformed("the answer is to another request"))
            }
        })
    }

    /// Reads events until the answer to `id`.
    async fn read_answer(
        self: &Arc<Self>,
        endpoint: &Endpoint,
        id: u64,
        body: EventBody<'_>,
        client: Option<&Arc<dyn Client>>,
    ) -> AskResult {
        let mut found = None;
        let listener = client.map_or(Listener::None, |client| Listener::Request(id, client));
        let rest = self.read_events(endpoint, body, listener, |answered, answer| {
            if answered != Some(id) {
                self.unexpected_messages.fetch_add(1, Ordering::Relaxed);
                return true;
            }
            found = Some(answer);
            false
        });
        let rest = rest.await?;
        if let Some(mut rest) = rest {
            // A connection can be reused once its body is read to the end, which usually has arrived already.
            if !matches!(rest.next().now_or_never(), Some(None)) {
                tokio::spawn(tokio::time::timeout(REST_TIMEOUT, async move {
                    while let Some(Ok(_)) = rest.next().await {}
                }));
            }
        }
        found.ok_or_else(|| TransportError::lost("the stream ended before the answer"))
    }

    /// Reads events until `take` returns false, and returns the rest of the stream; none if it has ended.
    async fn read_events(
        self: &Arc<Self>,
        endpoint: &Endpoint,
        body: EventBody<'_>,
        listener: Listener<'_>,
        mut take: impl FnMut(Option<u64>, Answer) -> bool,
    ) -> Result<Option<BodyStream>, TransportError> {
        let EventBody { stream: mut body, secrets } = body;
        let mut events = Events::default();
        let mut fault = None;
        let mut over = false;
        // Open questions end with the request.
        let mut open: Option<JoinSet<()>> = None;
        while let Some(chunk) = body.next().await {
            let fed = events.feed(&chunk?, |mut data| {
                if data.json.is_empty() {
                    return true;
                }
                data.open(secrets, |message| match message {
                    Ok(Message::Answer { id, answer }) => over = !take(id, answer),
                    Ok(Message::Request { id, method, params }) => {
                        let client = listener.client(&Recipient::Unspecified);
                        let asks = client
                            .as_ref()
                            .is_some_and(|client| questions::can(&**client, &method));
                        let answer =
                            questions::answer(&self.context, id, &method, params, client.as_ref());
                        let (exchange, endpoint) = (Arc::clone(self), endpoint.clone());
                        let reply = async move {
                            // Errors are ignored: a server that does not accept the answer cannot be helped.
                            let _ = exchange.notify(&endpoint, Method::POST, answer.await).await;
                        };
                        if asks {
                            open.get_or_insert_default().spawn(reply);
                        } else {
                            tokio::spawn(reply);
                        }
                    }
                    Ok(Message::Notification { method, params }) => {
                        let find = |recipient| listener.client(&recipient);
                        let channel = listener.channel();
                        notifications::dispatch(&self.context, channel, &method, params, find);
                    }
                    Err(why) => fault = Some(TransportError::malformed(why)),
                });
                !over && fault.is_none()
            });
            fed.map_err(too_large)?;
            while open.as_mut().and_then(JoinSet::try_join_next).is_some() {}
            if over {
                return Ok(Some(body));
            }
            if let Some(fault) = fault {
                return Err(fault);
            }
        }
        Ok(None)
    }
}

fn too_large(_: TooLarge) -> TransportError {
    TransportError::TooLarge(MAX_ANSWER_BYTES as u64)
}

/// A stream of events, and the scrubber for it.
struct EventBody<'a> {
    stream: BodyStream,
    secrets: &'a Scrubber,
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
async fn rejected(response: StreamingResponse, secrets: &Scrubber) -> Rejection {
    let StreamingResponse { status, headers, mut body, .. } = response;
    let mut bytes = Vec::new();
    let reading = async {
        while let Some(Ok(chunk)) = body.next().await {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_REJECTION_BYTES {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(REST_TIMEOUT, reading).await;
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
    Rejection { status, error, about_session, retry_after }
}
