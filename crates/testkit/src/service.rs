use axum::extract::{Path, Request};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A small HTTP service on loopback for tools of kind `http` to call.
pub struct Service {
    address: String,
    task: tokio::task::JoinHandle<()>,
}

impl Service {
    /// Starts it on a free port: `POST /echo` answers with what it was sent, `/status/N` with that status.
    pub async fn start() -> Self {
        let router =
            Router::new().route("/echo", post(echo)).route("/status/{code}", any(status)).fallback(
                |request: Request| async move { Json(json!({"path": request.uri().path()})) },
            );
        Self::serve(router).await
    }

    /// Starts one that answers `GET` of a path with a value, and everything else with 404.
    pub async fn answering(path: &str, value: Value) -> Self {
        Self::serve(Router::new().route(path, get(async move || Json(value)))).await
    }

    async fn serve(router: Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let task = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("the service runs");
        });
        Self { address, task }
    }

    /// The URL of a path on this service.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn echo(headers: HeaderMap, Json(body): Json<Value>) -> Json<Value> {
    let authorization = headers.get("authorization").and_then(|value| value.to_str().ok());
    Json(json!({"echo": body["message"], "authorization": authorization}))
}

async fn status(Path(code): Path<u16>) -> (StatusCode, Json<Value>) {
    let status = StatusCode::from_u16(code).expect("a status");
    (status, Json(json!({"status": code})))
}
