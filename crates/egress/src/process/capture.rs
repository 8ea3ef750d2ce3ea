//! Reads a child's pipes up to a limit.

use std::collections::VecDeque;
use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};

/// Read at once; the size of a pipe.
const CHUNK: usize = 65_536;

/// Why stdout was not read to its end.
pub(super) enum Stopped {
    Broken(io::Error),
    Over { size: u64 },
}

/// Reads to the end, or until there is one byte more than the cap.
pub(super) async fn whole(mut pipe: impl AsyncRead + Unpin, cap: u64) -> Result<Vec<u8>, Stopped> {
    let mut bytes = Vec::new();
    loop {
        bytes.reserve(CHUNK.min(8192.max(bytes.len())));
        if pipe.read_buf(&mut bytes).await.map_err(Stopped::Broken)? == 0 {
            return Ok(bytes);
        }
        let size = bytes.len() as u64;
        if size > cap {
            return Err(Stopped::Over { size });
        }
    }
}

/// The last bytes of a stream.
pub(super) struct Tail {
    kept: VecDeque<u8>,
    cap: usize,
    dropped: u64,
}

impl Tail {
    pub(super) fn new(cap: usize) -> Self {
        Self { kept: VecDeque::new(), cap, dropped: 0 }
    }

    /// Reads to the end; a broken pipe counts as the end, so that earlier output is not lost.
    pub(super) async fn fill(&mut self, mut pipe: impl AsyncRead + Unpin) {
        let mut chunk = Vec::with_capacity(8192);
        while let Ok(1..) = pipe.read_buf(&mut chunk).await {
            self.push(&chunk);
            chunk.clear();
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.kept.extend(bytes);
        let over = self.kept.len().saturating_sub(self.cap);
        self.kept.drain(..over);
        self.dropped += over as u64;
    }

    pub(super) fn into_parts(self) -> (Vec<u8>, u64) {
        (self.kept.into(), self.dropped)
    }
}

/// Writes everything and closes the pipe. A program that ends without reading is not an error.
pub(super) async fn feed(mut pipe: impl AsyncWrite + Unpin, bytes: &[u8]) {
    if pipe.write_all(bytes).await.is_ok() {
        let _ = pipe.shutdown().await;
    }
}

/// Writes a file piece by piece and closes the pipe.
pub(super) async fn feed_file(mut pipe: impl AsyncWrite + Unpin, file: tokio::fs::File) {
    let mut file = BufReader::with_capacity(CHUNK, file);
    if tokio::io::copy_buf(&mut file, &mut pipe).await.is_ok() {
        let _ = pipe.shutdown().await;
    }
}

#[cfg(test)]
mod tests;
