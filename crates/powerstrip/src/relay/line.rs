//! The client's end: what it says, and what is said to it.

use std::sync::Arc;
use std::sync::OnceLock;

use bytes::Bytes;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;

use super::frame::{FrameReader, Framing};

/// Both directions of a client.
pub(crate) struct Line<R, W> {
    pub(super) ear: Hearing<R>,
    pub(super) mouth: Arc<Mouth<W>>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Line<R, W> {
    /// A client at the other end of two pipes.
    pub(crate) fn new(read: R, write: W) -> Self {
        let mouth = Mouth { write: Mutex::new(write), framing: OnceLock::new() };
        Self { ear: Hearing { reader: FrameReader::sniffing(read) }, mouth: Arc::new(mouth) }
    }
}

/// What the client says.
pub(crate) struct Hearing<R> {
    reader: FrameReader<R>,
}

impl<R: AsyncRead + Unpin> Hearing<R> {
    /// The next message; nothing when the client has closed its end, or cannot be understood any more.
    pub(crate) async fn next<W: AsyncWrite + Unpin>(&mut self, mouth: &Mouth<W>) -> Option<Bytes> {
        let heard = self.reader.next().await;
        let _ = mouth.framing.set(self.reader.framing());
        match heard {
            Ok(message) => message,
            Err(error) => {
                let message = format!("the messages cannot be told apart any more: {error}");
                let refusal = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": message}});
                mouth.say(refusal.to_string().as_bytes()).await;
                None
            }
        }
    }

    /// How the client frames its messages.
    pub(crate) fn framing(&self) -> Framing {
        self.reader.framing()
    }
}

/// What is said to the client, one whole message at a time.
pub(crate) struct Mouth<W> {
    write: Mutex<W>,
    framing: OnceLock<Framing>,
}

impl<W: AsyncWrite + Unpin> Mouth<W> {
    /// Says a message in the client's own framing.
    pub(crate) async fn say(&self, message: &[u8]) {
        let framed = self.framing.get().copied().unwrap_or_default().encode(message);
        let mut write = self.write.lock().await;
        let said = async {
            write.write_all(&framed).await?;
            write.flush().await
        };
        if let Err(error) = said.await {
            // A client that has gone away also closes its other end, which ends the relay.
            tracing::debug!(%error, "the client does not read any more");
        }
    }
}
