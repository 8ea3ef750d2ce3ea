//! Streamable HTTP at `/mcp`, and `/healthz`.

mod connections;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use crate::programs::Programs;
pub use connections::RequestTimes;

/// How long the remaining connections may take to close after every stream has ended.
const CLOSE_GRACE: Duration = Duration::from_secs(1);

/// Sessions of the older revisions at once. An idle one ends after five minutes.
const MAX_SESSIONS: usize = 1000;

/// Accepted hosts and origins, the largest request, and the time to finish calls on shutdown.
#[derive(Debug, Clone)]
pub struct Door {
    /// Host headers accepted in addition to the loopback names and the listening address.
    pub allow_hosts: Vec<String>,
    /// Origins accepted in addition to the loopback ones.
    pub allow_origins: Vec<String>,
    /// The largest request body.
    pub body_bytes: usize,
    /// How long calls in flight may continue after the signal to stop.
    pub drain: Duration,
    /// How long a client may take to send a request.
    pub request_times: RequestTimes,
    /// The programs that `/healthz` lists.
    pub programs: Programs,
}

/// Serves until `stop` resolves, then lets calls in flight finish and closes what is left.
pub async fn serve<H>(
    handler: H,
    listener: TcpListener,
    door: Door,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()>
where
    H: ServerHandler + Clone,
{
    let streams = CancellationToken::new();
    let in_flight = TaskTracker::new();
    let app = router(handler, listener.local_addr()?, &door, &streams, &in_flight);

    let stopping = CancellationToken::new();
    let mut server = tokio::spawn({
        let stopping = stopping.clone();
        connections::serve(listener, app, door.request_times, stopping)
    });
    tokio::select! {
        ended = &mut server => return ended.map_err(io::Error::other),
        () = stop => stopping.cancel(),
    }
    in_flight.close();
    if tokio::time::timeout(door.drain, in_flight.wait()).await.is_err() {
        tracing::warn!(calls = in_flight.len(), "stopped with calls in flight");
    }
    // Sessions and subscriptions do not end by themselves.
    streams.cancel();
    match tokio::time::timeout(CLOSE_GRACE, &mut server).await {
        Ok(ended) => ended.map_err(io::Error::other),
        Err(_elapsed) => {
            server.abort();
            Ok(())
        }
    }
}

fn router<H: ServerHandler + Clone>(
    handler: H,
    address: SocketAddr,
    door: &Door,
    streams: &CancellationToken,
    in_flight: &TaskTracker,
) -> Router {
    let identity = handler.get_info().server_info;
    let started = Instant::now();
    let programs = door.programs.clone();
    let health = get(move || async move {
        let mut health = json!({
            "status": "ok",
            "name": identity.name,
            "version": identity.version,
            "uptimeSec": started.elapsed().as_secs(),
        });
        if let Some(programs) = programs.report().await {
            health["programs"] = programs;
        }
        Json(health)
    });
    let sessions = Arc::new(LocalSessionManager::default());
    let mcp = StreamableHttpService::new(
        move || Ok(handler.clone()),
        Arc::clone(&sessions),
        config(address, door, streams.clone()),
    );
    let (in_flight, body_time) = (in_flight.clone(), door.request_times.body);
    Router::new()
        .route_service("/mcp", mcp)
        .route_layer(middleware::from_fn(move |request: Request, next| {
            let request = request.map(|body| connections::bound_body(body, body_time));
            track(in_flight.clone(), request, next)
        }))
        .route_layer(middleware::from_fn(move |request, next| {
            limit_sessions(Arc::clone(&sessions), request, next)
        }))
        .route("/healthz", health)
}

/// rmcp accepts any Origin until it is given a list.
fn config(
    address: SocketAddr,
    door: &Door,
    streams: CancellationToken,
) -> StreamableHttpServerConfig {
    const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
    let mut hosts: Vec<String> = LOOPBACK.map(str::to_owned).into();
    if !address.ip().is_unspecified() {
        hosts.push(address.to_string());
    }
    hosts.extend(door.allow_hosts.iter().cloned());
    let mut origins: Vec<String> = LOOPBACK.map(|host| format!("http://{host}:*")).into();
    origins.extend(door.allow_origins.iter().cloned());
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(door.body_bytes)
        .with_cancellation_token(streams)
}

/// Refuses a request that would begin one session too many.
async fn limit_sessions(
    sessions: Arc<LocalSessionManager>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let begins = request.method() == Method::POST
        && !headers.contains_key("mcp-session-id")
        && !headers.contains_key("mcp-method");
    if begins && sessions.sessions.read().await.len() >= MAX_SESSIONS {
        let message = "too many sessions: end one with DELETE, or try again in a few minutes";
        return (StatusCode::SERVICE_UNAVAILABLE, message).into_response();
    }
    next.run(request).await
}

/// Counts a call until the last byte of its answer is gone.
async fn track(in_flight: TaskTracker, request: Request, next: Next) -> Response {
    let endless = request.method() == Method::GET
        || request
            .headers()
            .get("mcp-method")
            .is_some_and(|method| method == "subscriptions/listen");
    if endless {
        return next.run(request).await;
    }
    let token = in_flight.token();
    let response = next.run(request).await;
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _held_until_the_body_is_dropped = &token;
            frame
        }))
    })
}
