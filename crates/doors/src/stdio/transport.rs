//! The transport of MCP over pipes: rmcp's, which also answers lines that are not JSON. rmcp passes over them, so that a
//! client would wait for its answer forever.

use std::io;
use std::sync::{Arc, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use rmcp::RoleServer;
use rmcp::model::ErrorData;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::exact::{MarkedLines, Unreadable, UnreadableLines};

/// MCP over a pair of pipes.
pub(super) struct Pipes<R: AsyncRead + Unpin, W: AsyncWrite> {
    inner: AsyncRwTransport<RoleServer, MarkedLines<R>, W>,
    unreadable: UnreadableLines,
    /// The answer that is being written: `receive` may be dropped meanwhile.
    answering: Option<BoxFuture<'static, io::Result<()>>>,
}

impl<R, W> Pipes<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(read: R, write: W) -> Self {
        let unreadable = UnreadableLines::default();
        let lines = MarkedLines::new(read, Arc::clone(&unreadable));
        Self { inner: AsyncRwTransport::new(lines, write), unreadable, answering: None }
    }

    async fn answer_unreadable(&mut self) -> io::Result<()> {
        loop {
            if let Some(answering) = &mut self.answering {
                let answered = answering.await;
                self.answering = None;
                answered?;
            }
            let next = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some(line) = next else { return Ok(()) };
            self.answering = Some(self.inner.send(answer_to(line)).boxed());
        }
    }
}

impl<R, W> Transport<RoleServer> for Pipes<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            self.answer_unreadable().await.ok()?;
            let unreadable = Arc::clone(&self.unreadable);
            let found = std::future::poll_fn(move |_| {
                // Polled after the lines were read, by the task that read them.
                let empty = unreadable.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
                if empty { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
            });
            tokio::select! {
                biased;
                received = self.inner.receive() => {
                    if received.is_none() {
                        self.answer_unreadable().await.ok()?;
                    }
                    return received;
                }
                () = found => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.inner.close().await
    }
}

fn answer_to(line: Unreadable) -> TxJsonRpcMessage<RoleServer> {
    let message = format!("the message is not JSON: {}", line.why);
    let error = match line.id {
        Some(_) => ErrorData::invalid_request(message, None),
        None => ErrorData::parse_error(message, None),
    };
    TxJsonRpcMessage::<RoleServer>::error(error, line.id)
}
