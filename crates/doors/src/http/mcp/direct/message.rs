//! The messages that are answered directly.

use std::sync::Arc;

use axum::response::Response;
use http::header::AsHeaderName;
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use proto::{Principal, TraceId};
use rmcp::model::{CallToolResult, ErrorData};
use runs::RunOf;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use strip::servers::ClientIdentity;
use strip::{AskMode, Door, Request};

use crate::http::reply;
use crate::mcp;

pub(super) const CALL: &str = "tools/call";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Message<'a, P> {
    pub(super) jsonrpc: &'a str,
    #[serde(borrow)]
    pub(super) id: &'a RawValue,
    pub(super) method: &'a str,
    pub(super) params: P,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallParams<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: Option<Map<String, Value>>,
    #[serde(borrow, default, rename = "_meta")]
    pub(super) meta: Meta<'a>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListParams<'a> {
    pub(super) cursor: Option<&'a str>,
    #[serde(borrow, rename = "_meta")]
    pub(super) meta: Meta<'a>,
}

/// Fields that do not change how a request is answered, and our own options. A request with others goes to the library.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    pub(super) version: Option<&'a str>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    pub(super) capabilities: Option<Map<String, Value>>,
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
    /// The caller and client of a modern request; none if it does not say what the client can do.
    pub(super) fn client(
        &self,
        parts: &Parts,
        principal: &Arc<Principal>,
    ) -> Option<ClientIdentity> {
        let mut options = mcp::call_options(|key| self.option(key)).ok()?;
        mcp::run_of_header(&parts.headers, &mut options).ok()?;
        Some(ClientIdentity {
            principal: Arc::clone(principal),
            capabilities: self.capabilities.clone()?,
            asking: AskMode::Rounds,
            session: options.into_run(),
        })
    }

    fn option(&self, key: &str) -> Option<&Value> {
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
    pub(super) fn is_plain(&self, method: &str) -> bool {
        self.jsonrpc == "2.0" && self.method == method && is_id(self.id)
    }
}

#[derive(Serialize)]
pub(super) struct Answer<'a, R> {
    pub(super) jsonrpc: &'static str,
    pub(super) id: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<R>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<ErrorData>,
}

impl CallParams<'_> {
    /// The request of a call. It belongs to this run unless it names another.
    pub(super) fn into_request(
        self,
        parts: &Parts,
        principal: &Arc<Principal>,
        run: RunOf,
    ) -> Result<Request, ErrorData> {
        let mut options = mcp::call_options(|key| self.meta.option(key))?;
        mcp::run_of_header(&parts.headers, &mut options)?;
        let input = Value::Object(self.arguments.unwrap_or_default());
        let mut request = Request::new(self.name, input, Arc::clone(principal), Door::McpHttp);
        request.trace = parts.extensions.get().copied().unwrap_or_else(TraceId::random);
        request.run = run;
        options.apply(&mut request);
        Ok(request)
    }
}

pub(super) fn write_answer(id: &RawValue, answered: Result<CallToolResult, ErrorData>) -> Response {
    let (result, error) = match answered {
        Ok(result) => (Some(result), None),
        Err(error) => (None, Some(error)),
    };
    // As rmcp does it: only a missing capability is a bad request.
    let lacks = error.as_ref().is_some_and(|error| error.code.0 == mcp::MISSING_CAPABILITY);
    let status = if lacks { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    reply::json(status, &Answer { jsonrpc: "2.0", id, result, error })
}

/// The value of a header that occurs exactly once.
pub(super) fn only(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Whether an id is a string or a whole number, as MCP requires.
fn is_id(id: &RawValue) -> bool {
    id.get().starts_with('"') || id.get().parse::<i64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_with_other_fields_are_left_to_the_library() {
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
    fn ids_are_strings_and_whole_numbers() {
        let id = |text: &str| is_id(&RawValue::from_string(text.to_owned()).unwrap());
        assert!(id("1") && id("-7") && id(r#""a""#));
        assert!(!id("1.5") && !id("null") && !id("{}") && !id("[1]") && !id("true"));
    }
}
