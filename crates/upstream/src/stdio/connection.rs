use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use strip::Client;
use tokio::sync::{mpsc, oneshot};

use crate::era::Era;
use crate::error::{AskResult, TransportError};
use crate::handshake::ServerInfo;
use crate::notifications::SessionLogLevel;
use crate::rpc::{self, Params, RpcRequest};

/// The gateway's end of one process: a request is a line in the queue and an entry in the table.
pub(crate) struct Connection {
    outgoing: mpsc::Sender<Bytes>,
    pending: Arc<Pending>,
    next: AtomicU64,
    info: OnceLock<ServerInfo>,
    log_level: SessionLogLevel,
}

impl Connection {
    pub(super) fn new(outgoing: mpsc::Sender<Bytes>, pending: Arc<Pending>) -> Self {
        Self {
            outgoing,
            pending,
            next: AtomicU64::new(1),
            info: OnceLock::new(),
            log_level: SessionLogLevel::default(),
        }
    }

    /// What the server said in the handshake.
    pub(super) fn info(&self) -> &ServerInfo {
        static UNKNOWN: ServerInfo = ServerInfo::UNKNOWN;
        self.info.get().unwrap_or(&UNKNOWN)
    }

    /// Ends the handshake: from now on, requests are written for this era.
    pub(super) fn set_info(&self, info: ServerInfo) {
        // There is one handshake for each connection.
        let _ = self.info.set(info);
    }

    pub(super) fn is_open(&self) -> bool {
        self.pending.over().is_none()
    }

    /// Closes the connection if no request is in progress; later requests fail with `Expired` before they are sent.
    pub(super) fn close_if_idle(&self) -> bool {
        self.pending.close_if_idle()
    }

    /// Sends a request that lasts as long as the connection and does not keep it busy.
    pub(super) async fn ask_lasting(&self, request: &RpcRequest<'_>) -> AskResult {
        self.pending.table().lasting += 1;
        let _lasting = LastingRequest(&self.pending);
        self.ask(request).await
    }

    /// Waits until the connection has ended.
    pub(super) async fn wait_until_ended(&self) {
        self.outgoing.closed().await;
    }

    pub(crate) async fn ask(&self, request: &RpcRequest<'_>) -> AskResult {
        let info = self.info();
        if info.era == Era::Legacy
            && let Some(params) = self.log_level.raise(request.client, info.capabilities.as_ref())
        {
            // The request is sent even if the server refuses the level.
            let set_level = RpcRequest::plain("logging/setLevel", Params::Map(&params));
            let _ = self.ask_in(info.era, &set_level).await;
        }
        self.ask_in(info.era, request).await
    }

    pub(super) async fn ask_in(&self, era: Era, request: &RpcRequest<'_>) -> AskResult {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut line = request.encode(id, era).map_err(|why| {
            TransportError::malformed(format!("the request cannot be written: {why}"))
        })?;
        line.push(b'\n');
        let answer = self.pending.register(id, request.client)?;
        let mut pending = PendingRequest { connection: self, id, cancel: false };
        if self.outgoing.send(line.into()).await.is_err() {
            return Err(self.ended());
        }
        // Before the handshake, a server does not understand a cancellation.
        pending.cancel = !matches!(request.method, "server/discover" | "initialize");
        let answer = answer.await.unwrap_or_else(|_| Err(self.ended()));
        pending.cancel = false;
        answer
    }

    /// Queues a notification or a reply.
    pub(super) async fn send(&self, message: Bytes) -> Result<(), TransportError> {
        self.outgoing.send(terminated_line(&message)).await.map_err(|_| self.ended())
    }

    fn ended(&self) -> TransportError {
        self.pending.over().unwrap_or_else(|| TransportError::lost("the process has ended"))
    }
}

/// A request that lasts as long as the connection.
struct LastingRequest<'a>(&'a Pending);

impl Drop for LastingRequest<'_> {
    fn drop(&mut self) {
        self.0.table().lasting -= 1;
    }
}

pub(super) fn terminated_line(message: &[u8]) -> Bytes {
    let mut line = Vec::with_capacity(message.len() + 1);
    line.extend_from_slice(message);
    line.push(b'\n');
    line.into()
}

/// A request in progress. Dropping it before the answer removes the entry and cancels the request at the server.
struct PendingRequest<'a> {
    connection: &'a Connection,
    id: u64,
    cancel: bool,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        let waited = self.connection.pending.remove(self.id);
        if self.cancel && waited {
            // A full queue means that the server does not read; the cancellation is dropped.
            let line = terminated_line(&rpc::cancelled(self.id));
            let _ = self.connection.outgoing.try_send(line);
        }
    }
}

/// The requests in progress. An id is used once and answered once.
#[derive(Default)]
pub(super) struct Pending(Mutex<Table>);

struct Waiter {
    answer: oneshot::Sender<AskResult>,
    /// The client that receives progress and can be asked questions.
    client: Option<Arc<dyn Client>>,
}

#[derive(Default)]
struct Table {
    waiting: HashMap<u64, Waiter>,
    /// How many of them last as long as the connection.
    lasting: usize,
    /// Why no more answers will come.
    over: Option<TransportError>,
}

impl Pending {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn register(
        &self,
        id: u64,
        client: Option<&Arc<dyn Client>>,
    ) -> Result<oneshot::Receiver<AskResult>, TransportError> {
        let mut table = self.table();
        if let Some(over) = &table.over {
            return Err(over.clone());
        }
        let (sender, receiver) = oneshot::channel();
        table.waiting.insert(id, Waiter { answer: sender, client: client.cloned() });
        Ok(receiver)
    }

    /// Removes a request; false if it was answered already.
    fn remove(&self, id: u64) -> bool {
        self.table().waiting.remove(&id).is_some()
    }

    fn close_if_idle(&self) -> bool {
        let mut table = self.table();
        let idle = table.waiting.len() <= table.lasting;
        if idle {
            table.over.get_or_insert(TransportError::Expired);
        }
        idle
    }

    fn over(&self) -> Option<TransportError> {
        self.table().over.clone()
    }

    /// The client of a request.
    pub(super) fn client_of(&self, id: u64) -> Option<Arc<dyn Client>> {
        self.table().waiting.get(&id)?.client.clone()
    }

    /// The client of the latest request, for messages that name no request. Where callers share a process, only while
    /// there is one request, so that no client receives what belongs to another.
    pub(super) fn latest_client(&self, shared: bool) -> Option<Arc<dyn Client>> {
        let table = self.table();
        if shared && table.waiting.len() > table.lasting + 1 {
            return None;
        }
        let with_client = table.waiting.iter().filter(|(_, waiter)| waiter.client.is_some());
        with_client.max_by_key(|(id, _)| **id)?.1.client.clone()
    }

    /// Delivers an answer; false if no request waits for it.
    pub(super) fn settle(&self, id: u64, answer: AskResult) -> bool {
        let waiter = self.table().waiting.remove(&id);
        waiter.is_some_and(|waiter| waiter.answer.send(answer).is_ok())
    }

    /// Fails all requests in progress; later ones are still possible.
    pub(super) fn fail_all(&self, why: &TransportError) {
        let waiting = std::mem::take(&mut self.table().waiting);
        for waiter in waiting.into_values() {
            let _ = waiter.answer.send(Err(why.clone()));
        }
    }

    /// Fails all requests, now and later.
    pub(super) fn end(&self, why: &TransportError) {
        self.table().over.get_or_insert_with(|| why.clone());
        self.fail_all(why);
    }
}
