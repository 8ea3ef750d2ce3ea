use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

/// An MCP server of 2024-11-05 on loopback: a GET of `/sse` opens the stream of a session, and messages are posted to
/// the URL that its first event names. Its tool `echo` answers with its input, `greet` asks for a name first.
pub struct SseServer {
    address: String,
    state: Arc<ServerState>,
    task: tokio::task::JoinHandle<()>,
}

struct ServerState {
    /// The URL for messages that clients get, instead of this server's.
    endpoint: Option<String>,
    sessions: Mutex<HashMap<String, mpsc::UnboundedSender<String>>>,
    questions: Mutex<HashMap<String, oneshot::Sender<Value>>>,
    more_tools: Mutex<Vec<String>>,
    opened: AtomicUsize,
    /// Requests that are of no use in this transport.
    refused: AtomicUsize,
}

impl SseServer {
    /// Starts it on a free port.
    pub async fn start() -> Self {
        Self::with_endpoint(None).await
    }

    /// Starts one that names this URL for messages.
    pub async fn misdirecting(endpoint: &str) -> Self {
        Self::with_endpoint(Some(endpoint.to_owned())).await
    }

    async fn with_endpoint(endpoint: Option<String>) -> Self {
        let state = Arc::new(ServerState {
            endpoint,
            sessions: Mutex::default(),
            questions: Mutex::default(),
            more_tools: Mutex::default(),
            opened: AtomicUsize::new(0),
            refused: AtomicUsize::new(0),
        });
        let router = Router::new().fallback(serve).with_state(Arc::clone(&state));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let task = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("the server runs");
        });
        Self { address, state, task }
    }

    /// The URL of its stream.
    pub fn url(&self) -> String {
        format!("http://{}/sse", self.address)
    }

    /// How many streams were opened.
    pub fn streams(&self) -> usize {
        self.state.opened.load(Ordering::SeqCst)
    }

    /// How many requests it refused.
    pub fn refused(&self) -> usize {
        self.state.refused.load(Ordering::SeqCst)
    }

    /// Ends all streams, as a proxy with a time limit does.
    pub fn end_streams(&self) {
        lock(&self.state.sessions).clear();
    }

    /// Adds a tool and notifies all clients.
    pub fn add_tool(&self, name: &str) {
        lock(&self.state.more_tools).push(name.to_owned());
        let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
        for session in lock(&self.state.sessions).values() {
            let _ = session.send(message_event(&changed));
        }
    }
}

impl Drop for SseServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn message_event(message: &Value) -> String {
    format!("event: message\r\ndata: {message}\r\n\r\n")
}

async fn serve(
    State(state): State<Arc<ServerState>>,
    method: Method,
    uri: Uri,
    RawQuery(query): RawQuery,
    body: String,
) -> Response {
    match (method, uri.path()) {
        (Method::GET, "/sse") => open(&state),
        (Method::POST, "/messages") => {
            let id = query.unwrap_or_default();
            let id = id.strip_prefix("session_id=").unwrap_or_default().to_owned();
            let Some(stream) = lock(&state.sessions).get(&id).cloned() else {
                return (StatusCode::NOT_FOUND, "Could not find session").into_response();
            };
            let message: Value = serde_json::from_str(&body).unwrap_or_default();
            tokio::spawn(async move { receive(&state, &stream, message).await });
            (StatusCode::ACCEPTED, "Accepted").into_response()
        }
        (_, path) => {
            state.refused.fetch_add(1, Ordering::SeqCst);
            let status =
                if path == "/sse" { StatusCode::METHOD_NOT_ALLOWED } else { StatusCode::NOT_FOUND };
            status.into_response()
        }
    }
}

/// Opens a session. Its stream ends when the session is removed from the table.
fn open(state: &ServerState) -> Response {
    state.opened.fetch_add(1, Ordering::SeqCst);
    let id = Uuid::new_v4().simple().to_string();
    let (events, received) = mpsc::unbounded_channel();
    let endpoint = state.endpoint.clone().unwrap_or_else(|| format!("/messages?session_id={id}"));
    let _ = events.send(format!("event: endpoint\r\ndata: {endpoint}\r\n\r\n: ping\r\n\r\n"));
    lock(&state.sessions).insert(id, events);
    let body = stream::unfold(received, |mut received: mpsc::UnboundedReceiver<String>| async {
        let event = received.recv().await?;
        Some((Ok::<_, std::convert::Infallible>(event), received))
    });
    Response::builder()
        .header("content-type", "text/event-stream")
        .body(Body::from_stream(body))
        .expect("an answer")
}

async fn receive(state: &ServerState, stream: &mpsc::UnboundedSender<String>, message: Value) {
    let params = &message["params"];
    let result = match message["method"].as_str() {
        None => {
            let id = message["id"].as_str().unwrap_or_default();
            if let Some(waiting) = lock(&state.questions).remove(id) {
                let _ = waiting.send(message["result"].clone());
            }
            return;
        }
        Some("initialize") => json!({"protocolVersion": "2024-11-05",
            "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "old", "version": "1"}}),
        Some("tools/list") => {
            let more = lock(&state.more_tools).clone();
            let names = ["echo", "greet"].map(str::to_owned).into_iter().chain(more);
            let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
            json!({"tools": names.map(tool).collect::<Vec<_>>()})
        }
        Some("tools/call") if params["name"] == "greet" => {
            let (answer, answered) = oneshot::channel();
            let id = Uuid::new_v4().to_string();
            lock(&state.questions).insert(id.clone(), answer);
            let question = json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create",
                "params": {"message": "Who is it?", "requestedSchema": {"type": "object",
                    "properties": {"name": {"type": "string"}}}}});
            let _ = stream.send(message_event(&question));
            let reply = answered.await.unwrap_or_default();
            let name = reply["content"]["name"].as_str().unwrap_or("unknown");
            json!({"content": [{"type": "text", "text": format!("Hello, {name}!")}]})
        }
        Some("tools/call") => {
            json!({"content": [{"type": "text", "text": params["arguments"].to_string()}]})
        }
        Some(_) if message.get("id").is_none() => return,
        Some(_) => json!({}),
    };
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    let _ = stream.send(message_event(&answer));
}
