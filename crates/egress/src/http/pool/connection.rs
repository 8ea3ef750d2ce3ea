//! One connection, and the response body that arrives over it.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::uri::Authority;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

use super::ConnectionPool;
use crate::http::error::{FetchError, HEADER_CEILING, cause};
use crate::http::sent::Sending;
use crate::http::wire::Wire;

/// A connection that makes progress only while it is polled.
pub(super) struct Connection {
    sender: http1::SendRequest<Sending>,
    /// `None` once the connection is closed. Boxed, because it is moved several times in every call.
    connection: Option<Box<http1::Connection<TokioIo<Wire>, Sending>>>,
}

impl Connection {
    pub(super) async fn open(wire: TokioIo<Wire>) -> Result<Self, FetchError> {
        let handshake =
            http1::Builder::new().max_buf_size(HEADER_CEILING as usize).handshake(wire).await;
        let (sender, connection) = handshake.map_err(|e| cause(&e))?;
        Ok(Self { sender, connection: Some(Box::new(connection)) })
    }

    /// Reads and writes what is ready.
    fn poll_io(&mut self, cx: &mut Context<'_>) {
        if let Some(connection) = &mut self.connection
            && Pin::new(connection).poll(cx).is_ready()
        {
            self.connection = None;
        }
    }

    /// Whether it can take the next request. Registers no waker.
    pub(super) fn is_free(&mut self) -> bool {
        self.poll_io(&mut Context::from_waker(Waker::noop()));
        self.connection.is_some() && self.sender.is_ready()
    }

    /// Sends a request; the response body owns the connection and returns it to the pool. A request of which nothing was
    /// sent is returned with the error.
    pub(super) async fn send(
        mut self,
        request: http::Request<Sending>,
        pool: &Arc<ConnectionPool>,
        authority: &Authority,
    ) -> Result<http::Response<IncomingBody>, (FetchError, Option<http::Request<Sending>>)> {
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
        let pool = Arc::clone(pool);
        let in_use = InUse { connection: self, pool, authority: authority.clone() };
        Ok(answer.map(|incoming| IncomingBody { incoming, in_use: Some(in_use) }))
    }
}

/// A response body, which polls its connection.
pub(in crate::http) struct IncomingBody {
    incoming: Incoming,
    /// Its connection, unless that has a task of its own.
    in_use: Option<InUse>,
}

/// A connection in use, and its pool.
struct InUse {
    connection: Connection,
    pool: Arc<ConnectionPool>,
    authority: Authority,
}

impl From<Incoming> for IncomingBody {
    fn from(incoming: Incoming) -> Self {
        Self { incoming, in_use: None }
    }
}

impl IncomingBody {
    /// Returns the connection to the pool, if it can take the next request.
    fn release(&mut self) {
        if let Some(InUse { mut connection, pool, authority }) = self.in_use.take()
            && connection.is_free()
        {
            pool.put(authority, connection);
        }
    }
}

impl Body for IncomingBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        if let Some(in_use) = &mut this.in_use {
            in_use.connection.poll_io(cx);
        }
        let frame = std::task::ready!(Pin::new(&mut this.incoming).poll_frame(cx));
        if frame.is_none() {
            this.release();
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

impl Drop for IncomingBody {
    /// An empty body is never read, so its connection is returned here; an unfinished body closes its connection.
    fn drop(&mut self) {
        if self.incoming.is_end_stream() {
            self.release();
        }
    }
}
