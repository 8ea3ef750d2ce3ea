//! Response bodies that stop at the caller's limits, packed or not.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder};
use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt, TryStreamExt};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http_body_util::BodyExt;
use hyper::body::Body as _;
use tokio::io::AsyncRead;
use tokio::time::{Instant, Sleep};
use tokio_util::io::{ReaderStream, StreamReader};

use super::error::{FetchError, Part, Phase};
use super::pool::IncomingBody;
type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, FetchError>> + Send>>;

/// A point in time, and the time allowance that it comes from.
#[derive(Clone, Copy)]
pub(super) struct Deadline {
    pub(super) at: Instant,
    pub(super) after: Duration,
}

impl Deadline {
    pub(super) fn missed(&self) -> FetchError {
        FetchError::Timeout { phase: Phase::Total, after: self.after }
    }
}

/// A response body as a stream; ends with an error at the byte cap or the deadline, and is cancelled by dropping it.
pub struct BodyStream {
    chunks: Chunks,
    deadline: Option<(Deadline, Pin<Box<Sleep>>)>,
    over: bool,
}

impl BodyStream {
    /// Wraps a body; if `unpack` is set, decompresses it and removes the headers that no longer apply.
    pub(super) fn new(
        incoming: IncomingBody,
        headers: &mut HeaderMap,
        unpack: bool,
        limit: u64,
        deadline: Option<Deadline>,
    ) -> Self {
        let packing = if unpack && !incoming.is_end_stream() { Packing::of(headers) } else { None };
        let wire = incoming
            .into_data_stream()
            .map_err(|error| FetchError::Protocol { why: error.to_string() });
        // Compressed data beyond the limit can only decompress to more, so the wire has the same one.
        let wire = capped(wire, limit);
        let chunks = match packing {
            None => wire,
            Some(packing) => {
                headers.remove(CONTENT_ENCODING);
                headers.remove(CONTENT_LENGTH);
                capped(packing.unpack(wire), limit)
            }
        };
        let deadline =
            deadline.map(|deadline| (deadline, Box::pin(tokio::time::sleep_until(deadline.at))));
        Self { chunks, deadline, over: false }
    }

    /// Reads to the end.
    pub async fn bytes(mut self) -> Result<Bytes, FetchError> {
        let Some(first) = self.next().await.transpose()? else { return Ok(Bytes::new()) };
        let Some(second) = self.next().await.transpose()? else { return Ok(first) };
        let mut whole = BytesMut::from(first);
        whole.extend_from_slice(&second);
        while let Some(chunk) = self.next().await.transpose()? {
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.freeze())
    }
}

impl Stream for BodyStream {
    type Item = Result<Bytes, FetchError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.over {
            return Poll::Ready(None);
        }
        // The clock first: a server that always has one more byte ready must not outrun it.
        if let Some((deadline, sleep)) = &mut this.deadline
            && sleep.as_mut().poll(cx).is_ready()
        {
            this.over = true;
            return Poll::Ready(Some(Err(deadline.missed())));
        }
        let Some(chunk) = std::task::ready!(this.chunks.poll_next_unpin(cx)) else {
            this.over = true;
            return Poll::Ready(None);
        };
        this.over = chunk.is_err();
        Poll::Ready(Some(chunk))
    }
}

/// The error of a body that passes its limit.
pub(super) fn too_large(limit: u64) -> FetchError {
    FetchError::TooLarge { part: Part::Body, limit }
}

/// A stream that gives up to `limit` bytes, and then fails if there are more.
fn capped(
    chunks: impl Stream<Item = Result<Bytes, FetchError>> + Send + Unpin + 'static,
    limit: u64,
) -> Chunks {
    Box::pin(Capped { chunks, left: limit, limit, passed: false })
}

struct Capped<S> {
    chunks: S,
    left: u64,
    limit: u64,
    /// Whether a chunk was cut at the limit, so that the next result is the error.
    passed: bool,
}

impl<S: Stream<Item = Result<Bytes, FetchError>> + Unpin> Stream for Capped<S> {
    type Item = Result<Bytes, FetchError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.passed {
            return Poll::Ready(Some(Err(too_large(this.limit))));
        }
        let Some(chunk) = std::task::ready!(this.chunks.poll_next_unpin(cx)) else {
            return Poll::Ready(None);
        };
        let mut chunk = match chunk {
            Ok(chunk) => chunk,
            Err(error) => return Poll::Ready(Some(Err(error))),
        };
        match this.left.checked_sub(chunk.len() as u64) {
            Some(left) => this.left = left,
            None => {
                this.passed = true;
                // Less than the chunk's length, so it fits.
                chunk.truncate(this.left as usize);
                if chunk.is_empty() {
                    return Poll::Ready(Some(Err(too_large(this.limit))));
                }
            }
        }
        Poll::Ready(Some(Ok(chunk)))
    }
}

/// The encodings we offer in `Accept-Encoding`.
pub(super) const OFFERED: &str = "gzip, br";

enum Packing {
    Gzip,
    Brotli,
}

impl Packing {
    /// `None` for plain bodies, and for encodings that we did not offer: those are passed through unchanged.
    fn of(headers: &HeaderMap) -> Option<Self> {
        let mut named = headers.get_all(CONTENT_ENCODING).iter();
        let (Some(name), None) = (named.next(), named.next()) else { return None };
        match name.to_str().ok()?.trim() {
            name if name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip") => {
                Some(Self::Gzip)
            }
            name if name.eq_ignore_ascii_case("br") => Some(Self::Brotli),
            _ => None,
        }
    }

    fn unpack(self, wire: Chunks) -> Chunks {
        let reader = StreamReader::new(wire.map_err(io::Error::other));
        match self {
            Self::Gzip => {
                let mut decoder = GzipDecoder::new(reader);
                decoder.multiple_members(true);
                unpacked(decoder)
            }
            Self::Brotli => unpacked(BrotliDecoder::new(reader)),
        }
    }
}

fn unpacked(reader: impl AsyncRead + Send + 'static) -> Chunks {
    Box::pin(ReaderStream::with_capacity(reader, 16 * 1024).map_err(|error| {
        // An error of the wire below travels through the decoder in an `io::Error`; give it back as it was.
        match error.downcast::<FetchError>() {
            Ok(error) => error,
            Err(error) => FetchError::Protocol { why: format!("cannot unpack the body: {error}") },
        }
    }))
}
