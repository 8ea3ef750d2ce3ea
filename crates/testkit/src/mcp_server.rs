use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// An MCP server on loopback whose tools a test changes while it runs, and which tells its clients so.
pub struct McpServer {
    address: String,
    desk: Arc<Desk>,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct Desk {
    tools: Mutex<Vec<Value>>,
    changed: Notify,
    calls: AtomicUsize,
}

impl McpServer {
    /// Starts it on a free port with these tools; each of them answers with its own name.
    pub async fn start(tools: Vec<Value>) -> Self {
        let desk = Arc::new(Desk { tools: Mutex::new(tools), ..Desk::default() });
        let router = Router::new().fallback(serve).with_state(Arc::clone(&desk));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let task = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("the server runs");
        });
        Self { address, desk, task }
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Offers other tools from now on.
    pub fn offer(&self, tools: Vec<Value>) {
        *self.desk.tools.lock().unwrap_or_else(PoisonError::into_inner) = tools;
        // Kept for a client that does not listen at this moment.
        self.desk.changed.notify_one();
    }

    /// How many calls have reached it.
    pub fn calls(&self) -> usize {
        self.desk.calls.load(Ordering::SeqCst)
    }
}

impl Drop for McpServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(State(desk): State<Arc<Desk>>, Json(message): Json<Value>) -> Response {
    let result = match message["method"].as_str().unwrap_or_default() {
        "server/discover" => json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {"listChanged": true}}, "ttlMs": 0, "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "testkit", "version": "1"}}}),
        "tools/list" => {
            let tools = desk.tools.lock().unwrap_or_else(PoisonError::into_inner).clone();
            json!({"tools": tools, "resultType": "complete"})
        }
        "tools/call" => {
            desk.calls.fetch_add(1, Ordering::SeqCst);
            json!({"content": [{"type": "text", "text": message["params"]["name"]}]})
        }
        // One notice a stream: the client listens again.
        "subscriptions/listen" => {
            desk.changed.notified().await;
            let notice = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            return answer("text/event-stream", format!("data: {notice}\n\n"));
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
