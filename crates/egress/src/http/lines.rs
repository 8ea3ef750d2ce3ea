//! Plain HTTP/1.1 connections, each driven by the call that uses it: no task stands between a call and its socket, so
//! none has to be woken on the way there and on the way back.

mod line;

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
pub(super) use line::Arriving;
use line::Line;

/// How long a connection may lie unused, and how often such are looked for.
pub(super) const IDLE: Duration = Duration::from_secs(60);

/// As many calls at once can end without closing a connection that the next call would have to dial again. An MCP
/// server behind the gateway is called by all of its clients at once.
pub(super) const IDLE_PER_HOST: usize = 256;

/// The connections that nobody uses at the moment.
#[derive(Default)]
pub(super) struct Lines {
    idle: Mutex<HashMap<Authority, Vec<Idle>>>,
    swept: AtomicBool,
}

struct Idle {
    line: Line,
    since: Instant,
}

impl Lines {
    /// Sends a request over a connection that is at hand, or else a new one.
    pub(super) async fn request(
        self: &Arc<Self>,
        connector: &Connector,
        mut request: http::Request<Sending>,
        patience: Duration,
    ) -> Result<http::Response<Arriving>, FetchError> {
        let uri = request.uri().clone();
        let Some(authority) = uri.authority().cloned() else {
            return Err(FetchError::Protocol { why: "the request names no host".to_owned() });
        };
        let host = HeaderValue::from_str(authority.as_str());
        let host = host.map_err(|e| FetchError::Protocol { why: e.to_string() })?;
        request.headers_mut().insert(HOST, host);
        // To the server itself only the path is said.
        let path = uri.path_and_query().cloned();
        *request.uri_mut() = path.unwrap_or_else(|| PathAndQuery::from_static("/")).into();
        while let Some(line) = self.take(&authority) {
            match line.send(request, (self, &authority)).await {
                Ok(answer) => return Ok(answer),
                // It died while nobody looked, and nothing of the request has left.
                Err((_, Some(unsent))) => request = unsent,
                Err((cause, None)) => return Err(cause),
            }
        }
        // Boxed, as is all that few calls need: every call would carry the room for it.
        let dialling = Box::pin(self.dial(connector, uri));
        let dialled = tokio::time::timeout(patience, dialling).await;
        let late = FetchError::Timeout { phase: Phase::Connect, after: patience };
        let line = dialled.unwrap_or(Err(late))?;
        line.send(request, (self, &authority)).await.map_err(|(cause, _)| cause)
    }

    async fn dial(self: &Arc<Self>, connector: &Connector, uri: Uri) -> Result<Line, FetchError> {
        let line = Line::open(connector.clone().connect(uri).await?).await?;
        if !self.swept.swap(true, Ordering::Relaxed) {
            let lines = Arc::downgrade(self);
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(IDLE).await;
                    let Some(lines) = lines.upgrade() else { return };
                    lines.sweep();
                }
            });
        }
        Ok(line)
    }

    /// The connection that was used last: the others may fall idle.
    fn take(&self, authority: &Authority) -> Option<Line> {
        let mut idle = self.idle();
        let lines = idle.get_mut(authority)?;
        while let Some(Idle { mut line, since }) = lines.pop() {
            if since.elapsed() < IDLE && line.is_free() {
                return Some(line);
            }
        }
        None
    }

    fn put(&self, authority: Authority, line: Line) {
        let mut idle = self.idle();
        let lines = idle.entry(authority).or_default();
        if lines.len() < IDLE_PER_HOST {
            lines.push(Idle { line, since: Instant::now() });
        }
    }

    /// Closes what has lain unused for long, and what the server has closed.
    fn sweep(&self) {
        let mut idle = self.idle();
        idle.retain(|_, lines| {
            lines.retain_mut(|idle| idle.since.elapsed() < IDLE && idle.line.is_free());
            !lines.is_empty()
        });
    }

    fn idle(&self) -> MutexGuard<'_, HashMap<Authority, Vec<Idle>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
