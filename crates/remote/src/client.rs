//! The client of a relay: reading its messages, and writing messages to it.

use std::sync::Arc;
use std::sync::OnceLock;

use bytes::Bytes;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;

use crate::frame::{FrameReader, Framing};

/// Both directions of a client.
pub struct Client<R, W> {
    pub reader: MessageReader<R>,
    pub writer: Arc<MessageWriter<W>>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Client<R, W> {
    /// A client at the other end of two pipes.
    pub fn new(read: R, write: W) -> Self {
        let writer = MessageWriter { write: Mutex::new(write), framing: OnceLock::new() };
        Self {
            reader: MessageReader { frames: FrameReader::sniffing(read) },
            writer: Arc::new(writer),
        }
    }
}

/// Reads the client's messages.
pub struct MessageReader<R> {
    frames: FrameReader<R>,
}

impl<R: AsyncRead + Unpin> MessageReader<R> {
    /// The next message; `None` when the client has closed its end, or its framing is broken.
    pub async fn next<W: AsyncWrite + Unpin>(
        &mut self,
        writer: &MessageWriter<W>,
    ) -> Option<Bytes> {
        let message = self.frames.next().await;
        let _ = writer.framing.set(self.frames.framing());
        match message {
            Ok(message) => message,
            Err(error) => {
                let message = format!("the framing of messages is broken: {error}");
                let refusal = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": message}});
                writer.send(refusal.to_string().as_bytes()).await;
                None
            }
        }
    }

    /// How the client frames its messages.
    pub fn framing(&self) -> Framing {
        self.frames.framing()
    }
}

/// Writes to the client, one whole message at a time.
pub struct MessageWriter<W> {
    write: Mutex<W>,
    framing: OnceLock<Framing>,
}

impl<W: AsyncWrite + Unpin> MessageWriter<W> {
    /// Writes a message in the client's own framing.
    pub async fn send(&self, message: &[u8]) {
        let framed = self.framing.get().copied().unwrap_or_default().encode(message);
        let mut write = self.write.lock().await;
        let written = async {
            write.write_all(&framed).await?;
            write.flush().await
        };
        if let Err(error) = written.await {
            // A client that has left also closes its other end, which ends the relay.
            tracing::debug!(%error, "the client does not read its messages");
        }
    }
}
