//! JSON-RPC 2.0 in LSP framing: `mcp.discover`, `mcp.prompt.get`, `mcp.tool.invoke`. Requests run concurrently and are
//! answered by id.

mod message;
mod methods;

use std::collections::HashMap;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::BytesMut;
use futures_util::FutureExt as _;
use proto::frame::{self, Decoder};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use message::{Fault, Incoming, response};
pub(crate) use methods::Methods;

/// How many requests of one session run at once; further ones are not read yet.
const MAX_AT_ONCE: usize = 256;

/// How many answers may wait for a slow reader.
const MAX_UNREAD: usize = 64;

/// The running requests, by their id as JSON.
type Running = Arc<Mutex<HashMap<String, CancellationToken>>>;

/// Serves one session until the other side closes it or `shutdown`; running requests are still answered.
pub(crate) async fn serve<R, W>(
    methods: Methods,
    mut read: R,
    write: W,
    shutdown: &CancellationToken,
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (answers, unsent) = mpsc::channel(MAX_UNREAD);
    let gone = CancellationToken::new();
    // A session that is dropped ends its writer and its requests.
    let writer = AbortOnDropHandle::new(tokio::spawn(write_all(write, unsent, gone.clone())));
    let session = Session {
        methods: Arc::new(methods),
        answers,
        running: Running::default(),
        permits: Arc::new(Semaphore::new(MAX_AT_ONCE)),
        tasks: TaskTracker::new(),
    };

    let mut decoder = Decoder::default();
    let mut buffer = BytesMut::with_capacity(8 * 1024);
    let ended = 'session: loop {
        loop {
            match decoder.decode(&mut buffer, session.methods.max_message()) {
                Ok(Some(body)) => session.handle(&body).await,
                Ok(None) => break,
                Err(fault) => {
                    let refusal = Fault::invalid_request(fault.to_string());
                    session.answer(response(&Value::Null, Err(refusal))).await;
                    if fault.is_fatal() {
                        break 'session Ok(());
                    }
                }
            }
        }
        tokio::select! {
            read = read.read_buf(&mut buffer) => match read {
                Ok(0) => break Ok(()),
                Ok(_) => {}
                Err(error) => break Err(error),
            },
            () = shutdown.cancelled() => break Ok(()),
            () = gone.cancelled() => break Ok(()),
        }
    };

    session.tasks.close();
    tokio::select! {
        () = session.tasks.wait() => {}
        // The other side no longer reads answers.
        () = gone.cancelled() => {}
    }
    drop(session);
    let written = writer.await.unwrap_or_else(|error| Err(io::Error::other(error)));
    ended.and(written)
}

async fn write_all(
    mut write: impl AsyncWrite + Unpin,
    mut unsent: mpsc::Receiver<Vec<u8>>,
    gone: CancellationToken,
) -> io::Result<()> {
    let _gone_when_done = gone.drop_guard();
    while let Some(body) = unsent.recv().await {
        write.write_all(&frame::encode(&body)).await?;
        if unsent.is_empty() {
            write.flush().await?;
        }
    }
    write.flush().await
}

struct Session {
    methods: Arc<Methods>,
    answers: mpsc::Sender<Vec<u8>>,
    running: Running,
    permits: Arc<Semaphore>,
    tasks: TaskTracker,
}

impl Session {
    async fn answer(&self, body: Vec<u8>) {
        // Fails only if the other side has disconnected, which ends the session elsewhere.
        let _ = self.answers.send(body).await;
    }

    /// Handles one message: starts a request, applies a notification, refuses anything else.
    async fn handle(&self, body: &[u8]) {
        match Incoming::read(body) {
            Ok(Incoming::Request { id, method, params }) => self.begin(id, method, params).await,
            Ok(Incoming::Notification { method, params }) => {
                if method == "$/cancelRequest"
                    && let Some(id) = params.get("id")
                    && let Some(cancel) = lock(&self.running).get(&id.to_string())
                {
                    cancel.cancel();
                }
            }
            Err((id, fault)) => self.answer(response(&id, Err(fault))).await,
        }
    }

    async fn begin(&self, id: Value, method: String, params: Value) {
        let key = id.to_string();
        let cancel = CancellationToken::new();
        if lock(&self.running).contains_key(&key) {
            let fault =
                Fault::invalid_request(format!("a request with the id {key} is still running"));
            return self.answer(response(&id, Err(fault))).await;
        }
        lock(&self.running).insert(key.clone(), cancel.clone());
        // The semaphore is never closed.
        let permit = Arc::clone(&self.permits).acquire_owned().await.ok();
        let (methods, answers) = (Arc::clone(&self.methods), self.answers.clone());
        let running = Arc::clone(&self.running);
        self.tasks.spawn(async move {
            let handled =
                AssertUnwindSafe(methods.handle(&method, params, cancel)).catch_unwind().await;
            let result = handled.unwrap_or_else(|_| {
                tracing::error!(method, "a request's handler panicked");
                Err(Fault::internal("the gateway failed on this request"))
            });
            lock(&running).remove(&key);
            let _ = answers.send(response(&id, result)).await;
            drop(permit);
        });
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        for cancel in lock(&self.running).values() {
            cancel.cancel();
        }
    }
}

fn lock(running: &Running) -> std::sync::MutexGuard<'_, HashMap<String, CancellationToken>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}
