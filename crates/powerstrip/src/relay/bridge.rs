//! `stdio --url`: a client on pipes, a gateway over HTTP.

mod desk;
mod mcp;

use std::sync::Arc;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::Line;
use super::frame::Framing;
use crate::remote::Remote;
use desk::Desk;
use mcp::Exchange;

/// Passes messages on until the client closes its end or the process is told to stop.
pub(crate) async fn bridge<R, W>(
    line: Line<R, W>,
    remote: Remote,
    shutdown: CancellationToken,
) -> anyhow::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let Line { mut ear, mouth } = line;
    let Some(first) = ear.next(&mouth).await else { return Ok(()) };
    let far = match ear.framing() {
        Framing::Lines => Far::Mcp(Arc::new(Exchange::new(remote, Arc::clone(&mouth)))),
        Framing::Headers => Far::Desk(Arc::new(Desk::new(remote, Arc::clone(&mouth)))),
    };
    far.take(first).await;
    loop {
        let message = tokio::select! {
            message = ear.next(&mouth) => message,
            () = shutdown.cancelled() => None,
        };
        match message {
            Some(message) => far.take(message).await,
            None => break,
        }
    }
    tokio::select! {
        () = far.finish() => {}
        () = shutdown.cancelled() => {}
    }
    Ok(())
}

/// The gateway, as the client's framing wants to see it.
enum Far<W> {
    Mcp(Arc<Exchange<W>>),
    Desk(Arc<Desk<W>>),
}

impl<W: AsyncWrite + Send + Unpin + 'static> Far<W> {
    async fn take(&self, message: Bytes) {
        match self {
            Self::Mcp(exchange) => Arc::clone(exchange).take(message).await,
            Self::Desk(desk) => Arc::clone(desk).take(message),
        }
    }

    async fn finish(&self) {
        match self {
            Self::Mcp(exchange) => exchange.finish().await,
            Self::Desk(desk) => desk.finish().await,
        }
    }
}
