//! Large answers of a session as one JSON document. The library answers every request of a session with a stream, and
//! some clients close a stream with an event of more than 1 MiB.

use std::borrow::Cow;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _, stream};
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use http::response::Parts;
use proto::sse::{Events, PlainData};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::time::timeout;

/// Methods whose answers may be large. Those of `tools/call` are made to fit.
const METHODS: [&str; 5] =
    ["prompts/get", "prompts/list", "resources/list", "resources/read", "resources/templates/list"];

/// A smaller answer stays an event.
const LARGE: usize = 1_000_000;

/// How long the head of the response is held back for the first event.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// Whether a request may have a large answer.
pub(super) fn may_be_large(request: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        method: Cow<'a, str>,
    }
    serde_json::from_slice(request).is_ok_and(|Message { method }| METHODS.contains(&&*method))
}

/// Sends the events; if the first one is a large answer, this alone as JSON.
pub(super) async fn respond<S, E>(head: Parts, events: S) -> Response
where
    S: Stream<Item = Result<Bytes, E>> + Send + Unpin + 'static,
    E: Into<axum::BoxError> + Send + 'static,
{
    respond_within(MAX_WAIT, head, events).await
}

async fn respond_within<S, E>(wait: Duration, mut head: Parts, mut events: S) -> Response
where
    S: Stream<Item = Result<Bytes, E>> + Send + Unpin + 'static,
    E: Into<axum::BoxError> + Send + 'static,
{
    let mut read = BytesMut::new();
    let mut failed = None;
    let first = timeout(wait, read_first_message(&mut events, &mut read, &mut failed)).await;
    if let Ok(Some(message)) = first
        && message.len() > LARGE
        && is_answer(&message)
    {
        head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        return Response::from_parts(head, Body::from(message));
    }
    let read = Some(read.freeze()).filter(|read| !read.is_empty());
    let before = stream::iter(read.map(Ok).into_iter().chain(failed.map(Err)));
    Response::from_parts(head, Body::from_stream(before.chain(events)))
}

/// Reads until an event has data, and returns that; none if the stream ends before, or is none that the library writes.
async fn read_first_message<S, E>(
    events: &mut S,
    read: &mut BytesMut,
    failed: &mut Option<E>,
) -> Option<Bytes>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
{
    let mut parser = Events::<PlainData<{ usize::MAX }>>::default();
    while let Some(part) = events.next().await {
        let part = match part {
            Ok(part) => part,
            Err(error) => {
                *failed = Some(error);
                return None;
            }
        };
        read.extend_from_slice(&part);
        let mut message = None;
        let fed = parser.feed(&part, |_, data| {
            message = Some(data).filter(|data| !data.trim_ascii().is_empty());
            message.is_none()
        });
        if fed.is_err() || message.is_some() {
            return message.map(Bytes::from);
        }
    }
    None
}

fn is_answer(message: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Message {
        method: Option<IgnoredAny>,
    }
    serde_json::from_slice(message).is_ok_and(|Message { method }| method.is_none())
}

#[cfg(test)]
mod tests;
