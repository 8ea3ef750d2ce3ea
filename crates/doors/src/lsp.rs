//! JSON-RPC 2.0 in LSP framing: `mcp.discover`, `mcp.prompt.get`, `mcp.tool.invoke`. Requests run side by side and are
//! answered by id.

pub(crate) mod client;
mod desk;
pub(crate) mod frame;
mod message;

use std::collections::HashMap;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::BytesMut;
use futures_util::FutureExt as _;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

pub(crate) use desk::Desk;
use frame::Decoder;
use message::{Fault, Incoming, response};

/// Requests of one session that are worked on at once; more wait to be read.
const MAX_AT_ONCE: usize = 256;

/// Answers that wait for a slow reader.
const MAX_UNREAD: usize = 64;

/// Requests under way, by their id as JSON.
type UnderWay = Arc<Mutex<HashMap<String, CancellationToken>>>;

/// Serves one session until the other side closes it or `shutdown`; requests under way are still answered.
pub(crate) async fn serve<R, W>(
    desk: Desk,
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
    // A session that is cut short takes its writer and its requests with it.
    let writer = AbortOnDropHandle::new(tokio::spawn(write_all(write, unsent, gone.clone())));
    let session = Session {
        desk: Arc::new(desk),
        answers,
        under_way: UnderWay::default(),
        places: Arc::new(Semaphore::new(MAX_AT_ONCE)),
        tasks: TaskTracker::new(),
    };

    let mut decoder = Decoder::default();
    let mut buffer = BytesMut::with_capacity(8 * 1024);
    let ended = 'session: loop {
        loop {
            match decoder.decode(&mut buffer, session.desk.max_message()) {
                Ok(Some(body)) => session.take(&body).await,
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
        // Nobody is left to read the answers.
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
    desk: Arc<Desk>,
    answers: mpsc::Sender<Vec<u8>>,
    under_way: UnderWay,
    places: Arc<Semaphore>,
    tasks: TaskTracker,
}

impl Session {
    async fn answer(&self, body: Vec<u8>) {
        // Fails only if the other side is gone, which ends the session elsewhere.
        let _ = self.answers.send(body).await;
    }

    /// Takes one message: a request is begun, a notification noted, anything else refused.
    async fn take(&self, body: &[u8]) {
        match Incoming::read(body) {
            Ok(Incoming::Request { id, method, params }) => self.begin(id, method, params).await,
            Ok(Incoming::Notification { method, params }) => {
                if method == "$/cancelRequest"
                    && let Some(id) = params.get("id")
                    && let Some(cancel) = lock(&self.under_way).get(&id.to_string())
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
        if lock(&self.under_way).contains_key(&key) {
            let fault =
                Fault::invalid_request(format!("a request with the id {key} is still under way"));
            return self.answer(response(&id, Err(fault))).await;
        }
        lock(&self.under_way).insert(key.clone(), cancel.clone());
        // The semaphore is never closed.
        let place = Arc::clone(&self.places).acquire_owned().await.ok();
        let (desk, answers) = (Arc::clone(&self.desk), self.answers.clone());
        let under_way = Arc::clone(&self.under_way);
        self.tasks.spawn(async move {
            let handled =
                AssertUnwindSafe(desk.handle(&method, params, cancel)).catch_unwind().await;
            let result = handled.unwrap_or_else(|_| {
                tracing::error!(method, "a request's handler panicked");
                Err(Fault::internal("the gateway failed on this request"))
            });
            lock(&under_way).remove(&key);
            let _ = answers.send(response(&id, result)).await;
            drop(place);
        });
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        for cancel in lock(&self.under_way).values() {
            cancel.cancel();
        }
    }
}

fn lock(under_way: &UnderWay) -> std::sync::MutexGuard<'_, HashMap<String, CancellationToken>> {
    under_way.lock().unwrap_or_else(PoisonError::into_inner)
}
