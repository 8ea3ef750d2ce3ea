//! The events that answer a request of a session. If its client leaves before the answer of a call, that is kept for it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_util::{Stream, StreamExt as _};
use proto::Principal;
use rmcp::model::JsonRpcMessage;
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};
use tokio::runtime::Handle;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::kept::{AnswerStream, EventPlace, KeptAnswers};

/// The source of the events, and their session.
pub(super) struct Reader<S> {
    pub(super) events: S,
    pub(super) session: SessionId,
    pub(super) life: u32,
    pub(super) owner: Arc<Principal>,
    /// Where its answer is kept; none if the request can simply be sent again.
    pub(super) kept: Option<Arc<KeptAnswers>>,
    /// Keeps the session from being parked before the answer.
    pub(super) _working: TaskTrackerToken,
}

impl<S: Stream<Item = ServerSseMessage> + Unpin> Reader<S> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<(ServerSseMessage, bool)>> {
        let event = ready!(self.events.poll_next_unpin(cx));
        Poll::Ready(event.map(|event| self.note(event)))
    }

    /// Gives an event the id that its client sees, and keeps it if it is the answer. The second is whether it is.
    fn note(&self, mut event: ServerSseMessage) -> (ServerSseMessage, bool) {
        let place = event.event_id.as_deref();
        let place = place.and_then(|id| EventPlace::of_library(id, self.life));
        if let Some(place) = place {
            event.event_id = Some(place.for_client());
        }
        let is_answer = event.message.as_deref().is_some_and(|message| {
            matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_))
        });
        if is_answer
            && let Some(kept) = &self.kept
            && let Some(EventPlace { index, number, life }) = place
        {
            let stream = AnswerStream { session: Arc::clone(&self.session), life, number };
            kept.keep(stream, &self.owner, index, event.clone());
        }
        (event, is_answer)
    }

    async fn read_to_the_end(mut self) {
        while let Some(event) = self.events.next().await {
            self.note(event);
        }
    }
}

/// The stream that a client reads.
pub(super) struct AnswerEvents<S: Stream<Item = ServerSseMessage> + Send + Unpin + 'static> {
    /// Gone once the answer or the end was read.
    reader: Option<Reader<S>>,
}

impl<S: Stream<Item = ServerSseMessage> + Send + Unpin + 'static> AnswerEvents<S> {
    pub(super) fn new(reader: Reader<S>) -> Self {
        Self { reader: Some(reader) }
    }
}

impl<S: Stream<Item = ServerSseMessage> + Send + Unpin + 'static> Stream for AnswerEvents<S> {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(reader) = &mut self.reader else { return Poll::Ready(None) };
        let read = ready!(reader.poll(cx));
        let is_last = read.as_ref().is_none_or(|(_, is_answer)| *is_answer);
        if is_last {
            self.reader = None;
        }
        Poll::Ready(read.map(|(event, _)| event))
    }
}

impl<S: Stream<Item = ServerSseMessage> + Send + Unpin + 'static> Drop for AnswerEvents<S> {
    fn drop(&mut self) {
        if let Some(reader) = self.reader.take().filter(|reader| reader.kept.is_some())
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(reader.read_to_the_end());
        }
    }
}
