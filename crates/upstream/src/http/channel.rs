//! The HTTP+SSE transport of 2024-11-05: a session is one stream of events, on which all answers arrive, and a URL that
//! messages are posted to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use egress::http::{Body, StreamingResponse, Target};
use futures_util::StreamExt as _;
use http::{HeaderMap, Method};
use proto::Scrubber;
use proto::sse::EventKind;
use strip::Client;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::exchange::{Endpoint, Exchange, PostOutcome, encode};
use super::listener::{ChannelOwner, Listener};
use super::reading::{EventBody, too_large};
use crate::era::Era;
use crate::error::TransportError;
use crate::message_buffer::Events;
use crate::pending::Pending;
use crate::rpc::{Params, RpcRequest};

/// How long a server may take to open the stream and to name the URL for messages.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest URL for messages.
const MAX_URL_BYTES: usize = 4_096;

/// How long a request may go without an answer before a `ping` tests the stream, and how long the ping may take: a
/// stream can be dead without having ended.
const SILENCE: Duration = Duration::from_secs(5);

/// The ids of pings, apart from those of requests.
const FIRST_PING: u64 = 1 << 52;

/// An open stream.
pub(super) struct SseChannel {
    /// Where messages are posted to.
    endpoint: Endpoint,
    pending: Arc<Pending>,
    next_ping: AtomicU64,
    /// Whether the stream has ended.
    ended: watch::Receiver<bool>,
    /// The task that reads the stream; it ends with the session.
    _reading: AbortOnDropHandle<()>,
}

impl SseChannel {
    /// Opens the stream at an endpoint and waits until the server has named the URL for messages.
    pub(super) async fn open(
        exchange: &Arc<Exchange>,
        endpoint: Endpoint,
    ) -> Result<Self, TransportError> {
        let opening = timeout(OPEN_TIMEOUT, OpenStream::open(exchange, &endpoint));
        let opened = opening.await.unwrap_or(Err(TransportError::TimedOut(OPEN_TIMEOUT)))?;
        let OpenStream { response, secrets, mut events, received, url } = opened;
        let owner =
            if endpoint.caller.is_some() { ChannelOwner::Caller } else { ChannelOwner::Gateway };
        let endpoint = Endpoint { url, ..endpoint };
        let pending = Arc::new(Pending::default());
        let (end, ended) = watch::channel(false);
        let reading = tokio::spawn({
            let (exchange, endpoint) = (Arc::clone(exchange), endpoint.clone());
            let pending = Arc::clone(&pending);
            async move {
                let body = EventBody {
                    received: Some(received),
                    stream: response.body,
                    secrets: &secrets,
                };
                let listener = Listener::Channel(&pending, owner);
                let take = |id: Option<u64>, answer| {
                    if !id.is_some_and(|id| pending.settle(id, Ok(answer))) {
                        exchange.note_unexpected();
                    }
                    true
                };
                let read = exchange.read_events(&endpoint, body, listener, &mut events, take);
                let why = match read.await {
                    Ok(_rest) => TransportError::lost("the server ended the stream of events"),
                    Err(error) => error,
                };
                pending.end(&why);
                end.send_replace(true);
            }
        });
        Ok(Self {
            endpoint,
            pending,
            next_ping: AtomicU64::new(FIRST_PING),
            ended,
            _reading: AbortOnDropHandle::new(reading),
        })
    }

    /// Where messages are posted to.
    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub(super) fn is_open(&self) -> bool {
        self.pending.over().is_none()
    }

    /// Waits until the stream has ended.
    pub(super) async fn wait_until_ended(&self) {
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
    }

