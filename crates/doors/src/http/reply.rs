//! How an answer becomes an HTTP response; the only place that knows envelope and status together.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};
use proto::{Code, Envelope, Meta, TraceId};
use serde::Serialize;
use serde_json::Value;
use strip::{Answer, Failure};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A JSON body under a status.
pub(super) fn json(status: StatusCode, body: &impl Serialize) -> Response {
    // Our own types serialise: no map has keys that are not text.
    let bytes = serde_json::to_vec(body).unwrap_or_default();
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// The envelope of an answered call under its code's status.
pub(super) fn answer(answer: Answer) -> Response {
    let wait = answer.result.as_ref().err().and_then(retry_after);
    let envelope = answer.envelope();
    let mut response = json(status(&envelope), &envelope);
    if let Some(wait) = wait {
        response.headers_mut().insert(RETRY_AFTER, wait);
    }
    response
}

/// An envelope for a request that never became a call.
pub(super) fn refuse(status: StatusCode, failure: &Failure, trace: TraceId) -> Response {
    refuse_call(status, failure, ("", ""), trace)
}

/// An envelope for a call that was refused at the door, with the tool's id and version as far as they are known.
pub(super) fn refuse_call(
    status: StatusCode,
    failure: &Failure,
    (tool, version): (&str, &str),
    trace: TraceId,
) -> Response {
    let envelope = Envelope {
        ok: false,
        data: Arc::new(Value::Null),
        meta: Meta {
            tool: tool.into(),
            version: version.into(),
            duration_ms: 0,
            trace_id: trace,
            warnings: Vec::new(),
        },
        errors: vec![failure.item()],
    };
    let mut response = json(status, &envelope);
    set_retry_after(response.headers_mut(), failure);
    response
}

/// Says when a caller may try again, if the failure says so.
pub(super) fn set_retry_after(headers: &mut HeaderMap, failure: &Failure) {
    if let Some(wait) = retry_after(failure) {
        headers.insert(RETRY_AFTER, wait);
    }
}

/// A refusal under the status that its code usually has.
pub(super) fn refuse_as_usual(failure: &Failure, trace: TraceId) -> Response {
    refuse(usual_status(failure), failure, trace)
}

/// The status that a failure's code usually has.
pub(super) fn usual_status(failure: &Failure) -> StatusCode {
    StatusCode::from_u16(failure.code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn status(envelope: &Envelope) -> StatusCode {
    StatusCode::from_u16(envelope.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn retry_after(failure: &Failure) -> Option<HeaderValue> {
    let wait = match failure.code {
        Code::RateLimit => failure.retry_after.unwrap_or(Duration::from_secs(1)),
        _ => failure.retry_after?,
    };
    // Whole seconds, rounded up: a client that waits that long must get through.
    Some(HeaderValue::from(wait.as_millis().div_ceil(1000).clamp(1, 86_400) as u64))
}
