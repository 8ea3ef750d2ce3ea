//! `stdio --url`: a client on pipes, a gateway over HTTP.

mod lsp;
mod mcp;

use std::sync::Arc;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::Client;
use crate::frame::Framing;
use crate::gateway::Remote;
use lsp::LspBridge;
use mcp::Exchange;

/// Forwards messages until the client closes its end or the process stops.
pub async fn bridge<R, W>(
    client: Client<R, W>,
    remote: Remote,
    shutdown: CancellationToken,
) -> anyhow::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let Client { mut reader, writer } = client;
    let Some(first) = reader.next(&writer).await else { return Ok(()) };
    let gateway = match reader.framing() {
        Framing::Lines => Gateway::Mcp(Arc::new(Exchange::new(remote, Arc::clone(&writer)))),
        Framing::Headers => Gateway::Lsp(Arc::new(LspBridge::new(remote, Arc::clone(&writer)))),
    };
    gateway.take(first).await;
    loop {
        let message = tokio::select! {
            message = reader.next(&writer) => message,
            () = shutdown.cancelled() => None,
        };
        match message {
            Some(message) => gateway.take(message).await,
            None => break,
        }
    }
    tokio::select! {
        () = gateway.finish() => {}
        () = shutdown.cancelled() => {}
    }
    Ok(())
}

/// The gateway, by the client's framing.
enum Gateway<W> {
    Mcp(Arc<Exchange<W>>),
    Lsp(Arc<LspBridge<W>>),
}

impl<W: AsyncWrite + Send + Unpin + 'static> Gateway<W> {
    async fn take(&self, message: Bytes) {
        match self {
            Self::Mcp(exchange) => Arc::clone(exchange).take(message).await,
            Self::Lsp(bridge) => Arc::clone(bridge).take(message),
        }
    }

    async fn finish(&self) {
        match self {
            Self::Mcp(exchange) => exchange.finish().await,
            Self::Lsp(bridge) => bridge.finish().await,
        }
    }
}
