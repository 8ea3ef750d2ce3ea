//! MCP over stdin and stdout.

mod long_lines;

use std::io;

use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use tokio_util::sync::CancellationToken;

use long_lines::LongLines;
pub(crate) use long_lines::TOO_LONG;

/// Serves until stdin ends or `stop` resolves.
pub(crate) async fn serve<H: ServerHandler>(
    handler: H,
    body_bytes: usize,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let (reader, writer) = stdio_pipes();
    let reader = LongLines::new(reader, body_bytes);
    let transport =
        AsyncRwTransport::<RoleServer, _, _>::new(reader, writer).with_max_line_length(body_bytes);
    let stopping = CancellationToken::new();
    tokio::spawn({
        let stopping = stopping.clone();
        async move {
            stop.await;
            stopping.cancel();
        }
    });
    let service = match handler.serve_with_ct(transport, stopping.clone()).await {
        Ok(service) => service,
        Err(_) if stopping.is_cancelled() => return Ok(()),
        Err(error) => return Err(io::Error::other(error)),
    };
    service.waiting().await.map(drop).map_err(io::Error::other)
}
