//! The server loop: limits connections and disconnects slow clients.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use futures_util::{StreamExt as _, stream};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Connections at once; further ones wait to be accepted.
const MAX_CONNECTIONS: usize = 1024;

/// The pause after an error of the machine, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// How long a client may take to send a request.
#[derive(Debug, Clone, Copy)]
pub struct RequestTimes {
    /// For the head, and for an idle connection.
    pub head: Duration,
    /// For the body.
    pub body: Duration,
}

impl Default for RequestTimes {
    fn default() -> Self {
        Self { head: Duration::from_secs(30), body: Duration::from_secs(120) }
    }
}

/// Serves until `stop`, then until the last connection has ended.
pub(super) async fn serve(
    listener: TcpListener,
    app: Router,
    times: RequestTimes,
    stop: CancellationToken,
) {
    // A client that sends less than the beginning of a request would not be timed while its version is unknown.
    let mut http = auto::Builder::new(TokioExecutor::new()).http1_only();
    http.http1().timer(TokioTimer::new()).header_read_timeout(times.head);
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let Some((stream, place)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let (http, app, stop) = (http.clone(), app.clone(), stop.clone());
        connections.spawn(async move {
            let service = TowerToHyperService::new(app);
            let connection = http.serve_connection(TokioIo::new(stream), service);
            tokio::pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = stop.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(error, "a connection ended");
            }
            drop(place);
        });
    }
    // New connections are refused.
    drop(listener);
    connections.close();
    connections.wait().await;
}

/// The next connection, or nothing if the machine has no room for one.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _address)) => {
            // Only slower without it.
            let _ = stream.set_nodelay(true);
            Some((stream, place))
        }
        Err(error) => {
            tracing::warn!(%error, "a connection could not be accepted");
            None
        }
    }
}

/// A body that fails when it takes too long.
pub(super) fn bound_body(body: Body, time: Duration) -> Body {
    let end = Instant::now() + time;
    let frames = stream::unfold(Some(body.into_data_stream()), move |frames| async move {
        let mut frames = frames?;
        match timeout_at(end, frames.next()).await {
            Ok(frame) => Some((frame?.map_err(io::Error::other), Some(frames))),
            Err(_elapsed) => Some((Err(io::ErrorKind::TimedOut.into()), None)),
        }
    });
    Body::from_stream(frames)
}