    /// Posts a request and waits for its answer on the stream.
    pub(super) async fn ask(
        &self,
        exchange: &Arc<Exchange>,
        id: u64,
        body: Body,
        client: Option<&Arc<dyn Client>>,
    ) -> Result<PostOutcome, TransportError> {
        // Nothing was sent, so that the request can be sent in a new session.
        let answer = self.pending.register(id, client).map_err(|_| TransportError::Expired)?;
        let mut waiting =
            Waiting { channel: self, exchange, id, since: Instant::now(), ended: false };
        if let Err(rejected) = exchange.post_message(&self.endpoint, body).await? {
            waiting.ended = true;
            return Ok(PostOutcome::Rejection(rejected));
        }
        let lost = || TransportError::lost("the session was closed");
        let answer = answer.await;
        waiting.ended = true;
        let answer = answer.unwrap_or_else(|_| Err(lost()))?;
        Ok(PostOutcome::Answer { answer, headers: HeaderMap::new() })
    }
}

/// A stream that has been read up to the URL for messages.
struct OpenStream {
    response: StreamingResponse,
    secrets: Scrubber,
    events: Events,
    /// What arrived after the URL.
    received: Bytes,
    url: String,
}

impl OpenStream {
    async fn open(exchange: &Exchange, endpoint: &Endpoint) -> Result<Self, TransportError> {
        let opened = exchange.open_stream(endpoint, Method::GET, Body::none()).await?;
        let (mut response, secrets) = opened;
        let mut events = Events::default();
        let (url, received) = first_event(&mut response, &mut events).await?;
        let url = message_url(&response.target, &url)?;
        Ok(Self { response, secrets, events, received, url })
    }
}

/// A request that waits for its answer. If it is given up after a while, the stream is tested.
struct Waiting<'a> {
    channel: &'a SseChannel,
    exchange: &'a Arc<Exchange>,
    id: u64,
    since: Instant,
    ended: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.channel.pending.remove(self.id);
        if self.ended || self.since.elapsed() < SILENCE {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (exchange, endpoint) = (Arc::clone(self.exchange), self.channel.endpoint.clone());
        let pending = Arc::clone(&self.channel.pending);
        let id = self.channel.next_ping.fetch_add(1, Ordering::Relaxed);
        runtime.spawn(async move {
            if timeout(SILENCE, ping(&exchange, &endpoint, &pending, id)).await.is_err() {
                pending.end(&TransportError::lost("no answers arrive on the stream of events"));
            }
        });
    }
}

/// Waits until the server has answered a ping, or refused it.
async fn ping(exchange: &Exchange, endpoint: &Endpoint, pending: &Pending, id: u64) {
    let Ok(answer) = pending.register(id, None) else { return };
    let request = RpcRequest::plain("ping", Params::None);
    let Ok(body) = encode(&request, id, Era::Legacy) else { return };
    if let Ok(Ok(())) = exchange.post_message(endpoint, body).await {
        let _ = answer.await;
    }
}

/// Reads the first event, which must name the URL for messages, and returns the bytes after it.
async fn first_event(
    response: &mut StreamingResponse,
    events: &mut Events,
) -> Result<(String, Bytes), TransportError> {
    let mut first = None;
    while let Some(chunk) = response.body.next().await {
        let fed = events.feed(&chunk?, |kind, data| {
            first = Some((kind, data.json));
            false
        });
        let rest = fed.map_err(too_large)?;
        match first.take() {
            None => {}
            Some((EventKind::Endpoint, url)) if url.len() <= MAX_URL_BYTES => {
                let url = String::from_utf8(url).map_err(|_| {
                    TransportError::malformed("the URL for messages is not valid text")
                })?;
                return Ok((url, rest));
            }
            Some(_) => {
                let why = "the first event of the stream does not name a URL for messages";
                return Err(TransportError::malformed(why));
            }
        }
    }
    Err(TransportError::lost("the stream ended before it named a URL for messages"))
}

/// The URL for messages, which must have the origin of the stream: credentials are sent there.
fn message_url(stream: &Target, written: &str) -> Result<String, TransportError> {
    let joined = stream.url().join(written.trim()).ok();
    let target = joined.and_then(|url| Target::parse(url.as_str()).ok());
    match target.filter(|target| target.same_origin(stream)) {
        Some(target) => Ok(target.url().to_string()),
        None => Err(TransportError::malformed(
            "the URL for messages that the server names has another origin than the server",
        )),
    }
}

#[cfg(test)]
mod tests;
