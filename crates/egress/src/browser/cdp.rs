//! The Chrome DevTools Protocol over two pipes: JSON messages that each end with a zero byte.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// The largest message that is read; a larger one ends the connection.
const MAX_MESSAGE: usize = 96 << 20;

/// Messages that wait to be written.
const QUEUE: usize = 1024;

/// Events of one session that wait to be handled; what comes on top is dropped.
const EVENTS: usize = 8192;

/// Why a command has no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum CdpError {
    /// Chromium has ended, or the pipe is broken.
    #[error("Chromium has ended")]
    Closed,
    /// Chromium refused the command, usually because the page has gone elsewhere meanwhile.
    #[error("{0}")]
    Refused(String),
}

/// An event, still as JSON.
pub(super) struct Event {
    pub(super) method: String,
    params: Option<Box<RawValue>>,
}

impl Event {
    /// The parameters; `None` if they are not what we know.
    pub(super) fn params<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.params.as_ref()?.get()).ok()
    }
}

/// One line of communication with a Chromium process.
pub(super) struct Connection {
    outgoing: mpsc::Sender<Vec<u8>>,
    next: AtomicU64,
    waiting: Mutex<Waiting>,
    closed: CancellationToken,
}

type Outcome = Result<Box<RawValue>, CdpError>;

#[derive(Default)]
struct Waiting {
    answers: HashMap<u64, oneshot::Sender<Outcome>>,
    /// Sessions by id; the browser itself has the empty one.
    sessions: HashMap<String, mpsc::Sender<Event>>,
}

#[derive(Serialize)]
struct Command<'a, P> {
    id: u64,
    method: &'a str,
    params: P,
    #[serde(rename = "sessionId", skip_serializing_if = "str::is_empty")]
    session: &'a str,
}

#[derive(Deserialize)]
struct Message {
    id: Option<u64>,
    result: Option<Box<RawValue>>,
    error: Option<Fault>,
    method: Option<String>,
    params: Option<Box<RawValue>>,
    #[serde(rename = "sessionId", default)]
    session: String,
}

#[derive(Deserialize)]
struct Fault {
    message: String,
}

impl Connection {
    /// Begins to read and write; both end with the pipes.
    pub(super) fn open(
        input: impl AsyncWrite + Send + Unpin + 'static,
        output: impl AsyncRead + Send + Unpin + 'static,
    ) -> Arc<Self> {
        let (outgoing, queue) = mpsc::channel(QUEUE);
        let connection = Arc::new(Self {
            outgoing,
            next: AtomicU64::new(1),
            waiting: Mutex::default(),
            closed: CancellationToken::new(),
        });
        tokio::spawn(write(input, queue, connection.closed.clone()));
        tokio::spawn(read(output, Arc::clone(&connection)));
        connection
    }

    /// Whether no more commands are answered.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.is_cancelled()
    }

    /// Resolves when no more commands are answered.
    pub(super) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// Fails all commands.
    pub(super) fn close(&self) {
        self.closed.cancel();
        *self.waiting() = Waiting::default();
    }

    /// Sends a command of a session, or of the browser itself if `session` is empty, and waits for its result.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        session: &str,
        method: &str,
        params: impl Serialize,
    ) -> Result<T, CdpError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        self.waiting().answers.insert(id, answer);
        // A caller that stops waiting leaves no entry behind.
        let _entry = Entry { connection: self, id };
        let message = encode(&Command { id, method, params, session })?;
        self.outgoing.send(message).await.map_err(|_| CdpError::Closed)?;
        let result = tokio::select! {
            result = answered => result.map_err(|_| CdpError::Closed)??,
            () = self.closed() => return Err(CdpError::Closed),
        };
        serde_json::from_str(result.get()).map_err(|error| CdpError::Refused(error.to_string()))
    }

    /// Sends a command without waiting for its result; it is dropped if too many are waiting.
    pub(super) fn post(&self, session: &str, method: &str, params: impl Serialize) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        if let Ok(message) = encode(&Command { id, method, params, session }) {
            let _ = self.outgoing.try_send(message);
        }
    }

    /// The events of a session from now on.
    pub(super) fn listen(&self, session: &str) -> mpsc::Receiver<Event> {
        let (sender, events) = mpsc::channel(EVENTS);
        self.waiting().sessions.insert(session.to_owned(), sender);
        events
    }

    /// Ends [`Connection::listen`].
    pub(super) fn forget(&self, session: &str) {
        self.waiting().sessions.remove(session);
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn receive(&self, bytes: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Message>(bytes) else {
            return tracing::debug!("Chromium sent a message that is not understood");
        };
        if let Some(id) = message.id {
            let Some(answer) = self.waiting().answers.remove(&id) else { return };
            let outcome = match (message.result, message.error) {
                (Some(result), _) => Ok(result),
                (None, fault) => {
                    let why = fault.map_or("no result".to_owned(), |fault| fault.message);
                    Err(CdpError::Refused(why))
                }
            };
            let _ = answer.send(outcome);
        } else if let Some(method) = message.method {
            let waiting = self.waiting();
            if let Some(session) = waiting.sessions.get(&message.session) {
                let _ = session.try_send(Event { method, params: message.params });
            }
        }
    }
}

/// A call that waits for its answer.
struct Entry<'a> {
    connection: &'a Connection,
    id: u64,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.connection.waiting().answers.remove(&self.id);
    }
}

fn encode(command: &impl Serialize) -> Result<Vec<u8>, CdpError> {
    let mut message =
        serde_json::to_vec(command).map_err(|error| CdpError::Refused(error.to_string()))?;
    message.push(0);
    Ok(message)
}

async fn write(
    mut pipe: impl AsyncWrite + Unpin,
    mut queue: mpsc::Receiver<Vec<u8>>,
    closed: CancellationToken,
) {
    let writing = async {
        while let Some(message) = queue.recv().await {
            if pipe.write_all(&message).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = writing => {}
        () = closed.cancelled() => {}
    }
}

async fn read(mut pipe: impl AsyncRead + Unpin, connection: Arc<Connection>) {
    let mut buffer = Vec::with_capacity(64 * 1024);
    // Up to here there is no zero byte.
    let mut searched = 0;
    loop {
        buffer.reserve(64 * 1024);
        let length = tokio::select! {
            length = pipe.read_buf(&mut buffer) => length,
            () = connection.closed() => break,
        };
        if !matches!(length, Ok(1..)) || buffer.len() > MAX_MESSAGE {
            break;
        }
        let mut start = 0;
        while let Some(length) = buffer[searched..].iter().position(|byte| *byte == 0) {
            connection.receive(&buffer[start..searched + length]);
            start = searched + length + 1;
            searched = start;
        }
        buffer.drain(..start);
        // A page of many megabytes must not stay in memory.
        if buffer.is_empty() && buffer.capacity() > 1 << 20 {
            buffer = Vec::with_capacity(64 * 1024);
        }
        searched = buffer.len();
    }
    connection.close();
}

#[cfg(test)]
mod tests;
