//! The short way of a plain `tools/call` or `tools/list`: read once, answered, written once. The protocol library, which
//! can do all that a request may need, takes several times as long about it.
//!
//! What is not beyond doubt (a header that does not fit, a wish for progress, a caller that can be asked
//! questions by a server) is left to the library, and so are all of its refusals: here nothing is ever refused.

mod session;

use std::sync::Arc;

use axum::response::Response;
use http::header::{ACCEPT, AsHeaderName, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use proto::{Principal, TraceId};
use rmcp::model::{CallToolResult, ErrorData};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use strip::runs::RunOf;
use strip::{Door, Request};

use super::super::reply;
use super::McpDoor;
use crate::mcp::{self, Core};

const VERSION: &str = "2026-07-28";
const CALL: &str = "tools/call";
const LIST: &str = "tools/list";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message<'a, P> {
    jsonrpc: &'a str,
    #[serde(borrow)]
    id: &'a RawValue,
    method: &'a str,
    params: P,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallParams<'a> {
    name: &'a str,
    arguments: Option<Map<String, Value>>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Meta<'a>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListParams<'a> {
    cursor: Option<&'a str>,
    #[serde(borrow, rename = "_meta")]
    meta: Meta<'a>,
}

/// Words that change nothing about how a request is answered, and our own wishes. Any other is for the library.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<&'a str>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<Map<String, Value>>,
    #[serde(rename = "io.modelcontextprotocol/clientInfo")]
    _client: Option<serde::de::IgnoredAny>,
    #[serde(rename = "traceparent")]
    _trace_parent: Option<serde::de::IgnoredAny>,
    #[serde(rename = "tracestate")]
    _trace_state: Option<serde::de::IgnoredAny>,
    #[serde(rename = "powerstrip/idempotency-key")]
    key: Option<Value>,
    #[serde(rename = "powerstrip/verify")]
    verify: Option<Value>,
    #[serde(rename = "powerstrip/timeout-ms")]
    timeout: Option<Value>,
    #[serde(rename = "powerstrip/run-id")]
    run: Option<Value>,
    run_id: Option<Value>,
}

impl Meta<'_> {
    fn wish(&self, key: &str) -> Option<&Value> {
        match key {
            "powerstrip/idempotency-key" => self.key.as_ref(),
            "powerstrip/verify" => self.verify.as_ref(),
            "powerstrip/timeout-ms" => self.timeout.as_ref(),
            "powerstrip/run-id" => self.run.as_ref(),
            "run_id" => self.run_id.as_ref(),
            _ => None,
        }
    }
}

impl<P> Message<'_, P> {
    fn is_plain(&self, method: &str) -> bool {
        self.jsonrpc == "2.0" && self.method == method && is_id(self.id)
    }
}

#[derive(Serialize)]
struct Answer<'a, R> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<R>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorData>,
}

/// Answers the request, if it is one that can go the short way.
pub(super) async fn answer(
    door: &McpDoor,
    parts: &Parts,
    body: &[u8],
    principal: &Arc<Principal>,
) -> Option<Response> {
    if !is_plain(&parts.headers) {
        return None;
    }
    if parts.headers.contains_key(super::SESSION_ID) {
        return session::answer(door, parts, body, principal).await;
    }
    if only(&parts.headers, "mcp-protocol-version") != Some(VERSION) {
        return None;
    }
    match only(&parts.headers, "mcp-method")? {
        CALL => call(&door.core, parts, body, principal).await,
        LIST => list(&door.core, body, principal),
        _ => None,
    }
}

fn list(core: &Core, body: &[u8], principal: &Principal) -> Option<Response> {
    let message: Message<'_, ListParams<'_>> = serde_json::from_slice(body).ok()?;
    let Meta { version, capabilities, .. } = &message.params.meta;
    if !message.is_plain(LIST) || *version != Some(VERSION) || capabilities.is_none() {
        return None;
    }
    let result: Option<Arc<RawValue>> = Some(core.page(principal, message.params.cursor)?);
    let answer = Answer { jsonrpc: "2.0", id: message.id, result, error: None };
    Some(reply::json(StatusCode::OK, &answer))
}

