mod in_place;
mod linger;
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
use http::header::CONNECTION;
use http::{HeaderValue, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::service::HttpService;
use in_place::InPlace;
use linger::LingeringStream;
use pool::{Pool, Slot};

pub use pool::Peer;

/// Limits of connections.
#[derive(Clone, Copy, Debug)]
pub struct ServerLimits {
    /// How long a client may take for the head of a request, and how long a connection may be idle.
    pub header_timeout: Duration,
    /// How long a client may take for the head of its first request.
    pub first_request_timeout: Duration,
    pub max_headers: usize,
    pub max_header_bytes: usize,
    /// Concurrent requests on one HTTP/2 connection.
    pub max_streams: u32,
    pub max_connections: usize,
    /// Connections of one address (IPv6: of one /64 network) without an admitted caller. The oldest is closed when another
    /// one needs its place.
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

/// How long calls have to answer that are cancelled at the end of the drain time.
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// How long connections without a running request stay open once the gateway stops: a request may be on its way, and
/// would be lost if its connection were closed.
const IDLE_TIME: Duration = Duration::from_millis(300);

/// Serves until `shutdown`, then lets running requests finish for at most `drain`.
pub fn serve(
    listener: TcpListener,
    service: Arc<dyn HttpService>,
    shutdown: CancellationToken,
    drain: Duration,
) -> BoxFuture<'static, io::Result<()>> {
    serve_with(listener, service, shutdown, drain, ServerLimits::default())
}

/// Like `serve`, with other limits than the default.
///
/// Boxed, so that all of HTTP is compiled in this crate and not in each program.
pub fn serve_with(
    listener: TcpListener,
    service: Arc<dyn HttpService>,
    shutdown: CancellationToken,
    drain: Duration,
    limits: ServerLimits,
) -> BoxFuture<'static, io::Result<()>> {
    Box::pin(run(listener, service, shutdown, drain, limits))
}

async fn run(
    listener: TcpListener,
    service: Arc<dyn HttpService>,
    shutdown: CancellationToken,
    drain: Duration,
    limits: ServerLimits,
) -> io::Result<()> {
    let mut serving = Serving {
        service,
        limits,
        stop: shutdown.clone(),
        stopping: Arc::default(),
        cut: CancellationToken::new(),
    };
    let pool = Pool::new(limits.max_connections, limits.max_anonymous_per_address);
    let before = TaskTracker::new();
    let tending = tokio::spawn({
        let service = Arc::clone(&serving.service);
        async move { service.tend().await }
    });

    accept(&listener, &serving, &pool, &before, shutdown.cancelled()).await;
    serving.stopping.store(true, Ordering::Relaxed);
    before.close();
    let deadline = Instant::now() + drain;
    // The listener stays open until the requests are done, so that probes learn that the gateway is not ready.
    let during = TaskTracker::new();
    serving.stop = CancellationToken::new();
    serving.limits.keep_alive = false;
    let done = async {
        let _ = tokio::time::timeout_at(deadline, before.wait()).await;
    };
    accept(&listener, &serving, &pool, &during, done).await;
    accept_waiting(listener, &serving, &pool, &during);
    during.close();
    if !before.is_empty() {
        tracing::warn!(
            connections = before.len(),
            "drain time is over; cancelling the remaining calls"
        );
        serving.service.stop_requests();
        let _ = tokio::time::timeout(ANSWER_TIME, before.wait()).await;
    }
    let _ = tokio::time::timeout(IDLE_TIME, during.wait()).await;
    serving.cut.cancel();
    before.wait().await;
    during.wait().await;
    tending.abort();
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
                serving.spawn(stream, pool.enter(address.ip(), permit), connections);
            }
            (_, Err(error)) => {
                // Most likely out of file descriptors; some will be free soon.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Closes a listener after the connections that wait to be accepted: they would be reset with it.
fn accept_waiting(
    listener: TcpListener,
    serving: &Serving,
    pool: &Arc<Pool>,
    connections: &TaskTracker,
) {
    let Ok(listener) = listener.into_std() else { return };
    while let Ok((stream, address)) = listener.accept() {
        let stream = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream));
        if let Ok(stream) = stream {
            serving.spawn(stream, pool.enter(address.ip(), None), connections);
        }
    }
}

/// What may end a connection.
enum Signal {
    /// The time for the first request is over.
    FirstRequestDue,
    Stop,
    Cut,
}

#[derive(Clone)]
struct Serving {
    service: Arc<dyn HttpService>,
    limits: ServerLimits,
    /// Ends every connection after its running requests.
    stop: CancellationToken,
    /// Whether the gateway stops: each answer is then the last one on its connection.
    stopping: Arc<AtomicBool>,
    /// Ends every connection at once.
    cut: CancellationToken,
}

impl Serving {
    fn spawn(&self, stream: TcpStream, slot: Slot, connections: &TaskTracker) {
        let peer = Arc::clone(slot.peer());
        let task = connections.spawn(InPlace::new(self.clone().connection(stream, slot)));
        peer.set_task(task.abort_handle());
    }

    async fn connection(self, stream: TcpStream, slot: Slot) {
        let _ = stream.set_nodelay(true);
        let requested = Arc::new(AtomicBool::new(false));
        let service = {
            let (answering, requested) = (Arc::clone(&self.service), Arc::clone(&requested));
            let (peer, stopping) = (Arc::clone(slot.peer()), Arc::clone(&self.stopping));
            service_fn(move |request: Request<Incoming>| {
                requested.store(true, Ordering::Relaxed);
                // HTTP/2 has its own message for that.
                let closable = request.version() < Version::HTTP_2;
                let request = request.map(axum::body::Body::new);
                let answer = Arc::clone(&answering).answer(request, Arc::clone(&peer));
                let stopping = Arc::clone(&stopping);
                answer.map(move |mut response| {
                    if closable && stopping.load(Ordering::Relaxed) {
                        response
                            .headers_mut()
                            .insert(CONNECTION, HeaderValue::from_static("close"));
                    }
                    Ok::<_, Infallible>(response)
                })
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
        let stream = LingeringStream::new(stream, Arc::clone(&self.stopping));
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
                    Signal::FirstRequestDue if requested.load(Ordering::Relaxed) => {}
                    Signal::Stop => connection.as_mut().graceful_shutdown(),
                    Signal::FirstRequestDue | Signal::Cut => return,
                }
            }
        }
    }

    /// The signals of a connection, each once. `FuturesUnordered` polls only those that were woken, and connections are
    /// polled with every packet.
    fn signals(&self) -> FuturesUnordered<BoxFuture<'_, Signal>> {
        // hyper's timeout begins once it knows the protocol; this one covers clients that never send a byte.
        let limits = &self.limits;
        let first = limits.first_request_timeout.min(limits.header_timeout);
        let first_request = tokio::time::sleep(first);
        let idle = self.stop.cancelled().then(|()| tokio::time::sleep(IDLE_TIME));
        FuturesUnordered::from_iter([
            first_request.map(|()| Signal::FirstRequestDue).boxed(),
            idle.map(|()| Signal::Stop).boxed(),
            self.cut.cancelled().map(|()| Signal::Cut).boxed(),
        ])
    }
}
