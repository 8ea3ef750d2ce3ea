//! The routes of workflows that do not answer JSON: events (`/v1/workflows/{id}/events`) and drawing (`graph.svg`).

use std::sync::Arc;

use auth::scope::RUNS_READ;
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use futures_util::StreamExt as _;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderValue};
use operations::workflows::{WorkflowConsole, WorkflowEvent};
use operations::{Caller, OperationError};
use proto::{Code, Failure, Principal, TraceId};
use serde_json::{Map, Value};

use super::admission::Admitted;
use super::state::Shared;
use super::{reply, sse};

/// Streams the journal of a workflow, from the start or after the event that `Last-Event-ID` names.
pub(super) async fn events(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let caller = Caller::remote(Arc::clone(&principal), trace);
    let head = request.into_parts().0;
    let opened = async {
        let after = last_event(&head.headers)?;
        console(&shared)?.events(&caller, &id, after).await
    };
    let events = match opened.await {
        Ok(events) => events,
        Err(error) => return reply::refuse_as_usual(&Failure::from(error), trace),
    };
    let admitted = Admitted::new(RUNS_READ, &head, principal);
    let events = events.map(|event| event.map_or_else(render_error, |event| render(&event)));
    sse::respond(shared, admitted, events)
}

/// The DAG with its states as an SVG document.
pub(super) async fn graph(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    Path(id): Path<String>,
) -> Response {
    let caller = Caller::remote(principal, trace);
    let drawn = async { console(&shared)?.draw(&caller, &id).await };
    let mut response = match drawn.await {
        Ok(svg) => Response::new(svg.into()),
        Err(error) => return reply::refuse_as_usual(&Failure::from(error), trace),
    };
    for (name, value) in [
        (CONTENT_TYPE, "image/svg+xml"),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'; sandbox"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn console(shared: &Shared) -> Result<&Arc<dyn WorkflowConsole>, OperationError> {
    let unavailable =
        || OperationError::new(Code::Unsupported, "workflows are not available in this process");
    shared.options.workflows.as_ref().ok_or_else(unavailable)
}

/// The number of the last event that the client has seen.
fn last_event(headers: &HeaderMap) -> Result<i64, OperationError> {
    let Some(value) = headers.get("last-event-id") else { return Ok(0) };
    let number = value.to_str().ok().and_then(|text| text.trim().parse().ok());
    number.filter(|number| *number >= 0).ok_or_else(|| {
        OperationError::invalid("`Last-Event-ID` is the number of an event: `0` or more")
    })
}

/// The data of an event is one object, with the time and what happened.
fn render(event: &WorkflowEvent) -> String {
    let mut data = match event.data.clone() {
        Value::Object(fields) => fields,
        other => Map::from_iter([("data".to_owned(), other)]),
    };
    data.insert("at".to_owned(), proto::time::rfc3339(event.at_unix_ms).into());
    format!("event: {}\nid: {}\ndata: {}\n\n", event.kind, event.number, Value::from(data))
}

/// The event of a journal that cannot be read any further. Nothing follows it, and a client that reconnects is refused.
fn render_error(error: OperationError) -> String {
    format!("event: error\ndata: {}\n\n", serde_json::json!(Failure::from(error).item()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_an_event_without_a_number() {
        let error = render_error(OperationError::new(Code::Unavailable, "try again\nlater"));
        let (kind, data) = error.trim_end().split_once('\n').unwrap();
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!((kind, &data["code"]), ("event: error", &Value::from("UNAVAILABLE")));
        assert_eq!(data["retryable"], true);
    }

    #[test]
    fn the_last_event_is_a_number() {
        let of = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("last-event-id", HeaderValue::from_static(text));
            last_event(&headers).ok()
        };
        assert_eq!(last_event(&HeaderMap::new()).ok(), Some(0));
        assert_eq!(of("12"), Some(12));
        assert_eq!([of("-1"), of("x"), of("")], [None, None, None]);
    }
}
