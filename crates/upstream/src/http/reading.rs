//! Reads the answer to a request, from a body or from a stream of events that may be resumed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use egress::http::{Body, BodyStream};
use futures_util::{FutureExt as _, StreamExt as _};
use http::Method;
use proto::Scrubber;
use proto::sse::{EventData as _, EventKind, Position, TooLarge};
use strip::Client;
use tokio::task::JoinSet;

use super::exchange::{Endpoint, Exchange, REST_TIMEOUT};
use super::listener::Listener;
use crate::error::{AskResult, TransportError};
use crate::message_buffer::{Events, MAX_ANSWER_BYTES, MessageBuffer};
use crate::notifications::{self, Recipient};
use crate::questions;
use crate::rpc::{self, Answer, Message};

/// The pause before a stream is resumed where the server names none, and the shortest pause.
const RESUME_PAUSE: Duration = Duration::from_secs(1);
const MIN_RESUME_PAUSE: Duration = Duration::from_millis(10);

/// Failures in a row after which a stream is not resumed any more.
const MAX_RESUME_FAILURES: u32 = 3;

/// A stream of events, and the scrubber for it.
pub(super) struct EventBody<'a> {
    /// What was read of the stream already.
    pub(super) received: Option<Bytes>,
    pub(super) stream: BodyStream,
    pub(super) secrets: &'a Scrubber,
}

impl<'a> EventBody<'a> {
    pub(super) fn new(stream: BodyStream, secrets: &'a Scrubber) -> Self {
        Self { received: None, stream, secrets }
    }
}

impl Exchange {
    pub(super) async fn read_json(
        &self,
        id: u64,
        mut body: BodyStream,
        secrets: &Scrubber,
    ) -> AskResult {
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

    /// Reads events until the answer to `id`. A stream that ends before is resumed where that is possible.
    pub(super) async fn read_answer(
        self: &Arc<Self>,
        endpoint: &Endpoint,
        id: u64,
        body: EventBody<'_>,
        client: Option<&Arc<dyn Client>>,
    ) -> AskResult {
        let mut events = Events::default();
        let read = self.read_one_answer(endpoint, id, body, client, &mut events).await;
        match read {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) | Err(TransportError::Lost(_))
                if endpoint.resumable && events.position.last_id.is_some() =>
            {
                // Boxed to keep the common future small.
                let resumed = Box::pin(self.resume(endpoint, id, client, events.position)).await;
                resumed.map_err(TransportError::after_sending)
            }
            Ok(None) => Err(TransportError::lost("the stream ended before the answer")),
            Err(error) => Err(error),
        }
    }

    /// Opens the stream of a request again until the answer arrives.
    async fn resume(
        self: &Arc<Self>,
        endpoint: &Endpoint,
        id: u64,
        client: Option<&Arc<dyn Client>>,
        mut position: Position,
    ) -> AskResult {
        let mut failures = 0;
        loop {
            let pause = position.retry.unwrap_or(RESUME_PAUSE).max(MIN_RESUME_PAUSE);
            tokio::time::sleep(pause).await;
            let mut resumed = endpoint.clone();
            resumed.resume_after(&position);
            let opened = self.open_stream(&resumed, Method::GET, Body::none()).await;
            let mut events = Events::after(std::mem::take(&mut position));
            let read = match opened {
                Ok((response, secrets)) => {
                    let body = EventBody::new(response.body, &secrets);
                    self.read_one_answer(endpoint, id, body, client, &mut events).await
                }
                Err(TransportError::Status { status, .. }) => {
                    let why = format!("the stream cannot be resumed: HTTP {status}");
                    return Err(TransportError::lost(why));
                }
                Err(error) => Err(error),
            };
            position = events.position;
            match read {
                Ok(Some(answer)) => return Ok(answer),
                // The server ends the stream on purpose and is asked again later.
                Ok(None) => failures = 0,
                Err(error) if error.is_unhealthy() && failures < MAX_RESUME_FAILURES => {
                    failures += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads events until the answer to `id`; none if the stream ends before.
    async fn read_one_answer(
        self: &Arc<Self>,
        endpoint: &Endpoint,
        id: u64,
        body: EventBody<'_>,
        client: Option<&Arc<dyn Client>>,
        events: &mut Events,
    ) -> Result<Option<Answer>, TransportError> {
        let mut found = None;
        let listener = client.map_or(Listener::None, |client| Listener::Request(id, client));
        let rest = self.read_events(endpoint, body, listener, events, |answered, answer| {
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
        Ok(found)
    }

    /// Reads events until `take` returns false, and returns the rest of the stream; none if it has ended.
    pub(super) async fn read_events(
        self: &Arc<Self>,
        endpoint: &Endpoint,
        body: EventBody<'_>,
        listener: Listener<'_>,
        events: &mut Events,
        mut take: impl FnMut(Option<u64>, Answer) -> bool,
    ) -> Result<Option<BodyStream>, TransportError> {
        let EventBody { mut received, stream: mut body, secrets } = body;
        let mut fault = None;
        let mut over = false;
        // Open questions end with the request.
        let mut open: Option<JoinSet<()>> = None;
        loop {
            let chunk = match received.take() {
                Some(received) => received,
                None => match body.next().await {
                    Some(chunk) => chunk?,
                    None => return Ok(None),
                },
            };
            let fed = events.feed(&chunk, |kind, mut data| {
                if kind != EventKind::Message || data.json.is_empty() {
                    return true;
                }
                let unreadable = data.open(secrets, |message| match message {
                    Ok(Message::Answer { id, answer }) => {
                        over = !take(id, answer);
                        None
                    }
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
                        None
                    }
                    Ok(Message::Notification { method, params }) => {
                        let find = |recipient| listener.clients(&recipient);
                        let channel = listener.channel(endpoint.caller.as_ref());
                        notifications::dispatch(&self.context, channel, &method, params, find);
                        None
                    }
                    Err(why) => Some(why),
                });
                if let Some(why) = unreadable {
                    if rpc::is_stray(&data.json) {
                        self.unexpected_messages.fetch_add(1, Ordering::Relaxed);
                    } else {
                        fault = Some(TransportError::malformed(why));
                    }
                }
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
    }
}

pub(super) fn too_large(_: TooLarge) -> TransportError {
    TransportError::TooLarge(MAX_ANSWER_BYTES as u64)
}
