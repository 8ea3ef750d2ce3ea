//! Answers a plain `tools/call` or `tools/list` without the protocol library, which takes several times as long.
//!
//! Every request that may need more (an unexpected header, progress, a caller that a server can ask questions) is left to
//! the library, and so are all refusals.

mod message;
mod session;

use std::sync::Arc;

use axum::response::Response;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use proto::Principal;
use runs::RunOf;
use serde_json::value::RawValue;

use super::door::{McpDoor, SESSION_ID};
use crate::http::reply;
use crate::mcp::{self, ContentKinds, McpState};
use message::{Answer, CALL, CallParams, ListParams, Message, only, write_answer};

const VERSION: &str = "2026-07-28";
const LIST: &str = "tools/list";

/// Answers the request, if it is a plain one.
pub(super) async fn answer(
    door: &McpDoor,
    parts: &Parts,
    body: &[u8],
    principal: &Arc<Principal>,
) -> Option<Response> {
    if !is_plain(&parts.headers) {
        return None;
    }
    if parts.headers.contains_key(SESSION_ID) {
        return session::answer(door, parts, body, principal).await;
    }
    if only(&parts.headers, "mcp-protocol-version") != Some(VERSION) {
        return None;
    }
    match only(&parts.headers, "mcp-method")? {
        CALL => call(&door.state, parts, body, principal).await,
        LIST => list(&door.state, parts, body, principal),
        _ => None,
    }
}

fn list(
    state: &McpState,
    parts: &Parts,
    body: &[u8],
    principal: &Arc<Principal>,
) -> Option<Response> {
    let message: Message<'_, ListParams<'_>> = serde_json::from_slice(body).ok()?;
    if !message.is_plain(LIST) || message.params.meta.version != Some(VERSION) {
        return None;
    }
    let client = message.params.meta.client(parts, principal)?;
    let result: Option<Arc<RawValue>> = Some(state.page(&client, message.params.cursor)?);
    let answer = Answer { jsonrpc: "2.0", id: message.id, result, error: None };
    Some(reply::json(StatusCode::OK, &answer))
}

async fn call(
    state: &McpState,
    parts: &Parts,
    body: &[u8],
    principal: &Arc<Principal>,
) -> Option<Response> {
    // Missing scope: the library's path renders the error.
    if !auth::scope::covers(principal, auth::scope::TOOLS_CALL) {
        return None;
    }
    let message: Message<'_, CallParams<'_>> = serde_json::from_slice(body).ok()?;
    let plain = message.is_plain(CALL) && message.params.meta.version == Some(VERSION);
    let params = message.params;
    let name = params.name;
    let client = params.meta.client(parts, principal)?;
    if !plain
        || only(&parts.headers, "mcp-name") != Some(name)
        || (!client.capabilities.is_empty() && state.may_ask(&client, name))
        || state.takes_headers(&client, name)
    {
        return None;
    }
    // If the client disconnects, this future is dropped, which the audit row of the call records.
    let mut request = params.into_request(parts, principal, RunOf::Current).ok()?;
    request.cancel = state.strip().call_token(request.trace);
    request.modern = true;
    let kinds = ContentKinds::of(Some(VERSION));
    Some(write_answer(message.id, mcp::call(state, request, kinds).await))
}

/// Whether the headers of a request ask for nothing that only the library does.
fn is_plain(headers: &HeaderMap) -> bool {
    let accepts = |kind| only(headers, ACCEPT).is_some_and(|accepted| accepted.contains(kind));
    only(headers, CONTENT_TYPE).is_some_and(|kind| kind.starts_with("application/json"))
        && accepts("application/json")
        && accepts("text/event-stream")
        && !headers.keys().any(|name| name.as_str().starts_with("mcp-param-"))
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn only_plain_headers_are_answered_directly() {
        let headers = || -> HeaderMap {
            let usual = [
                ("content-type", "application/json; charset=utf-8"),
                ("accept", "application/json, text/event-stream"),
            ];
            let pair =
                |(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value));
            usual.into_iter().map(pair).collect()
        };
        assert!(is_plain(&headers()));
        for extra in [("mcp-param-city", "Bern"), ("accept", "*/*"), ("content-type", "text/plain")]
        {
            let mut more = headers();
            more.append(extra.0, HeaderValue::from_static(extra.1));
            assert!(!is_plain(&more), "{extra:?}");
        }
        for missing in ["content-type", "accept"] {
            let mut fewer = headers();
            fewer.remove(missing);
            assert!(!is_plain(&fewer), "{missing}");
        }
    }
}
