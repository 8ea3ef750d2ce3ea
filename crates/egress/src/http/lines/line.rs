//! One connection, and the answer that arrives over it.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::uri::Authority;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

use super::Lines;
use crate::http::error::{FetchError, HEADER_CEILING, cause};
use crate::http::sent::Sending;
use crate::http::wire::Wire;

/// A connection, which does nothing unless somebody drives it.
pub(super) struct Line {
    sender: http1::SendRequest<Sending>,
    /// Gone when the connection is over. Boxed, because a line changes hands several times in every call.
    connection: Option<Box<http1::Connection<TokioIo<Wire>, Sending>>>,
}

impl Line {
    pub(super) async fn open(wire: TokioIo<Wire>) -> Result<Self, FetchError> {
        let shaken =
            http1::Builder::new().max_buf_size(HEADER_CEILING as usize).handshake(wire).await;
        let (sender, connection) = shaken.map_err(|e| cause(&e))?;
        Ok(Self { sender, connection: Some(Box::new(connection)) })
    }

    /// Goes on with what there is to read and to write.
    fn drive(&mut self, cx: &mut Context<'_>) {
        if let Some(connection) = &mut self.connection
            && Pin::new(connection).poll(cx).is_ready()
        {
            self.connection = None;
        }
    }

    /// Whether the next request can go this way. Nobody is woken by what is found out here.
    pub(super) fn is_free(&mut self) -> bool {
        self.drive(&mut Context::from_waker(Waker::noop()));
        self.connection.is_some() && self.sender.is_ready()
    }

    /// Sends a request; the answer takes the line along and gives it back. A request of which nothing was sent is
    /// given back with the failure.
    pub(super) async fn send(
        mut self,
        request: http::Request<Sending>,
        (home, authority): (&Arc<Lines>, &Authority),
    ) -> Result<http::Response<Arriving>, (FetchError, Option<http::Request<Sending>>)> {
        let mut sending = pin!(self.sender.try_send_request(request));
        let connection = &mut self.connection;
        let answer = poll_fn(|cx| {
            if let Some(driven) = connection
                && Pin::new(driven).poll(cx).is_ready()
            {
                *connection = None;
            }
            sending.as_mut().poll(cx)
        });
        let answer = answer.await.map_err(|mut refused| {
            let unsent = refused.take_message();
            (cause(&refused.into_error()), unsent)
        })?;
        let held = Held { line: self, home: Arc::clone(home), authority: authority.clone() };
        Ok(answer.map(|incoming| Arriving { incoming, held: Some(held) }))
    }
}

/// The body of an answer, which drives the connection that it comes by.
pub(in crate::http) struct Arriving {
    incoming: Incoming,
    /// What it came by, unless that drives itself.
    held: Option<Held>,
}

/// A line in use, and where it belongs.
struct Held {
    line: Line,
    home: Arc<Lines>,
    authority: Authority,
}

impl From<Incoming> for Arriving {
    fn from(incoming: Incoming) -> Self {
        Self { incoming, held: None }
    }
}

impl Arriving {
    /// Gives the line back, if the next request can go that way.
    fn give_back(&mut self) {
        if let Some(Held { mut line, home, authority }) = self.held.take()
            && line.is_free()
        {
            home.put(authority, line);
        }
    }
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        if let Some(held) = &mut this.held {
            held.line.drive(cx);
        }
        let frame = std::task::ready!(Pin::new(&mut this.incoming).poll_frame(cx));
        if frame.is_none() {
            this.give_back();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

impl Drop for Arriving {
    /// An answer without a body is never read; one that was not read to its end takes its connection with it.
    fn drop(&mut self) {
        if self.incoming.is_end_stream() {
            self.give_back();
        }
    }
}
