//! JSON-RPC errors of the MCP routes.

use axum::response::Response;
use http::StatusCode;
use proto::Failure;
use serde_json::{Value, json};

use crate::http::reply;

const PARSE_ERROR: i32 = -32700;
pub(super) const INVALID_REQUEST: i32 = -32600;
pub(super) const INTERNAL_ERROR: i32 = -32603;
/// The code of the official SDKs for a session that does not exist.
pub(super) const SESSION_NOT_FOUND: i32 = -32001;

/// Explains why a body is not a JSON-RPC message.
pub(super) fn malformed(body: &[u8]) -> Response {
    match serde_json::from_slice::<Value>(body) {
        Err(fault) => error(
            StatusCode::BAD_REQUEST,
            PARSE_ERROR,
            &format!("the body is not JSON: {fault}"),
            None,
        ),
        Ok(Value::Array(_)) => error(
            StatusCode::BAD_REQUEST,
            INVALID_REQUEST,
            "batches are not supported; send each message in its own request",
            None,
        ),
        Ok(message) => error(
            StatusCode::BAD_REQUEST,
            INVALID_REQUEST,
            "the body is not a JSON-RPC 2.0 message of this protocol",
            message.get("id").filter(|id| id.is_string() || id.is_number()),
        ),
    }
}

/// A refusal with its code and the time to try again.
pub(in crate::http) fn refuse_with(status: StatusCode, failure: &Failure) -> Response {
    let body = json!({"jsonrpc": "2.0", "id": null, "error": {
        "code": INVALID_REQUEST, "message": failure.message, "data": failure.item()}});
    let mut response = reply::json(status, &body);
    reply::set_retry_after(response.headers_mut(), failure);
    response
}

pub(super) fn no_session() -> Response {
    error(StatusCode::NOT_FOUND, SESSION_NOT_FOUND, "there is no such session", None)
}

/// Refuses a request before it reaches a session or handler.
pub(in crate::http) fn refuse(status: StatusCode, message: &str) -> Response {
    error(status, INVALID_REQUEST, message, None)
}

pub(super) fn error(status: StatusCode, code: i32, message: &str, id: Option<&Value>) -> Response {
    let body = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}});
    reply::json(status, &body)
}
