//! A pool of plain HTTP/1.1 connections. Each is polled by the call that uses it instead of by a task of its own, which
//! saves two wake-ups per call.

mod connection;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::header::HOST;
use http::uri::{Authority, PathAndQuery};
use http::{HeaderValue, Uri};
use tokio::time::Instant;

use super::connect::Connector;
use super::error::{FetchError, Phase};
use super::sent::Sending;
use connection::Connection;
pub(super) use connection::IncomingBody;

/// How long a connection may be idle, and how often idle ones are looked for.
pub(super) const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// High, because an MCP server behind the gateway is called by all of its clients at once, and a closed connection has to be
/// dialled again.
pub(super) const MAX_IDLE_PER_HOST: usize = 256;

/// The idle connections.
#[derive(Default)]
pub(super) struct ConnectionPool {
    idle: Mutex<HashMap<Authority, Vec<Idle>>>,
    swept: AtomicBool,
}

struct Idle {
    connection: Connection,
    since: Instant,
}

impl ConnectionPool {
    /// Sends a request over an idle connection, or else a new one.
    pub(super) async fn request(
        self: &Arc<Self>,
        connector: &Connector,
        mut request: http::Request<Sending>,
        timeout: Duration,
    ) -> Result<http::Response<IncomingBody>, FetchError> {
        let uri = request.uri().clone();
        let Some(authority) = uri.authority().cloned() else {
            return Err(FetchError::Protocol { why: "the request names no host".to_owned() });
        };
        let host = HeaderValue::from_str(authority.as_str());
        let host = host.map_err(|e| FetchError::Protocol { why: e.to_string() })?;
        request.headers_mut().insert(HOST, host);
        // A request to the server itself names only the path (RFC 9112, section 3.2.1).
        let path = uri.path_and_query().cloned();
        *request.uri_mut() = path.unwrap_or_else(|| PathAndQuery::from_static("/")).into();
        while let Some(connection) = self.take(&authority) {
            match connection.send(request, self, &authority).await {
                Ok(answer) => return Ok(answer),
                // The connection was closed while idle, and nothing of the request was sent.
                Err((_, Some(unsent))) => request = unsent,
                Err((cause, None)) => return Err(cause),
            }
        }
        // Boxed to keep the common future small.
        let dialling = Box::pin(self.dial(connector, uri));
        let dialled = tokio::time::timeout(timeout, dialling).await;
        let late = FetchError::Timeout { phase: Phase::Connect, after: timeout };
        let connection = dialled.unwrap_or(Err(late))?;
        connection.send(request, self, &authority).await.map_err(|(cause, _)| cause)
    }

    async fn dial(
        self: &Arc<Self>,
        connector: &Connector,
        uri: Uri,
    ) -> Result<Connection, FetchError> {
        let connection = Connection::open(connector.clone().connect(uri).await?).await?;
        if !self.swept.swap(true, Ordering::Relaxed) {
            let pool = Arc::downgrade(self);
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(IDLE_TIMEOUT).await;
                    let Some(pool) = pool.upgrade() else { return };
                    pool.sweep();
                }
            });
        }
        Ok(connection)
    }

    /// The most recently used connection, so that the others can time out.
    fn take(&self, authority: &Authority) -> Option<Connection> {
        let mut idle = self.idle();
        let connections = idle.get_mut(authority)?;
        while let Some(Idle { mut connection, since }) = connections.pop() {
            if since.elapsed() < IDLE_TIMEOUT && connection.is_free() {
                return Some(connection);
            }
        }
        None
    }

    fn put(&self, authority: Authority, connection: Connection) {
        let mut idle = self.idle();
        let connections = idle.entry(authority).or_default();
        if connections.len() < MAX_IDLE_PER_HOST {
            connections.push(Idle { connection, since: Instant::now() });
        }
    }

    /// Drops connections that timed out or that the server has closed.
    fn sweep(&self) {
        let mut idle = self.idle();
        idle.retain(|_, connections| {
            connections.retain_mut(|idle| {
                idle.since.elapsed() < IDLE_TIMEOUT && idle.connection.is_free()
            });
            !connections.is_empty()
        });
    }

    fn idle(&self) -> MutexGuard<'_, HashMap<Authority, Vec<Idle>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
