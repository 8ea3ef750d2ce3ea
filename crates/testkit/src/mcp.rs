//! Requests of MCP over HTTP, of 2026-07-28 and of earlier revisions.

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::gateway::send;

/// The revision of MCP that needs no session.
pub const MODERN: &str = "2026-07-28";

/// Turns a POST to an MCP endpoint into a request of `method`. The `mcp-name` header comes from `params`.
pub fn mcp_request(post: RequestBuilder, method: &str, params: Value) -> RequestBuilder {
    mcp_request_with(post, method, params, json!({}))
}

/// Makes an MCP request of a client with these capabilities.
pub fn mcp_request_with(
    post: RequestBuilder,
    method: &str,
    mut params: Value,
    capabilities: Value,
) -> RequestBuilder {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    let mut request = post
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", MODERN)
        .header("mcp-method", method);
    let name = ["name", "uri", "taskId"].iter().find_map(|key| params[key].as_str());
    if let Some(name) = name {
        request = request.header("mcp-name", name);
    }
    request.json(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
}

/// Sends one request to an MCP endpoint; returns the JSON-RPC answer.
pub async fn mcp(url: &str, method: &str, params: Value) -> Value {
    send(mcp_request(reqwest::Client::new().post(url), method, params)).await.body
}

/// Calls a tool by MCP; returns its result.
pub async fn mcp_call(url: &str, tool: &str, input: Value) -> Value {
    mcp(url, "tools/call", json!({"name": tool, "arguments": input})).await["result"].take()
}

/// The tools that an MCP endpoint lists, on all pages.
pub async fn mcp_tools(url: &str) -> Vec<Value> {
    let (mut tools, mut params) = (Vec::new(), json!({}));
    loop {
        let page = mcp(url, "tools/list", params).await;
        tools.extend(page["result"]["tools"].as_array().expect("a list of tools").iter().cloned());
        match page["result"].get("nextCursor") {
            Some(cursor) if !cursor.is_null() => params = json!({"cursor": cursor}),
            _ => return tools,
        }
    }
}

/// Turns a POST to an MCP endpoint into a message of a revision before 2026-07-28; `session` is empty before there is one.
pub fn legacy_request(
    post: RequestBuilder,
    version: &str,
    session: &str,
    message: &Value,
) -> RequestBuilder {
    let request = post.header("accept", "application/json, text/event-stream").json(message);
    if session.is_empty() {
        return request;
    }
    request.header("mcp-session-id", session).header("mcp-protocol-version", version)
}

/// The first message of a session.
pub fn initialize_message(version: &str, capabilities: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": capabilities,
        "clientInfo": {"name": "test", "version": "1"}}})
}
