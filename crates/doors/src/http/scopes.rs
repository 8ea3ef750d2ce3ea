//! Refusals with the statuses and challenges that MCP and RFC 6750 require.

use auth::scope::{FILES_READ, FILES_WRITE, TOOLS_CALL, TOOLS_READ};
use auth::{Access, Refusal};
use axum::response::Response;
use http::header::WWW_AUTHENTICATE;
use http::{HeaderValue, StatusCode};
use proto::{Code, Failure, Principal, TraceId};
use serde::Deserialize;
use serde_json::Value;

use super::{reply, resource};

/// The answer to a request that is not admitted, as an envelope.
pub(super) fn refuse(
    access: &Access,
    path: &str,
    refusal: &Refusal,
    scope: Option<&str>,
    trace: TraceId,
) -> Response {
    tracing::warn!(%trace, %refusal, "request refused");
    let (status, code) = match refusal {
        Refusal::NoToken | Refusal::BadToken(_) => (StatusCode::UNAUTHORIZED, Code::Denied),
        Refusal::TooManyWrong(_) => (StatusCode::TOO_MANY_REQUESTS, Code::RateLimit),
        Refusal::Unreachable(_) => (StatusCode::SERVICE_UNAVAILABLE, Code::Unavailable),
        _ => (StatusCode::FORBIDDEN, Code::Denied),
    };
    let mut failure = Failure::new(code, refusal.to_string());
    if let Refusal::TooManyWrong(wait) = refusal {
        failure = failure.retry_after(*wait);
    }
    challenged(reply::refuse(status, &failure, trace), access, path, refusal, scope)
}

/// A response with the challenge that belongs to a refusal.
pub(super) fn challenged(
    mut response: Response,
    access: &Access,
    path: &str,
    refusal: &Refusal,
    scope: Option<&str>,
) -> Response {
    let challenge = access.challenge(resource::door_of(path), needed(scope), refusal);
    // The config has checked that scopes and URLs fit into a header.
    if let Some(value) = challenge.and_then(|text| HeaderValue::from_str(&text).ok()) {
        response.headers_mut().insert(WWW_AUTHENTICATE, value);
    }
    response
}

/// The scopes that a client should request together: a client that calls tools also lists them.
fn needed(scope: Option<&str>) -> &[&str] {
    match scope {
        Some(TOOLS_READ | TOOLS_CALL) => &[TOOLS_READ, TOOLS_CALL],
        Some(auth::scope::METRICS_READ) => &[auth::scope::METRICS_READ],
        Some(FILES_READ | FILES_WRITE) => &[FILES_READ, FILES_WRITE],
        Some(auth::scope::APPROVALS_READ) => &[auth::scope::APPROVALS_READ],
        Some(auth::scope::APPROVALS_DECIDE) => &[auth::scope::APPROVALS_DECIDE],
        Some(auth::scope::RUNS_READ) => &[auth::scope::RUNS_READ],
        Some(auth::scope::RUNS_ANSWER) => &[auth::scope::RUNS_ANSWER],
        Some(auth::scope::AUDIT_READ) => &[auth::scope::AUDIT_READ],
        _ => &[],
    }
}

/// Methods that need the scope to call, because they make a server work.
const CALLS: [&str; 3] = ["tools/call", "tasks/update", "tasks/cancel"];

/// What an MCP message calls without the scope for it: the tool of a `tools/call`, else the method. Messages of callers with the scope are
/// not parsed.
pub(super) fn called_without_scope(principal: &Principal, message: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Message {
        method: String,
        #[serde(default)]
        params: Value,
    }
    if auth::scope::covers(principal, TOOLS_CALL) {
        return None;
    }
    let Message { method, params } = serde_json::from_slice(message).ok()?;
    let tool = params["name"].as_str().filter(|_| method == "tools/call").map(str::to_owned);
    CALLS.contains(&&*method).then(|| tool.unwrap_or(method))
}
