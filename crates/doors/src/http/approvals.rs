//! `/v1/approvals/events`: changes of approvals as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use auth::scope::APPROVALS_READ;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use proto::{Code, Principal, TraceId};
use serde_json::json;
use strip::Failure;
use strip::approval::{ApprovalRow, ApprovalView, Event, reach};
use tokio::sync::broadcast::error::RecvError;

use super::admission::Admitted;
use super::reply;
use super::state::Shared;

/// Longer arguments are left out of events; the route of the approval has them.
const MAX_ARGUMENTS: usize = 2_000;

/// How often a stream without events sends a comment to show that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Streams events; a reader that falls behind gets `missed`.
pub(super) async fn events(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    request: Request,
) -> Response {
    let Some(approvals) = shared.strip.approvals() else {
        let failure =
            Failure::new(Code::Unsupported, "approvals are not available in this process");
        return reply::refuse_as_usual(&failure, trace);
    };
    let tenant = reach(&principal).map(str::to_owned);
    let events = stream::unfold(approvals.events(), move |mut events| {
        let tenant = tenant.clone();
        async move {
            let text = loop {
                match tokio::time::timeout(HEARTBEAT, events.recv()).await {
                    Err(_silence) => break ": still here\n\n".to_owned(),
                    Ok(Err(RecvError::Closed)) => return None,
                    Ok(Err(RecvError::Lagged(_))) => {
                        break "event: missed\ndata: {}\n\n".to_owned();
                    }
                    Ok(Ok(event)) if tenant.as_ref().is_none_or(|t| *t == event.row.tenant) => {
                        break render(&event);
                    }
                    Ok(Ok(_)) => {}
                }
            };
            Some((Ok::<_, Infallible>(Bytes::from(text)), events))
        }
    });
    // Sent at once: from then on the client receives every event.
    let opened = stream::iter([Ok(Bytes::from_static(b": here\n\n"))]);
    let stopping = shared.options.shutdown.clone().cancelled_owned();
    let admitted = Admitted::new(APPROVALS_READ, &request.into_parts().0, principal);
    let events =
        opened.chain(events).take_until(stopping).take_until(admitted.until_invalid(shared));
    let mut response = Response::new(Body::from_stream(events));
    for (name, value) in [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn render(event: &Event) -> String {
    let mut row = ApprovalRow::clone(&event.row);
    row.arguments = row.arguments.filter(|text| text.len() <= MAX_ARGUMENTS);
    let (kind, view) = (event.kind.as_str(), ApprovalView::from(row));
    format!("event: {kind}\nid: {}\ndata: {}\n\n", view.id, json!(view))
}
