//! The route table, and what a caller is told who misses it.

use axum::Extension;
use axum::response::Response;
use http::{Method, StatusCode, Uri};
use proto::{Code, TraceId};
use serde_json::{Value, json};
use strip::Failure;

use super::reply;

pub(super) const MCP: &str = "/mcp";
pub(super) const DISCOVER: &str = "/mcp/discover";
pub(super) const PROMPT: &str = "/mcp/prompt/{domain}/{name}/{major}";
pub(super) const TOOL: &str = "/mcp/tool/{*tool}";
pub(super) const SCHEMA: &str = "/mcp/schema/{*reference}";
/// An agent's own doors: each of those that begin with `/mcp`, under its name.
pub(super) const AGENT: &str = "/agents/{agent}/{*door}";
pub(super) const OPENAPI: &str = "/openapi.json";
pub(super) const HEALTHZ: &str = "/healthz";
pub(super) const READYZ: &str = "/readyz";
pub(super) const METRICS: &str = "/metrics";

/// The route of this pattern, as a name that lives as long as the process.
pub(super) fn named(pattern: &str) -> Option<&'static str> {
    [TOOL, MCP, DISCOVER, PROMPT, SCHEMA, AGENT, OPENAPI, HEALTHZ, READYZ, METRICS]
        .into_iter()
        .find(|route| *route == pattern)
}

/// Methods, path as people read it, and what it is for.
pub(super) const TABLE: [(&str, &str, &str); 10] = [
    ("POST, GET, DELETE", MCP, "Model Context Protocol, streamable HTTP"),
    ("GET", DISCOVER, "tools, prompts and health"),
    ("GET", PROMPT, "a prompt's body and spec"),
    ("POST", "/mcp/tool/{toolName}", "call a tool; the body is its input, the answer an envelope"),
    ("GET", "/mcp/schema/{tool@major}/{input|output}", "a tool's JSON Schema"),
    (
        "POST, GET, DELETE",
        "/agents/{agent}/mcp",
        "the same for an agent, as are the routes below it",
    ),
    ("GET", OPENAPI, "this API as OpenAPI 3.1"),
    ("GET", HEALTHZ, "whether the process lives"),
    ("GET", READYZ, "whether it can do its work"),
    ("GET", METRICS, "metrics in Prometheus' text format"),
];

pub(super) async fn unknown(
    method: Method,
    uri: Uri,
    Extension(trace): Extension<TraceId>,
) -> Response {
    let failure = Failure::new(
        Code::NotFound,
        format!("there is no {method} {}; `details.routes` lists what there is", shown(&uri)),
    );
    reply::refuse(StatusCode::NOT_FOUND, &failure.details(json!({"routes": listed()})), trace)
}

pub(super) async fn wrong_method(
    method: Method,
    uri: Uri,
    Extension(trace): Extension<TraceId>,
) -> Response {
    let failure = Failure::new(
        Code::Unsupported,
        format!("{} does not take {method}; the Allow header says what it takes", shown(&uri)),
    );
    let failure = failure.details(json!({"routes": listed()}));
    reply::refuse(StatusCode::METHOD_NOT_ALLOWED, &failure, trace)
}

fn listed() -> Vec<Value> {
    TABLE
        .iter()
        .map(|(methods, path, purpose)| json!({"methods": methods, "path": path, "purpose": purpose}))
        .collect()
}

fn shown(uri: &Uri) -> String {
    uri.path().chars().take(200).collect()
}
