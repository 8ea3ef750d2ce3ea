//! Answers of calls that a client can still fetch: if a stream is cut off, its client reads the rest with `Last-Event-ID`,
//! also when the call has ended in the meantime. The library forgets a request together with its answer.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_server::{Exceeded, Holder, Share, Shares};
use proto::Principal;
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

/// How long an answer can be fetched.
const KEPT_FOR: Duration = Duration::from_secs(60);

/// The memory of all answers, and of those of one caller.
const MAX_BYTES: usize = 64 << 20;
const MAX_BYTES_OF_CALLER: usize = 8 << 20;

/// What an answer takes in addition to its text.
const OVERHEAD: usize = 2 << 10;

/// How long a client waits for an answer that is just being kept.
const ARRIVAL: Duration = Duration::from_secs(1);

/// Names the stream that answers a request of a session. The library counts these streams; it begins at 0 again in each
/// life of the session, that is, after it was parked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct AnswerStream {
    pub(super) session: SessionId,
    pub(super) life: u32,
    pub(super) number: u64,
}

/// The id of an event of such a stream: `INDEX/NUMBER/LIFE`. The library writes and reads `INDEX/NUMBER`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventPlace {
    pub(super) index: u64,
    pub(super) number: u64,
    pub(super) life: u32,
}

impl EventPlace {
    /// The place that the library means by an id; none if it is one of the session's own stream.
    pub(super) fn of_library(id: &str, life: u32) -> Option<Self> {
        let (index, number) = id.split_once('/')?;
        Some(Self { index: index.parse().ok()?, number: number.parse().ok()?, life })
    }

    pub(super) fn for_library(self) -> String {
        format!("{}/{}", self.index, self.number)
    }

    pub(super) fn for_client(self) -> String {
        format!("{}/{}/{}", self.index, self.number, self.life)
    }
}

/// The id is none of a stream that answers a request.
#[derive(Debug)]
pub(super) struct OtherId;

impl FromStr for EventPlace {
    type Err = OtherId;

    fn from_str(id: &str) -> Result<Self, OtherId> {
        let (place, life) = id.rsplit_once('/').ok_or(OtherId)?;
        Self::of_library(place, life.parse().map_err(|_| OtherId)?).ok_or(OtherId)
    }
}

#[derive(Debug)]
pub(super) struct KeptAnswers {
    memory: Arc<Shares>,
    answers: Mutex<HashMap<AnswerStream, KeptAnswer>>,
    /// Notified when an answer was added.
    added: Notify,
}

#[derive(Debug)]
struct KeptAnswer {
    owner: Arc<Principal>,
    index: u64,
    event: ServerSseMessage,
    since: Instant,
    _memory: Share,
}

impl KeptAnswers {
    pub(super) fn new() -> Self {
        Self { memory: Shares::new(MAX_BYTES), answers: Mutex::default(), added: Notify::new() }
    }

    /// Keeps an answer for a while; older ones of its caller make room for it.
    pub(super) fn keep(
        &self,
        stream: AnswerStream,
        owner: &Arc<Principal>,
        index: u64,
        event: ServerSseMessage,
    ) {
        let size = match event.message.as_deref().map(serde_json::to_vec) {
            Some(Ok(written)) => written.len() + OVERHEAD,
            // Then its stream cannot be written either, and its client gets an error.
            Some(Err(_)) | None => return,
        };
        if size > MAX_BYTES_OF_CALLER {
            return;
        }
        let mut answers = self.answers();
        let memory = loop {
            match self.memory.take(Holder::of(owner), size, MAX_BYTES_OF_CALLER) {
                Ok(memory) => break memory,
                Err(Exceeded::Own { .. }) if remove_oldest(&mut answers, owner) => {}
                Err(exceeded) => {
                    tracing::debug!(?exceeded, size, "an answer is not kept for its client");
                    return;
                }
            }
        };
        let (owner, since) = (Arc::clone(owner), Instant::now());
        answers.insert(stream, KeptAnswer { owner, index, event, since, _memory: memory });
        drop(answers);
        self.added.notify_waiters();
    }

    /// What a client has not read of an answered stream, of which it read the event with this index last. None if no answer
    /// is kept.
    pub(super) fn rest(&self, stream: &AnswerStream, index: u64) -> Option<Vec<ServerSseMessage>> {
        let answers = self.answers();
        let kept = answers.get(stream)?;
        Some((kept.index > index).then(|| kept.event.clone()).into_iter().collect())
    }

    /// As `rest`, for an answer that the library has just given.
    pub(super) async fn arriving(
        &self,
        stream: &AnswerStream,
        index: u64,
    ) -> Option<Vec<ServerSseMessage>> {
        let arrival = async {
            loop {
                let added = self.added.notified();
                if let Some(rest) = self.rest(stream, index) {
                    return rest;
                }
                added.await;
            }
        };
        timeout(ARRIVAL, arrival).await.ok()
    }

    /// Forgets the answers of a session that ends.
    pub(super) fn forget(&self, session: &str) {
        self.answers().retain(|stream, _| &*stream.session != session);
    }

    /// Forgets what was kept long enough.
    pub(super) fn expire(&self, now: Instant) {
        self.answers().retain(|_, kept| now.saturating_duration_since(kept.since) < KEPT_FOR);
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<AnswerStream, KeptAnswer>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes the oldest answer of a caller; false if there is none.
fn remove_oldest(answers: &mut HashMap<AnswerStream, KeptAnswer>, owner: &Principal) -> bool {
    let own = answers.iter().filter(|(_, kept)| kept.owner.is_same_caller(owner));
    let oldest = own.min_by_key(|(_, kept)| kept.since).map(|(stream, _)| stream.clone());
    oldest.is_some_and(|oldest| answers.remove(&oldest).is_some())
}

#[cfg(test)]
mod tests;
