//! Requests that are written once and only renumbered for each call, so that they cost the client nothing.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::front::Front;

/// The field whose value is different in every call, as it must come back.
const MARK: &str = r#""message":"bench-000000000000""#;

/// Digits at the end of the mark, before its closing quote.
const DIGITS: usize = 12;

/// The message of call number zero, for bodies.
pub(crate) const MESSAGE: &str = "bench-000000000000";

/// A whole HTTP/1.1 request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    bytes: Vec<u8>,
    /// Where the mark begins, if the body has one.
    mark: Option<usize>,
}

impl Request {
    /// A POST of JSON.
    pub(crate) fn post(
        address: SocketAddr,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Self {
        let body = body.to_string();
        let headers: String =
            headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let bytes = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes();
        let mark = find(&bytes, MARK.as_bytes());
        Self { bytes, mark }
    }

    /// A call of a tool through the envelope door.
    pub(crate) fn envelope(address: SocketAddr, tool: &str) -> Self {
        Self::post(address, &format!("/mcp/tool/{tool}"), &[], &json!({"message": MESSAGE}))
    }

    /// A call of a tool through MCP.
    pub(crate) fn mcp_call(address: SocketAddr, tool: &str) -> Self {
        Self::mcp(address, "tools/call", json!({"name": tool, "arguments": {"message": MESSAGE}}))
    }

    /// A stateless request of MCP 2026-07-28.
    pub(crate) fn mcp(address: SocketAddr, method: &str, params: Value) -> Self {
        Front::new(address, "").modern(method, params)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Makes this the call of that number.
    pub(crate) fn number(&mut self, mut number: u64) {
        let Some(mark) = self.mark else { return };
        let end = mark + MARK.len() - 1;
        for digit in self.bytes[end - DIGITS..end].iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
        }
    }

    /// Where an answer repeats this call's message as data: at the expected place, or anywhere.
    pub(crate) fn echo_in(&self, body: &[u8], expected: usize) -> Option<usize> {
        let mark = self.mark?;
        let echo = &self.bytes[mark..mark + MARK.len()];
        if body.get(expected..).is_some_and(|rest| rest.starts_with(echo)) {
            return Some(expected);
        }
        find(body, echo)
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
