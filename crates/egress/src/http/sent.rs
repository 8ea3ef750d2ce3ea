//! Request bodies: whole, or made of pieces as they are sent.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

/// What is wrong with a body that could not be read while it was sent.
pub type SendFault = Box<dyn std::error::Error + Send + Sync>;

/// The bytes of a streamed body.
pub type SentStream = BoxStream<'static, Result<Bytes, SendFault>>;

/// The body of a request. It can be sent more than once: after a redirect, or with another token.
#[derive(Clone)]
pub enum Body {
    /// All of it is there.
    Whole(Bytes),
    /// It is read while it is sent.
    Streamed {
        /// How many bytes there will be.
        length: u64,
        /// Begins to read it, once for each time that it is sent.
        open: Arc<dyn Fn() -> SentStream + Send + Sync>,
    },
}

impl Body {
    /// No body.
    pub fn none() -> Self {
        Self::Whole(Bytes::new())
    }

    pub(super) fn sending(&self) -> Sending {
        match self {
            Self::Whole(bytes) => Sending::Whole(Some(bytes.clone()).filter(|b| !b.is_empty())),
            Self::Streamed { length, open } => Sending::Streamed { left: *length, stream: open() },
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(bytes)
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Whole(bytes.into())
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::Streamed { length, .. } => write!(f, "a stream of {length} bytes"),
        }
    }
}

/// A body on its way.
pub(super) enum Sending {
    Whole(Option<Bytes>),
    Streamed { left: u64, stream: SentStream },
}

impl HttpBody for Sending {
    type Data = Bytes;
    type Error = SendFault;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, SendFault>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Streamed { left, stream } => {
                let Some(chunk) = std::task::ready!(stream.poll_next_unpin(cx)) else {
                    return Poll::Ready(None);
                };
                Poll::Ready(Some(chunk.map(|chunk| {
                    *left = left.saturating_sub(chunk.len() as u64);
                    Frame::data(chunk)
                })))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Streamed { left, .. } => *left == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match self {
            Self::Whole(bytes) => bytes.as_ref().map_or(0, |bytes| bytes.len() as u64),
            Self::Streamed { left, .. } => *left,
        })
    }
}
