//! Server-sent events of routes that are not MCP.

use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

use super::admission::Admitted;
use super::state::Shared;

/// How often a stream without events sends a comment to show that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The event of a reader that fell behind.
pub(super) const MISSED: &str = "event: missed\ndata: {}\n\n";

/// Sends events until they end, the gateway stops or the caller's credential is no longer valid.
pub(super) fn respond(
    shared: Shared,
    admitted: Admitted,
    events: impl Stream<Item = String> + Send + 'static,
) -> Response {
    let events = stream::unfold(Box::pin(events), |mut events| async move {
        let next = pin!(events.next());
        let text = match tokio::time::timeout(HEARTBEAT, next).await {
            Err(_silence) => ": still here\n\n".to_owned(),
            Ok(event) => event?,
        };
        Some((Ok::<_, Infallible>(Bytes::from(text)), events))
    });
    // Sent at once: from then on the client receives every event.
    let opened = stream::iter([Ok(Bytes::from_static(b": here\n\n"))]);
    let stopping = shared.options.shutdown.clone().cancelled_owned();
    let events =
        opened.chain(events).take_until(stopping).take_until(admitted.until_invalid(shared));
    let mut response = Response::new(Body::from_stream(events));
    for (name, value) in [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
