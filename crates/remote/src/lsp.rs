//! The client of the LSP door, for commands that connect to the process that owns the data folder.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::BytesMut;
use proto::frame::{self, Decoder};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Why a request got no result.
#[derive(Debug, thiserror::Error)]
pub enum LspError {
    #[error("the request was refused: {message} ({code})")]
    Refused { code: i64, message: String, data: Option<Value> },
    #[error("the connection was closed before an answer came")]
    Closed,
}

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Result<Value, LspError>>>>>;

/// One connection with any number of concurrent requests.
pub struct LspClient {
    unsent: mpsc::UnboundedSender<Vec<u8>>,
    waiting: Waiting,
    next: AtomicU64,
    reader: JoinHandle<()>,
}

impl LspClient {
    /// Connects to a door over a stream, with LSP framing.
    pub fn connect(stream: impl AsyncRead + AsyncWrite + Send + 'static) -> Self {
        let (read, write) = tokio::io::split(stream);
        let waiting = Waiting::default();
        let (unsent, queue) = mpsc::unbounded_channel();
        tokio::spawn(write_requests(write, queue));
        let reader = tokio::spawn(read_answers(read, Arc::clone(&waiting)));
        Self { unsent, waiting, next: AtomicU64::new(1), reader }
    }

    /// Sends a request and waits for its result. A caller that stops waiting cancels it.
    pub async fn request(&self, method: &str, params: Value) -> Result<Value, LspError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        lock(&self.waiting).insert(id, answer);
        let _cancel = CancelOnDrop { client: self, id };
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        // The reader drops all waiting requests when it ends, which may have been just before this one was added.
        if self.reader.is_finished() {
            return Err(LspError::Closed);
        }
        answered.await.unwrap_or(Err(LspError::Closed))
    }

    fn send(&self, message: &Value) -> Result<(), LspError> {
        let frame = frame::encode(message.to_string().as_bytes());
        self.unsent.send(frame).map_err(|_| LspError::Closed)
    }
}

impl Drop for LspClient {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// Cancels a request when its caller stops waiting.
struct CancelOnDrop<'a> {
    client: &'a LspClient,
    id: u64,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if lock(&self.client.waiting).remove(&self.id).is_some() {
            let params = json!({"id": self.id});
            let cancel = json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": params});
            let _ = self.client.send(&cancel);
        }
    }
}

async fn write_requests(
    mut write: impl AsyncWrite + Unpin,
    mut queue: mpsc::UnboundedReceiver<Vec<u8>>,
) {
    while let Some(frame) = queue.recv().await {
        let sent = async {
            write.write_all(&frame).await?;
            write.flush().await
        };
        if let Err(error) = sent.await {
            tracing::debug!(%error, "the connection cannot be written to");
            return;
        }
    }
}

async fn read_answers(mut read: impl AsyncRead + Unpin, waiting: Waiting) {
    let mut decoder = Decoder::default();
    let mut buffer = BytesMut::with_capacity(8 * 1024);
    'connection: loop {
        loop {
            // The owner limits the size of answers.
            match decoder.decode(&mut buffer, usize::MAX) {
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
    // Dropping the senders ends all waiting requests.
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

#[cfg(test)]
mod tests;
