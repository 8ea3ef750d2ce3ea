//! The headers of a request, for either era.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use server_entry::ServerConfig;

use crate::era::MODERN;
use crate::rpc::{Params, RpcRequest};

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The headers of every request.
pub(super) fn common(config: &ServerConfig) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.extend(config.header_map());
    headers
}

/// Adds the headers that a modern server compares with the body.
pub(super) fn modern(headers: &mut HeaderMap, request: &RpcRequest<'_>) {
    headers.insert(VERSION, HeaderValue::from_static(MODERN));
    if let Ok(method) = HeaderValue::from_str(request.method) {
        headers.insert(METHOD, method);
    }
    if let Some(name) = request.name().and_then(encoded) {
        headers.insert(NAME, name);
    }
    let Params::Call { arguments, .. } = request.params else { return };
    for param in request.header_params {
        let argument = param.path.iter().try_fold(arguments, |value, key| value.get(key));
        let text = match argument {
            Some(Value::String(text)) => encoded(text),
            Some(Value::Bool(flag)) => encoded(if *flag { "true" } else { "false" }),
            Some(Value::Number(number)) => encoded(&number.to_string()),
            _ => None,
        };
        if let Some(text) = text {
            headers.insert(param.header.clone(), text);
        }
    }
}

/// A text as a header value, in base64 where it has characters that no header may have.
fn encoded(text: &str) -> Option<HeaderValue> {
    let bytes = text.as_bytes();
    let blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let wrapped = text.starts_with("=?base64?") && text.ends_with("?=");
    let plain = bytes.iter().all(|byte| (0x20..=0x7e).contains(byte));
    if plain && !wrapped && !blank(bytes.first()) && !blank(bytes.last()) {
        return HeaderValue::from_str(text).ok();
    }
    HeaderValue::from_str(&format!("=?base64?{}?=", BASE64_STANDARD.encode(text))).ok()
}

#[cfg(test)]
mod tests;
