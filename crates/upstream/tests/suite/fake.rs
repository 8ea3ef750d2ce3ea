//! HTTP servers with scripted behaviour, each on its own runtime so that it can be killed with all connections.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Runtime;

/// One request to the fake server.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl ReceivedRequest {
    pub(crate) fn method_name(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn id(&self) -> &Value {
        &self.body["id"]
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) fn arguments(&self) -> &Value {
        &self.body["params"]["arguments"]
    }
}

type Behaviour = Arc<dyn Fn(ReceivedRequest) -> BoxFuture<'static, Response> + Send + Sync>;

#[derive(Clone)]
struct ServerState {
    behaviour: Behaviour,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
}

/// An address that is bound but has no listener: connections are refused, and no other test can take it.
pub(crate) struct ReservedAddress {
    pub(crate) address: SocketAddr,
    _held: TcpSocket,
}

impl ReservedAddress {
    pub(crate) fn new() -> Self {
        let held = TcpSocket::new_v4().unwrap();
        // A fake server binds the same address.
        held.set_reuseaddr(true).unwrap();
        held.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        Self { address: held.local_addr().unwrap(), _held: held }
    }
}

/// A running server.
pub(crate) struct Fake {
    address: SocketAddr,
    reserved: Option<ReservedAddress>,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    runtime: Option<Runtime>,
}

impl Fake {
    pub(crate) fn new<F>(behaviour: impl Fn(ReceivedRequest) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response> + Send + 'static,
    {
        Self::on(ReservedAddress::new(), behaviour)
    }

    /// A server at a reserved address.
    pub(crate) fn on<F>(
        reserved: ReservedAddress,
        behaviour: impl Fn(ReceivedRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response> + Send + 'static,
    {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let requests: Arc<Mutex<Vec<ReceivedRequest>>> = Arc::default();
        let state = ServerState {
            behaviour: Arc::new(move |received| Box::pin(behaviour(received))),
            requests: Arc::clone(&requests),
        };
        let address = reserved.address;
        let listener = std::net::TcpListener::bind(address).unwrap();
        listener.set_nonblocking(true).unwrap();
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            axum::serve(listener, Router::new().fallback(serve).with_state(state)).await.unwrap();
        });
        Self { address, reserved: Some(reserved), requests, runtime: Some(runtime) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// The requests with this method.
    pub(crate) fn requests_of(&self, method: &str) -> Vec<ReceivedRequest> {
        self.requests().into_iter().filter(|received| received.method_name() == method).collect()
    }

    /// Ends it with all its connections, as a crash would. Its address stays reserved for the next server.
    pub(crate) fn kill(mut self) -> ReservedAddress {
        if let Some(runtime) = self.runtime.take() {
            // Shutting down blocks, which is not allowed on a runtime thread.
            std::thread::spawn(move || runtime.shutdown_timeout(Duration::from_secs(5)))
                .join()
                .unwrap();
        }
        self.reserved.take().unwrap()
    }

    fn end(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.end();
    }
}

async fn serve(
    State(state): State<ServerState>,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let received = ReceivedRequest { method, headers, body };
    state.requests.lock().unwrap().push(received.clone());
    (state.behaviour)(received).await
}

pub(crate) fn json_with(status: u16, body: &Value) -> Response {
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .unwrap()
}

pub(crate) fn result(received: &ReceivedRequest, result: Value) -> Response {
    json_with(200, &json!({"jsonrpc": "2.0", "id": received.id(), "result": result}))
}

pub(crate) fn error(status: u16, received: &ReceivedRequest, code: i64, message: &str) -> Response {
    let body =
        json!({"jsonrpc": "2.0", "id": received.id(), "error": {"code": code, "message": message}});
    json_with(status, &body)
}

pub(crate) fn plain(status: u16, body: &str) -> Response {
    Response::builder().status(status).body(Body::from(body.to_owned())).unwrap()
}

/// A stream of events, one message each.
pub(crate) fn events(messages: &[Value]) -> Response {
    let text: String = messages.iter().map(|message| format!("data: {message}\n\n")).collect();
    raw_events(text)
}

pub(crate) fn raw_events(body: impl Into<Body>) -> Response {
    Response::builder().header("content-type", "text/event-stream").body(body.into()).unwrap()
}

pub(crate) fn text_result(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

pub(crate) fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}."), "inputSchema": {"type": "object"}})
}

/// The answers of a modern server to everything but `tools/call`.
pub(crate) fn modern(received: &ReceivedRequest, tools: &[Value]) -> Response {
    match received.method_name() {
        "server/discover" => result(
            received,
            json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private",
                "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "fake", "version": "3"}}}),
        ),
        "tools/list" => result(received, json!({"tools": tools, "resultType": "complete"})),
        other => error(404, received, -32601, other),
    }
}

/// A modern server with the tools `echo` and `who`, which answer with what they got and with `name`.
pub(crate) fn well_behaved(
    name: &'static str,
) -> impl Fn(ReceivedRequest) -> std::future::Ready<Response> {
    move |received: ReceivedRequest| {
        std::future::ready(match received.method_name() {
            "tools/call" if received.body["params"]["name"] == "echo" => {
                result(&received, text_result(&received.arguments().to_string()))
            }
            "tools/call" => result(&received, text_result(name)),
            _ => {
                let mut who = tool("who");
                who["annotations"] = json!({"readOnlyHint": true});
                modern(&received, &[tool("echo"), who])
            }
        })
    }
}
