//! The short way of a plain `tools/call` or `tools/list`: read once, answered, written once. The protocol library, which
//! can do all that a request may need, takes several times as long about it.
//!
//! What is not beyond doubt (another era, a header that does not fit, a wish for progress, a caller that can be asked
//! questions by a server) is left to the library, and so are all of its refusals: here nothing is ever refused.

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
use strip::{Call, Door};

use super::super::reply;
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
    #[serde(borrow, rename = "_meta")]
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
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: &'a str,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Map<String, Value>,
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
    fn is_plain(&self, method: &str, meta: impl FnOnce(&P) -> &str) -> bool {
        self.jsonrpc == "2.0"
            && self.method == method
            && meta(&self.params) == VERSION
            && is_id(self.id)
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
    core: &Core,
    parts: &Parts,
    body: &[u8],
    principal: &Arc<Principal>,
) -> Option<Response> {
    match plain_method(&parts.headers)? {
        CALL => call(core, parts, body, principal).await,
        LIST => list(core, body, principal),
        _ => None,
    }
}

fn list(core: &Core, body: &[u8], principal: &Principal) -> Option<Response> {
    let message: Message<'_, ListParams<'_>> = serde_json::from_slice(body).ok()?;
    if !message.is_plain(LIST, |params| params.meta.version) {
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
    let plain = message.is_plain(CALL, |params| params.meta.version);
    let CallParams { name, arguments, meta } = message.params;
    if !plain
        || only(&parts.headers, "mcp-name") != Some(name)
        || (core.may_ask(name) && !meta.capabilities.is_empty())
        || core.takes_headers(principal, name)
    {
        return None;
    }
    let wishes = mcp::wishes(|key| meta.wish(key)).and_then(|mut wishes| {
        mcp::run_of_header(&parts.headers, &mut wishes)?;
        Ok(wishes)
    });
    let (result, error): (Option<CallToolResult>, _) = match wishes {
        Ok(wishes) => {
            let input = Value::Object(arguments.unwrap_or_default());
            let mut call = Call::new(name, input, Arc::clone(principal), Door::McpHttp);
            call.trace = parts.extensions.get().copied().unwrap_or_else(TraceId::random);
            call.run = RunOf::Current;
            wishes.grant(&mut call);
            // A client that leaves drops this future; the call's audit row tells so.
            match mcp::call(core, call, true).await {
                Ok(result) => (Some(result), None),
                Err(error) => (None, Some(error)),
            }
        }
        Err(unclear) => (None, Some(unclear)),
    };
    // As the library has it: what the caller lacks is a bad request, all else is an answer.
    let lacks = error.as_ref().is_some_and(|error| error.code.0 == mcp::MISSING_CAPABILITY);
    let status = if lacks { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let answer = Answer { jsonrpc: "2.0", id: message.id, result, error };
    Some(reply::json(status, &answer))
}

/// The method that a request names, if its headers ask for nothing special.
fn plain_method(headers: &HeaderMap) -> Option<&str> {
    let accepts = |kind| only(headers, ACCEPT).is_some_and(|accepted| accepted.contains(kind));
    let plain = only(headers, "mcp-protocol-version") == Some(VERSION)
        && !headers.contains_key(super::SESSION_ID)
        && only(headers, CONTENT_TYPE).is_some_and(|kind| kind.starts_with("application/json"))
        && accepts("application/json")
        && accepts("text/event-stream")
        && !headers.keys().any(|name| name.as_str().starts_with("mcp-param-"));
    only(headers, "mcp-method").filter(|_| plain)
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

    fn headers(extra: &[(&'static str, &'static str)]) -> HeaderMap {
        let usual = [
            ("mcp-protocol-version", VERSION),
            ("mcp-method", CALL),
            ("content-type", "application/json; charset=utf-8"),
            ("accept", "application/json, text/event-stream"),
        ];
        let pairs = usual.iter().chain(extra);
        pairs
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn only_a_plain_call_goes_the_short_way() {
        assert_eq!(plain_method(&headers(&[])), Some(CALL));
        for extra in [
            ("mcp-session-id", "1"),
            ("mcp-param-city", "Bern"),
            ("mcp-method", "tools/call"),
            ("mcp-protocol-version", "2025-11-25"),
            ("accept", "*/*"),
        ] {
            let mut more = headers(&[]);
            more.append(extra.0, HeaderValue::from_static(extra.1));
            assert!(plain_method(&more).is_none(), "{extra:?}");
        }
        for missing in ["mcp-protocol-version", "mcp-method", "content-type", "accept"] {
            let mut fewer = headers(&[]);
            fewer.remove(missing);
            assert!(plain_method(&fewer).is_none(), "{missing}");
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
        assert!(!read(&message("", "")), "required fields are missing");
    }

    #[test]
    fn ids_are_texts_and_whole_numbers() {
        let id = |text: &str| is_id(&RawValue::from_string(text.to_owned()).unwrap());
        assert!(id("1") && id("-7") && id(r#""a""#));
        assert!(!id("1.5") && !id("null") && !id("{}") && !id("[1]") && !id("true"));
    }
}
