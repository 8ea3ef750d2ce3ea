//! A listener that counts who connects to it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A listener on loopback that a guarded fetch must never reach. It answers with a page, so that a breach is visible.
pub struct Canary {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Canary {
    /// The text of its page.
    pub const TEXT: &str = "CANARY: this page is private and no scraper may ever read a single word of it, however the \
        address is written and whichever way leads here.";

    /// Listens on a free port of `127.0.0.1`.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&connections);
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                let text = Self::TEXT;
                let page = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n{text}",
                    text.len()
                );
                // A client that hangs up at once has been counted.
                let _ = stream.write_all(page.as_bytes()).await;
            }
        });
        Self { address, connections, task }
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// How many connections there were.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        self.task.abort();
    }
}
