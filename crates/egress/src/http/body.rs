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
use hyper::body::Body;
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
    left: u64,
    limit: u64,
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
    ) -> Result<Self, FetchError> {
        if incoming.size_hint().lower() > limit {
            return Err(too_large(limit));
        }
        let packing = if unpack && !incoming.is_end_stream() { Packing::of(headers) } else { None };
        let wire = capped_wire(incoming, limit);
        let chunks = match packing {
            None => wire,
            Some(packing) => {
                headers.remove(CONTENT_ENCODING);
                headers.remove(CONTENT_LENGTH);
                packing.unpack(wire)
            }
        };
        let deadline =
            deadline.map(|deadline| (deadline, Box::pin(tokio::time::sleep_until(deadline.at))));
        Ok(Self { chunks, left: limit, limit, deadline, over: false })
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

    fn judge(&mut self, chunk: Result<Bytes, FetchError>) -> Result<Bytes, FetchError> {
        let chunk = chunk?;
        self.left =
            self.left.checked_sub(chunk.len() as u64).ok_or_else(|| too_large(self.limit))?;
        Ok(chunk)
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
        let judged = this.judge(chunk);
        this.over = judged.is_err();
        Poll::Ready(Some(judged))
    }
}

fn too_large(limit: u64) -> FetchError {
    FetchError::TooLarge { part: Part::Body, limit }
}

/// Bytes on the wire, with the same limit: compressed data beyond it can only decompress to more.
fn capped_wire(incoming: IncomingBody, limit: u64) -> Chunks {
    let mut left = limit;
    Box::pin(incoming.into_data_stream().map(move |chunk| {
        let chunk = chunk.map_err(|e| FetchError::Protocol { why: e.to_string() })?;
        left = left.checked_sub(chunk.len() as u64).ok_or_else(|| too_large(limit))?;
        Ok(chunk)
    }))
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
