//! Notices that the process at the other end of a socket is gone. An end of its messages alone does not mean that: it may
//! have closed only its sending direction, and still read answers.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, Interest, ReadBuf};
use tokio::net::unix::OwnedReadHalf;
use tokio_util::sync::CancellationToken;

/// How often a connection is checked whose other side has stopped sending, at first and later.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LAST_PAUSE: Duration = Duration::from_millis(100);

/// The receiving direction of a connection.
pub(super) struct Reader {
    half: Arc<OwnedReadHalf>,
    ended: CancellationToken,
}

/// Waits until the other side has closed both directions.
pub(super) struct HangUp {
    half: Arc<OwnedReadHalf>,
    ended: CancellationToken,
}

pub(super) fn watch(half: OwnedReadHalf) -> (Reader, HangUp) {
    let (half, ended) = (Arc::new(half), CancellationToken::new());
    (Reader { half: Arc::clone(&half), ended: ended.clone() }, HangUp { half, ended })
}

impl HangUp {
    pub(super) async fn wait(&self) {
        self.ended.cancelled().await;
        let mut pause = FIRST_PAUSE;
        while !self.is_closed().await.unwrap_or(true) {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LAST_PAUSE);
        }
    }

    /// Whether nothing can be sent any more either.
    async fn is_closed(&self) -> io::Result<bool> {
        let state = self.half.ready(Interest::READABLE | Interest::WRITABLE).await?;
        Ok(state.is_write_closed())
    }
}

impl AsyncRead for Reader {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(AsRef::as_ref(&*self.half).poll_read_ready(context))?;
            match self.half.try_read(buffer.initialize_unfilled()) {
                Ok(count) => {
                    if count == 0 && buffer.remaining() > 0 {
                        self.ended.cancel();
                    }
                    buffer.advance(count);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => {
                    self.ended.cancel();
                    return Poll::Ready(Err(error));
                }
            }
        }
    }
}
