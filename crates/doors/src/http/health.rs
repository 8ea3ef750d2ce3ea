//! Health, readiness and metrics.

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use proto::{Code, Failure, TraceId};
use serde_json::json;

use super::reply;
use super::state::Shared;

/// Answers as long as the process is alive.
pub(super) async fn alive() -> Response {
    reply::json(StatusCode::OK, &json!({"status": "ok"}))
}

/// Whether calls will be answered, and if not, why.
pub(super) async fn ready(State(shared): State<Shared>) -> Response {
    let health = shared.strip.health();
    let mut problems = health.problems;
    let draining = shared.options.shutdown.is_cancelled();
    if draining {
        problems.push("the gateway is shutting down".to_owned());
    }
    let sessions = shared.mcp.exhausted_sessions();
    if let Some(max) = sessions {
        problems.push(format!(
            "all {max} sessions of MCP clients before 2026-07-28 are open; a new one ends the least recently used one of \
             the caller with the most sessions"
        ));
    }
    let ready = health.ready && !draining;
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    // Callers without credentials do not see the problems.
    let mut body = json!({"ready": ready});
    if !shared.access.is_guarded() {
        body["problems"] = problems.into();
    }
    if sessions.is_some() {
        body["sessions"] = "exhausted".into();
    }
    reply::json(status, &body)
}

pub(super) async fn metrics(
    State(shared): State<Shared>,
    Extension(trace): Extension<TraceId>,
) -> Response {
    match &shared.options.metrics {
        Some(metrics) => {
            ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], metrics.render())
                .into_response()
        }
        None => {
            let failure = Failure::new(Code::Unsupported, "this process records no metrics");
            reply::refuse_as_usual(&failure, trace)
        }
    }
}
