//! A server with an MCP App, of either era.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The extension of MCP Apps.
const APPS: &str = "io.modelcontextprotocol/ui";
const APP_TYPE: &str = "text/html;profile=mcp-app";

/// An MCP server on loopback whose tool `show-time` has an app. Its other tools are `get-time`, which the app calls by that
/// name, `refresh`, which is only for the app, and `only-at-LABEL`. It lists no resources, as the extension allows.
pub struct AppServer {
    url: String,
    state: Arc<AppState>,
    task: tokio::task::JoinHandle<()>,
}

struct AppState {
    label: String,
    app: String,
    legacy: bool,
    /// The capabilities of the client in each request that carries any.
    declared: Mutex<Vec<Value>>,
}

impl AppServer {
    /// Starts a server of 2026-07-28 whose results say `label`, with an app at this URI.
    pub async fn start(label: &str, app: &str) -> Self {
        Self::of_era(label, app, false).await
    }

    /// Starts a server of 2025-11-25.
    pub async fn start_legacy(label: &str, app: &str) -> Self {
        Self::of_era(label, app, true).await
    }

    async fn of_era(label: &str, app: &str, legacy: bool) -> Self {
        let (label, app, declared) = (label.to_owned(), app.to_owned(), Mutex::default());
        let state = Arc::new(AppState { label, app, legacy, declared });
        let router = Router::new().fallback(serve).with_state(Arc::clone(&state));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let task = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("the server runs");
        });
        Self { url, state, task }
    }

    /// Its MCP endpoint.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether a client has declared that it shows apps.
    pub fn saw_host(&self) -> bool {
        let declared = self.state.declared.lock().unwrap_or_else(PoisonError::into_inner);
        declared.iter().any(|declared| declared["extensions"].get(APPS).is_some())
    }
}

impl Drop for AppServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl AppState {
    fn capabilities() -> Value {
        json!({"tools": {}, "resources": {"subscribe": true},
            "extensions": {APPS: {"mimeTypes": [APP_TYPE]}}})
    }

    fn tools(&self) -> Value {
        let app = &self.app;
        let only = format!("only-at-{}", self.label);
        let tool = |name: &str, meta: Value| {
            json!({"name": name, "description": "Says the time.", "_meta": meta,
                "inputSchema": {"type": "object", "properties": {"zone": {"type": "string"}}}})
        };
        json!([
            tool(
                "show-time",
                json!({"ui": {"resourceUri": app}, "ui/resourceUri": app, "other": 1})
            ),
            tool("get-time", json!({})),
            tool("refresh", json!({"ui": {"resourceUri": app, "visibility": ["app"]}})),
            tool(&only, json!({})),
        ])
    }

    /// Every link that a result can have: to the app, to one that is in no list, and an embedded resource.
    fn result(&self, tool: &str) -> Value {
        json!({"resultType": "complete",
            "content": [
                {"type": "text", "text": format!("{tool} of {}", self.label)},
                {"type": "resource_link", "uri": self.app, "name": "app"},
                {"type": "resource_link", "uri": "ui://made/up.html", "name": "another"},
                {"type": "resource_link", "uri": "https://example.com/", "name": "web"},
                {"type": "resource", "resource": {"uri": self.app, "text": "embedded"}},
            ],
            "_meta": {"ui": {"resourceUri": self.app}, "ui/resourceUri": self.app}})
    }

    fn resource(&self, uri: &Value) -> Value {
        json!({"resultType": "complete", "contents": [{"uri": uri, "mimeType": APP_TYPE,
            "text": format!("<!doctype html><p>{}", self.label),
            "_meta": {"ui": {"prefersBorder": true}}}]})
    }
}

async fn serve(State(state): State<Arc<AppState>>, Json(message): Json<Value>) -> Response {
    let params = &message["params"];
    let declared =
        [&params["capabilities"], &params["_meta"]["io.modelcontextprotocol/clientCapabilities"]];
    state
        .declared
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .extend(declared.into_iter().filter(|one| one.is_object()).cloned());
    let method = message["method"].as_str().unwrap_or_default();
    let result = match method {
        "server/discover" if !state.legacy => {
            json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": AppState::capabilities(), "ttlMs": 0, "cacheScope": "private"})
        }
        "initialize" if state.legacy => json!({"protocolVersion": "2025-11-25",
            "capabilities": AppState::capabilities(), "serverInfo": {"name": "app", "version": "1"}}),
        "tools/list" => json!({"tools": state.tools(), "resultType": "complete"}),
        "tools/call" => state.result(params["name"].as_str().unwrap_or_default()),
        "resources/list" => json!({"resources": [], "resultType": "complete"}),
        "resources/templates/list" => json!({"resourceTemplates": [], "resultType": "complete"}),
        "resources/read" => state.resource(&params["uri"]),
        "resources/subscribe" | "resources/unsubscribe" => json!({}),
        _ => Value::Null,
    };
    if message.get("id").is_none() {
        let accepted = Response::builder().status(202).body(Body::empty());
        return accepted.expect("a response");
    }
    let answer = if result.is_null() {
        let error = json!({"code": -32601, "message": "no such method"});
        json!({"jsonrpc": "2.0", "id": message["id"], "error": error})
    } else {
        json!({"jsonrpc": "2.0", "id": message["id"], "result": result})
    };
    let response = Response::builder().header("content-type", "application/json");
    response.body(Body::from(answer.to_string())).expect("a response")
}
