//! The other end of the LSP door, for commands that talk to the process that owns the data folder.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::BytesMut;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, WriteHalf};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::frame::{self, Decoder};

/// Why a request got no result.
#[derive(Debug, thiserror::Error)]
pub enum LspError {
    #[error("the request was refused: {message} ({code})")]
    Refused { code: i64, message: String, data: Option<Value> },
    #[error("the connection was closed before an answer came")]
    Closed,
    #[error("the request could not be sent: {0}")]
    Io(#[from] io::Error),
}

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Result<Value, LspError>>>>>;

/// One connection on which any number of requests may be under way.
pub struct LspClient<S> {
    write: tokio::sync::Mutex<WriteHalf<S>>,
    waiting: Waiting,
    next: AtomicU64,
    reader: JoinHandle<()>,
}

impl<S: AsyncRead + AsyncWrite + Send + 'static> LspClient<S> {
    /// Speaks LSP framing on a stream whose other end is a door of ours.
    pub fn connect(stream: S) -> Self {
        let (read, write) = tokio::io::split(stream);
        let waiting = Waiting::default();
        let reader = tokio::spawn(read_answers(read, Arc::clone(&waiting)));
        Self { write: tokio::sync::Mutex::new(write), waiting, next: AtomicU64::new(1), reader }
    }

    /// Sends a request and waits for its result. A caller that stops waiting cancels it.
    pub async fn request(&self, method: &str, params: Value) -> Result<Value, LspError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        lock(&self.waiting).insert(id, answer);
        if self.reader.is_finished() {
            lock(&self.waiting).remove(&id);
            return Err(LspError::Closed);
        }
        let _forgotten = Forget { waiting: &self.waiting, id };
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let body = serde_json::to_vec(&message).map_err(io::Error::from)?;
        {
            let mut write = self.write.lock().await;
            write.write_all(&frame::encode(&body)).await?;
            write.flush().await?;
        }
        answered.await.unwrap_or(Err(LspError::Closed))
    }
}

impl<S> Drop for LspClient<S> {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// Nobody waits for this answer any more.
struct Forget<'a> {
    waiting: &'a Waiting,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        lock(self.waiting).remove(&self.id);
    }
}

async fn read_answers(mut read: impl AsyncRead + Unpin, waiting: Waiting) {
    let mut decoder = Decoder::default();
    let mut buffer = BytesMut::with_capacity(8 * 1024);
    'connection: loop {
        loop {
            match decoder.decode(&mut buffer) {
                Ok(Some(body)) => deliver(&body, &waiting),
                Ok(None) => break,
                Err(fault) => {
                    tracing::warn!(%fault, "the answer cannot be read");
                    break 'connection;
                }
            }
        }
        match read.read_buf(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
    }
    // Dropping the senders tells everyone who still waits.
    lock(&waiting).clear();
}

fn deliver(body: &[u8], waiting: &Waiting) {
    let Ok(Value::Object(mut message)) = serde_json::from_slice(body) else {
        tracing::warn!("an answer is not a JSON object");
        return;
    };
    let Some(id) = message.get("id").and_then(Value::as_u64) else {
        return;
    };
    let result = match message.remove("error") {
        None => Ok(message.remove("result").unwrap_or_default()),
        Some(mut error) => Err(LspError::Refused {
            code: error["code"].as_i64().unwrap_or_default(),
            message: error["message"].as_str().unwrap_or_default().to_owned(),
            data: error.get_mut("data").map(Value::take),
        }),
    };
    if let Some(answer) = lock(waiting).remove(&id) {
        let _ = answer.send(result);
    }
}

fn lock(
    waiting: &Waiting,
) -> std::sync::MutexGuard<'_, HashMap<u64, oneshot::Sender<Result<Value, LspError>>>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}
