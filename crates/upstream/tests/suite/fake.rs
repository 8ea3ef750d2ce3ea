//! HTTP servers that answer as a test wants, on a runtime of their own so that they can be killed with all connections.

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

/// One request as it came in.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Seen {
    pub(crate) fn asks(&self) -> &str {
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

type Behaviour = Arc<dyn Fn(Seen) -> BoxFuture<'static, Response> + Send + Sync>;

#[derive(Clone)]
struct Desk {
    behaviour: Behaviour,
    seen: Arc<Mutex<Vec<Seen>>>,
}

/// An address that stays one test's own while nobody listens there: it is bound, and whoever calls is refused.
pub(crate) struct Place {
    pub(crate) address: SocketAddr,
    _held: TcpSocket,
}

impl Place {
    pub(crate) fn new() -> Self {
        let held = TcpSocket::new_v4().unwrap();
        // So that a server can bind it too.
        held.set_reuseaddr(true).unwrap();
        held.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        Self { address: held.local_addr().unwrap(), _held: held }
    }
}

/// A running server.
pub(crate) struct Fake {
    address: SocketAddr,
    place: Option<Place>,
    seen: Arc<Mutex<Vec<Seen>>>,
    runtime: Option<Runtime>,
}

impl Fake {
    pub(crate) fn new<F>(behaviour: impl Fn(Seen) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response> + Send + 'static,
    {
        Self::on(Place::new(), behaviour)
    }

    /// A server at a place that is known before.
    pub(crate) fn on<F>(place: Place, behaviour: impl Fn(Seen) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response> + Send + 'static,
    {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let desk = Desk {
            behaviour: Arc::new(move |seen| Box::pin(behaviour(seen))),
            seen: Arc::clone(&seen),
        };
        let address = place.address;
        let listener = std::net::TcpListener::bind(address).unwrap();
        listener.set_nonblocking(true).unwrap();
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            axum::serve(listener, Router::new().fallback(serve).with_state(desk)).await.unwrap();
        });
        Self { address, place: Some(place), seen, runtime: Some(runtime) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Requests that asked for this.
    pub(crate) fn asked(&self, method: &str) -> Vec<Seen> {
        self.seen().into_iter().filter(|seen| seen.asks() == method).collect()
    }

    /// Ends it with all its connections, as a crash would. Its place is kept for whoever comes after it.
    pub(crate) fn kill(mut self) -> Place {
        if let Some(runtime) = self.runtime.take() {
            // Not to be waited for on a thread that drives a runtime itself.
            std::thread::spawn(move || runtime.shutdown_timeout(Duration::from_secs(5)))
                .join()
                .unwrap();
        }
        self.place.take().unwrap()
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
    State(desk): State<Desk>,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let seen = Seen { method, headers, body };
    desk.seen.lock().unwrap().push(seen.clone());
    (desk.behaviour)(seen).await
}

pub(crate) fn json_with(status: u16, body: &Value) -> Response {
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .unwrap()
}

pub(crate) fn result(seen: &Seen, result: Value) -> Response {
    json_with(200, &json!({"jsonrpc": "2.0", "id": seen.id(), "result": result}))
}

pub(crate) fn error(status: u16, seen: &Seen, code: i64, message: &str) -> Response {
    let body =
        json!({"jsonrpc": "2.0", "id": seen.id(), "error": {"code": code, "message": message}});
    json_with(status, &body)
}

pub(crate) fn plain(status: u16, body: &str) -> Response {
    Response::builder().status(status).body(Body::from(body.to_owned())).unwrap()
}

/// Events, each of them one message.
pub(crate) fn events(messages: &[Value]) -> Response {
    let text: String = messages.iter().map(|message| format!("data: {message}\n\n")).collect();
    raw_events(text)
}

pub(crate) fn raw_events(body: impl Into<Body>) -> Response {
    Response::builder().header("content-type", "text/event-stream").body(body.into()).unwrap()
}

pub(crate) fn said(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

pub(crate) fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}."), "inputSchema": {"type": "object"}})
}

/// What a modern server answers to everything but `tools/call`.
pub(crate) fn modern(seen: &Seen, tools: &[Value]) -> Response {
    match seen.asks() {
        "server/discover" => result(
            seen,
            json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private",
                "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "fake", "version": "3"}}}),
        ),
        "tools/list" => result(seen, json!({"tools": tools, "resultType": "complete"})),
        other => error(404, seen, -32601, other),
    }
}

/// A modern server with the tools `echo` and `who`, which answer with what they got and with `name`.
pub(crate) fn well_behaved(name: &'static str) -> impl Fn(Seen) -> std::future::Ready<Response> {
    move |seen: Seen| {
        std::future::ready(match seen.asks() {
            "tools/call" if seen.body["params"]["name"] == "echo" => {
                result(&seen, said(&seen.arguments().to_string()))
            }
            "tools/call" => result(&seen, said(name)),
            _ => {
                let mut who = tool("who");
                who["annotations"] = json!({"readOnlyHint": true});
                modern(&seen, &[tool("echo"), who])
            }
        })
    }
}
