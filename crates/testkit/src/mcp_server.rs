use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use crate::workspace::ReservedPort;

/// An MCP server on loopback whose tools a test can change while it runs; it notifies its clients of each change.
pub struct McpServer {
    address: String,
    state: Arc<ServerState>,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct ServerState {
    tools: Mutex<Vec<Value>>,
    changed: Notify,
    calls: AtomicUsize,
}

impl McpServer {
    /// Starts it on a free port with these tools; each of them answers with its own name.
    pub async fn start(tools: Vec<Value>) -> Self {
        Self::bind("127.0.0.1:0", tools).await
    }

    /// Starts it on a port that a gateway may already try to reach.
    pub async fn at(port: &ReservedPort, tools: Vec<Value>) -> Self {
        Self::bind(&port.address(), tools).await
    }

    async fn bind(address: &str, tools: Vec<Value>) -> Self {
        let state = Arc::new(ServerState { tools: Mutex::new(tools), ..ServerState::default() });
        let router = Router::new().fallback(serve).with_state(Arc::clone(&state));
        let listener = TcpListener::bind(address).await.expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let task = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("the server runs");
        });
        Self { address, state, task }
    }

    /// Its MCP endpoint.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Replaces its tools.
    pub fn set_tools(&self, tools: Vec<Value>) {
        *self.state.tools.lock().unwrap_or_else(PoisonError::into_inner) = tools;
        // The permit is stored for a client that does not listen at this moment.
        self.state.changed.notify_one();
    }

    /// How many calls have reached it.
    pub fn calls(&self) -> usize {
        self.state.calls.load(Ordering::SeqCst)
    }
}

impl Drop for McpServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(State(state): State<Arc<ServerState>>, Json(message): Json<Value>) -> Response {
    let result = match message["method"].as_str().unwrap_or_default() {
        "server/discover" => json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {"listChanged": true}}, "ttlMs": 0, "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "testkit", "version": "1"}}}),
        "tools/list" => {
            let tools = state.tools.lock().unwrap_or_else(PoisonError::into_inner).clone();
            json!({"tools": tools, "resultType": "complete"})
        }
        "tools/call" => {
            state.calls.fetch_add(1, Ordering::SeqCst);
            json!({"content": [{"type": "text", "text": message["params"]["name"]}]})
        }
        // One notification per stream; the client then subscribes again.
        "subscriptions/listen" => {
            state.changed.notified().await;
            let notification =
                json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            return answer("text/event-stream", format!("data: {notification}\n\n"));
        }
        other => {
            let error = json!({"code": -32601, "message": other});
            let body = json!({"jsonrpc": "2.0", "id": message["id"], "error": error});
            return answer("application/json", body.to_string());
        }
    };
    let body = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    answer("application/json", body.to_string())
}

fn answer(kind: &str, body: String) -> Response {
    Response::builder().header("content-type", kind).body(Body::from(body)).expect("an answer")
}
