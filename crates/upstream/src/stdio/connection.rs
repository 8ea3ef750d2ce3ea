use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use tokio::sync::mpsc;

use crate::era::Era;
use crate::error::{AskResult, TransportError};
use crate::handshake::ServerInfo;
use crate::notifications::SessionLogLevel;
use crate::pending::Pending;
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

    /// Whether the handshake has ended.
    pub(super) fn is_ready(&self) -> bool {
        self.info.get().is_some()
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
        let _lasting = self.pending.begin_lasting();
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
            TransportError::malformed(format!("the request cannot be written: {why}")).not_sent()
        })?;
        line.push(b'\n');
        let answer = self.pending.register(id, request.client).map_err(TransportError::not_sent)?;
        let mut pending = PendingRequest { connection: self, id, cancel: false };
        if self.outgoing.send(line.into()).await.is_err() {
            return Err(self.ended().not_sent());
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
