//! Closes connections without a reset when the gateway stops.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

/// How long a client may take to close its side.
const LINGER: Duration = Duration::from_millis(500);

/// A stream that reads what is left when it is shut down while the gateway stops. The kernel resets a connection that is
/// closed with unread bytes, such as the body of a refused request, and the client would lose the answer.
pub(super) struct LingeringStream {
    stream: TcpStream,
    stopping: Arc<AtomicBool>,
    lingering: Option<Pin<Box<Sleep>>>,
}

impl LingeringStream {
    pub(super) fn new(stream: TcpStream, stopping: Arc<AtomicBool>) -> Self {
        Self { stream, stopping, lingering: None }
    }

    /// Reads until the client has closed its side, or for the longest time.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let until = self.lingering.get_or_insert_with(|| Box::pin(tokio::time::sleep(LINGER)));
        let mut bytes = [0; 4096];
        loop {
            if until.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            let mut unread = ReadBuf::new(&mut bytes);
            let read = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut unread));
            if read.is_err() || unread.filled().is_empty() {
                return Poll::Ready(());
            }
        }
    }
}

impl AsyncRead for LingeringStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for LingeringStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingering.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
            if !self.stopping.load(Ordering::Relaxed) {
                return Poll::Ready(Ok(()));
            }
        }
        ready!(self.poll_linger(cx));
        Poll::Ready(Ok(()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
