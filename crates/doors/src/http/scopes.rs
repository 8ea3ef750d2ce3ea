//! How callers are told that they may not: statuses and challenges as MCP and RFC 6750 ask for them.

use auth::scope::{FILES_READ, FILES_WRITE, TOOLS_CALL, TOOLS_READ};
use auth::{Access, Refusal};
use axum::response::Response;
use http::header::WWW_AUTHENTICATE;
use http::{HeaderValue, StatusCode};
use proto::{Code, Principal, TraceId};
use serde::Deserialize;
use strip::Failure;

use super::{reply, resource};

/// The answer to a request that is not let in, under an envelope.
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
        Refusal::Unreachable(_) => (StatusCode::SERVICE_UNAVAILABLE, Code::Unavailable),
        _ => (StatusCode::FORBIDDEN, Code::Denied),
    };
    let failure = Failure::new(code, refusal.to_string());
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
    // Scopes and URLs of the config were checked to be fit for a header.
    if let Some(value) = challenge.and_then(|text| HeaderValue::from_str(&text).ok()) {
        response.headers_mut().insert(WWW_AUTHENTICATE, value);
    }
    response
}

/// All that a client should ask for at once: one that may call wants to list, too.
fn needed(scope: Option<&str>) -> &[&str] {
    match scope {
        Some(TOOLS_READ | TOOLS_CALL) => &[TOOLS_READ, TOOLS_CALL],
        Some(auth::scope::METRICS_READ) => &[auth::scope::METRICS_READ],
        Some(FILES_READ | FILES_WRITE) => &[FILES_READ, FILES_WRITE],
        Some(auth::scope::APPROVALS_READ) => &[auth::scope::APPROVALS_READ],
        Some(auth::scope::APPROVALS_DECIDE) => &[auth::scope::APPROVALS_DECIDE],
        Some(auth::scope::RUNS_READ) => &[auth::scope::RUNS_READ],
        Some(auth::scope::RUNS_ANSWER) => &[auth::scope::RUNS_ANSWER],
        _ => &[],
    }
}

/// What needs more than to be allowed to look, whatever it is about.
const CALLS: [&str; 3] = ["tools/call", "tasks/update", "tasks/cancel"];

/// Whether a message of MCP calls a tool although its sender may not. Messages of those who may are not read twice.
pub(super) fn calls_without_leave(principal: &Principal, message: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Message {
        method: Option<String>,
    }
    !auth::scope::covers(principal, TOOLS_CALL)
        && serde_json::from_slice::<Message>(message)
            .is_ok_and(|message| message.method.is_some_and(|method| CALLS.contains(&&*method)))
}
