//! The server loop: slow clients are cut, floods are bounded, and a shutdown lets work under way finish.

mod in_place;
mod pool;

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::extract::Request;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::{HttpDoor, Metrics};
use in_place::InPlace;
use pool::{Place, Pool};

pub use pool::Peer;

/// What one connection may cost.
#[derive(Clone, Copy, Debug)]
pub struct ServerLimits {
    /// How long a client may take for the head of a request, and a kept-alive connection may idle.
    pub header_timeout: Duration,
    /// How long a client may take for the head of its first request.
    pub first_request_timeout: Duration,
    pub max_headers: usize,
    pub max_header_bytes: usize,
    /// Requests under way at once on one HTTP/2 connection.
    pub max_streams: u32,
    pub max_connections: usize,
    /// Connections of one address (IPv6: of one /64 network) on which no caller was admitted yet. The oldest is closed
    /// to make room for another.
    pub max_anonymous_per_address: usize,
    /// Whether a connection serves more than one request.
    pub keep_alive: bool,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            header_timeout: Duration::from_secs(30),
            first_request_timeout: Duration::from_secs(10),
            max_headers: 100,
            max_header_bytes: 64 * 1024,
            max_streams: 200,
            max_connections: 4_096,
            max_anonymous_per_address: 512,
            keep_alive: true,
        }
    }
}

/// How long calls that are ended at the end of the drain time have to answer.
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// Serves until `shutdown`, then lets requests under way finish for at most `drain`.
pub async fn serve(
    listener: TcpListener,
    door: HttpDoor,
    shutdown: CancellationToken,
    drain: Duration,
) -> io::Result<()> {
    serve_with(listener, door, shutdown, drain, ServerLimits::default()).await
}

/// Like `serve`, with limits other than the usual ones.
pub async fn serve_with(
    listener: TcpListener,
    door: HttpDoor,
    shutdown: CancellationToken,
    drain: Duration,
    limits: ServerLimits,
) -> io::Result<()> {
    let door = Arc::new(door);
    let mut serving =
        Serving { door, limits, stop: shutdown.clone(), cut: CancellationToken::new() };
    let pool = Pool::new(limits.max_connections, limits.max_anonymous_per_address);
    let before = TaskTracker::new();
    let tending = tend_metrics();
    let sessions = tokio::spawn({
        let door = Arc::clone(&serving.door);
        async move { door.tend().await }
    });

    accept(&listener, &serving, &pool, &before, shutdown.cancelled()).await;
    before.close();
    let deadline = Instant::now() + drain;
    // Probes must still hear that the gateway is not ready, so the listener stays open until the work is done.
    let during = TaskTracker::new();
    serving.stop = CancellationToken::new();
    serving.limits.keep_alive = false;
    let done = async {
        let _ = tokio::time::timeout_at(deadline, before.wait()).await;
    };
    accept(&listener, &serving, &pool, &during, done).await;
    drop(listener);
    if !before.is_empty() {
        tracing::warn!(
            connections = before.len(),
            "drain time is over; ending the calls that are left"
        );
        serving.door.stop_calls();
        let _ = tokio::time::timeout(ANSWER_TIME, before.wait()).await;
    }
    serving.cut.cancel();
    during.close();
    before.wait().await;
    during.wait().await;
    tending.abort();
    sessions.abort();
    Ok(())
}

async fn accept(
    listener: &TcpListener,
    serving: &Serving,
    pool: &Arc<Pool>,
    connections: &TaskTracker,
    until: impl Future<Output = ()>,
) {
    let mut until = pin!(until);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut until => return,
            accepted = async { (pool.permit().await, listener.accept().await) } => accepted,
        };
        match accepted {
            (permit, Ok((stream, address))) => {
                let serving = serving.clone();
                let place = pool.enter(address.ip(), permit);
                let peer = Arc::clone(place.peer());
                let task = connections.spawn(InPlace::new(serving.connection(stream, place)));
                peer.driven_by(task.abort_handle());
            }
            (_, Err(error)) => {
                // Out of file handles, most likely: more will be free soon.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// What ends a connection, or may.
enum Signal {
    /// By now a client has said what it wants.
    Silence,
    Stop,
    Cut,
}

#[derive(Clone)]
struct Serving {
    door: Arc<HttpDoor>,
    limits: ServerLimits,
    /// Lets every connection answer what it was asked and ends it.
    stop: CancellationToken,
    /// Ends every connection at once.
    cut: CancellationToken,
}

impl Serving {
    async fn connection(self, stream: TcpStream, place: Place) {
        let _ = stream.set_nodelay(true);
        let asked = Arc::new(AtomicBool::new(false));
        let service = {
            let (door, asked) = (Arc::clone(&self.door), Arc::clone(&asked));
            let peer = Arc::clone(place.peer());
            service_fn(move |request: Request<Incoming>| {
                asked.store(true, Ordering::Relaxed);
                let request = request.map(axum::body::Body::new);
                let answer = Arc::clone(&door).answer(request, Arc::clone(&peer));
                answer.map(Ok::<_, Infallible>)
            })
        };
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .keep_alive(self.limits.keep_alive)
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.header_timeout)
            .max_headers(self.limits.max_headers)
            .max_buf_size(self.limits.max_header_bytes.max(8 * 1024))
            .http2()
            .timer(TokioTimer::new())
            .max_header_list_size(u32::try_from(self.limits.max_header_bytes).unwrap_or(u32::MAX))
            .max_concurrent_streams(self.limits.max_streams)
            .keep_alive_interval(Some(self.limits.header_timeout))
            .keep_alive_timeout(self.limits.header_timeout);
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        let mut signals = self.signals();
        loop {
            tokio::select! {
                biased;
                ended = connection.as_mut() => {
                    if let Err(error) = ended {
                        tracing::debug!(error, "connection ended");
                    }
                    return;
                }
                Some(signal) = signals.next() => match signal {
                    Signal::Silence if asked.load(Ordering::Relaxed) => {}
                    Signal::Stop => connection.as_mut().graceful_shutdown(),
                    Signal::Silence | Signal::Cut => return,
                }
            }
        }
    }

    /// What a connection is told, each once. Gathered in a way that looks at none of them until it speaks: connections
    /// are driven on with every packet.
    fn signals(&self) -> FuturesUnordered<BoxFuture<'_, Signal>> {
        // hyper's own time-out begins once it knows which protocol is spoken; a client that never says is cut here.
        let limits = &self.limits;
        let first = limits.first_request_timeout.min(limits.header_timeout);
        let silence = tokio::time::sleep(first);
        FuturesUnordered::from_iter([
            silence.map(|()| Signal::Silence).boxed(),
            self.stop.cancelled().map(|()| Signal::Stop).boxed(),
            self.cut.cancelled().map(|()| Signal::Cut).boxed(),
        ])
    }
}

fn tend_metrics() -> tokio::task::JoinHandle<()> {
    tokio::spawn(async {
        // Every call leaves samples: they are not to pile up for long.
        let mut tick = tokio::time::interval(Duration::from_millis(250));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            Metrics::tend();
        }
    })
}
