//! Notifications of a request on the stream of its answer. The library sends log messages of a session on the stream of
//! the session, where they may arrive after the answer.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use rmcp::model::{JsonRpcMessage, ServerJsonRpcMessage, ServerNotification};
use tokio::sync::mpsc;

/// How many notifications may wait for a slow client; further ones are dropped.
const MAX_WAITING: usize = 1_024;

/// Writes notifications to the stream of an answer; it is an extension of the request.
#[derive(Clone)]
pub(crate) struct StreamNotices(mpsc::Sender<Bytes>);

/// The notifications that wait to be written.
pub(super) struct WaitingNotices(mpsc::Receiver<Bytes>);

pub(super) fn channel() -> (StreamNotices, WaitingNotices) {
    let (sender, receiver) = mpsc::channel(MAX_WAITING);
    (StreamNotices(sender), WaitingNotices(receiver))
}

impl StreamNotices {
    /// Writes a notification; gives it back if the stream has ended or its client does not read.
    pub(crate) fn send(&self, notice: ServerNotification) -> Option<ServerNotification> {
        let Ok(place) = self.0.try_reserve() else { return Some(notice) };
        let message: ServerJsonRpcMessage = JsonRpcMessage::notification(notice);
        if let Ok(text) = serde_json::to_string(&message) {
            place.send(format!("event: message\ndata: {text}\n\n").into());
        }
        None
    }
}

/// The stream of an answer, with the notifications of its request before it: these are sent before the answer, so when
/// the answer arrives they are all waiting.
pub(super) struct WithNotices<S> {
    answer: S,
    notices: WaitingNotices,
    /// A part of the answer that waits for notifications before it.
    held: Option<Bytes>,
    /// Whether the last part ended within an event.
    within_event: bool,
}

impl<S> WithNotices<S> {
    pub(super) fn new(answer: S, notices: WaitingNotices) -> Self {
        Self { answer, notices, held: None, within_event: false }
    }

    fn write(&mut self, part: Bytes) -> Bytes {
        self.within_event = !part.ends_with(b"\n\n");
        part
    }
}

impl<S, E> Stream for WithNotices<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
{
    type Item = Result<Bytes, E>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.held.is_none() {
            if !this.within_event
                && let Poll::Ready(Some(notice)) = this.notices.0.poll_recv(context)
            {
                return Poll::Ready(Some(Ok(notice)));
            }
            match this.answer.poll_next_unpin(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(part))) => this.held = Some(part),
                Poll::Ready(other) => return Poll::Ready(other),
            }
        }
        if !this.within_event
            && let Ok(notice) = this.notices.0.try_recv()
        {
            return Poll::Ready(Some(Ok(notice)));
        }
        let part = this.held.take().unwrap_or_default();
        Poll::Ready(Some(Ok(this.write(part))))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;
    use rmcp::model::ToolListChangedNotification;

    use super::*;

    #[tokio::test]
    async fn notices_come_before_the_answer_and_never_within_an_event() {
        let (notices, waiting) = channel();
        let sender = notices.clone();
        let parts = ["data:\n\n", "data: ans", "wer\n\n"].map(Bytes::from);
        let answer = stream::iter(parts).map(move |part| {
            if part.starts_with(b"data: ") || part.starts_with(b"wer") {
                let notice = ToolListChangedNotification::default();
                assert!(
                    sender.send(ServerNotification::ToolListChangedNotification(notice)).is_none()
                );
            }
            Ok::<_, Infallible>(part)
        });
        let written: Vec<_> = WithNotices::new(answer, waiting)
            .map(|part| String::from_utf8(part.unwrap().to_vec()).unwrap())
            .collect()
            .await;
        let is_notice = |part: &String| part.contains("list_changed");
        assert_eq!(written[0], "data:\n\n");
        assert!(is_notice(&written[1]), "{written:?}");
        assert_eq!(written[2..4], ["data: ans", "wer\n\n"], "the second came within the event");
        assert!(written.len() == 5 && is_notice(&written[4]), "{written:?}");
        assert!(
            notices
                .send(ServerNotification::ToolListChangedNotification(
                    ToolListChangedNotification::default()
                ))
                .is_some(),
            "the stream has ended"
        );
    }
}