async fn call(
    core: &Core,
    parts: &Parts,
    body: &[u8],
    principal: &Arc<Principal>,
) -> Option<Response> {
    // Who may not call is refused by those who refuse.
    if !auth::scope::covers(principal, auth::scope::TOOLS_CALL) {
        return None;
    }
    let message: Message<'_, CallParams<'_>> = serde_json::from_slice(body).ok()?;
    let plain = message.is_plain(CALL) && message.params.meta.version == Some(VERSION);
    let CallParams { name, arguments, meta } = message.params;
    let capabilities = meta.capabilities.as_ref()?;
    if !plain
        || only(&parts.headers, "mcp-name") != Some(name)
        || (core.may_ask(name) && !capabilities.is_empty())
        || core.takes_headers(principal, name)
    {
        return None;
    }
    // A client that leaves drops this future; the call's audit row tells so.
    let answered = match asked(parts, (name, arguments), &meta, principal, RunOf::Current) {
        Ok(mut call) => {
            call.cancel = core.strip().call_token(call.trace);
            mcp::call(core, call, true).await
        }
        Err(unclear) => Err(unclear),
    };
    Some(written(message.id, answered))
}

/// The call that a message stands for; it belongs to this run unless it names another.
fn asked(
    parts: &Parts,
    (name, arguments): (&str, Option<Map<String, Value>>),
    meta: &Meta<'_>,
    principal: &Arc<Principal>,
    run: RunOf,
) -> Result<Request, ErrorData> {
    let mut wishes = mcp::wishes(|key| meta.wish(key))?;
    mcp::run_of_header(&parts.headers, &mut wishes)?;
    let input = Value::Object(arguments.unwrap_or_default());
    let mut call = Request::new(name, input, Arc::clone(principal), Door::McpHttp);
    call.trace = parts.extensions.get().copied().unwrap_or_else(TraceId::random);
    call.run = run;
    wishes.grant(&mut call);
    Ok(call)
}

fn written(id: &RawValue, answered: Result<CallToolResult, ErrorData>) -> Response {
    let (result, error) = match answered {
        Ok(result) => (Some(result), None),
        Err(error) => (None, Some(error)),
    };
    // As the library has it: what the caller lacks is a bad request, all else is an answer.
    let lacks = error.as_ref().is_some_and(|error| error.code.0 == mcp::MISSING_CAPABILITY);
    let status = if lacks { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    reply::json(status, &Answer { jsonrpc: "2.0", id, result, error })
}

/// Whether a request's headers ask for nothing special.
fn is_plain(headers: &HeaderMap) -> bool {
    let accepts = |kind| only(headers, ACCEPT).is_some_and(|accepted| accepted.contains(kind));
    only(headers, CONTENT_TYPE).is_some_and(|kind| kind.starts_with("application/json"))
        && accepts("application/json")
        && accepts("text/event-stream")
        && !headers.keys().any(|name| name.as_str().starts_with("mcp-param-"))
}

/// A header's value, if it stands there once.
fn only(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// A text or a whole number, as JSON-RPC in MCP has it.
fn is_id(id: &RawValue) -> bool {
    id.get().starts_with('"') || id.get().parse::<i64>().is_ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn only_plain_headers_go_the_short_way() {
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

    #[test]
    fn what_asks_for_more_is_left_to_the_library() {
        let meta = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
        let message = |params: &str, meta: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a"{params},"_meta":{{{meta}}}}}}}"#
            )
        };
        let read = |text: &str| serde_json::from_str::<Message<'_, CallParams<'_>>>(text).is_ok();
        assert!(read(&message("", meta)));
        assert!(read(&message(r#","arguments":null"#, meta)));
        assert!(read(&message(
            r#","arguments":{"a":1}"#,
            &format!(r#"{meta},"traceparent":"00""#)
        )));
        for params in [
            r#","inputResponses":{}"#,
            r#","requestState":"x""#,
            r#","task":{}"#,
            r#","arguments":[]"#,
        ] {
            assert!(!read(&message(params, meta)), "{params}");
        }
        for more in
            [r#""progressToken":1"#, r#""io.modelcontextprotocol/logLevel":"info""#, r#""x":1"#]
        {
            assert!(!read(&message("", &format!("{meta},{more}"))), "{more}");
        }
    }

    #[test]
    fn ids_are_texts_and_whole_numbers() {
        let id = |text: &str| is_id(&RawValue::from_string(text.to_owned()).unwrap());
        assert!(id("1") && id("-7") && id(r#""a""#));
        assert!(!id("1.5") && !id("null") && !id("{}") && !id("[1]") && !id("true"));
    }
}
