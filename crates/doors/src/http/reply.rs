//! Renders answers as HTTP responses; the only code that maps envelopes to statuses.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};
use proto::{Code, Envelope, Failure, Meta, TraceId};
use serde::Serialize;
use serde_json::Value;
use strip::Answer;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A JSON body under a status.
pub(super) fn json(status: StatusCode, body: &impl Serialize) -> Response {
    // cannot fail: the keys of all maps in our types are texts.
    let bytes = serde_json::to_vec(body).unwrap_or_default();
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// The envelope of an answer, with the status of its code.
pub(super) fn answer(answer: Answer) -> Response {
    let wait = answer.result.as_ref().err().and_then(retry_after);
    let envelope = answer.envelope();
    let mut response = json(status(&envelope), &envelope);
    if let Some(wait) = wait {
        response.headers_mut().insert(RETRY_AFTER, wait);
    }
    response
}

/// An envelope around data that no tool has made.
pub(super) fn enveloped(
    status: StatusCode,
    data: Value,
    began: Instant,
    trace: TraceId,
) -> Response {
    let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let envelope = Envelope {
        ok: true,
        data: Arc::new(data),
        meta: Meta {
            tool: "".into(),
            version: "".into(),
            duration_ms,
            trace_id: trace,
            warnings: Vec::new(),
        },
        errors: Vec::new(),
    };
    json(status, &envelope)
}

/// An envelope for a request that did not become a call.
pub(super) fn refuse(status: StatusCode, failure: &Failure, trace: TraceId) -> Response {
    refuse_call(status, failure, "", "", trace)
}

/// An envelope for a call that the door refused, with the id and version of the tool if they are known.
pub(super) fn refuse_call(
    status: StatusCode,
    failure: &Failure,
    tool: &str,
    version: &str,
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

/// Sets `Retry-After`, if the failure has a time.
pub(super) fn set_retry_after(headers: &mut HeaderMap, failure: &Failure) {
    if let Some(wait) = retry_after(failure) {
        headers.insert(RETRY_AFTER, wait);
    }
}

/// A refusal with the usual status of its code.
pub(super) fn refuse_as_usual(failure: &Failure, trace: TraceId) -> Response {
    refuse(usual_status(failure), failure, trace)
}

/// The usual status of a failure's code.
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
    // Rounded up to whole seconds, so that a client which waits that long succeeds.
    Some(HeaderValue::from(wait.as_millis().div_ceil(1000).clamp(1, 86_400) as u64))
}
