use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

use super::commit::Committer;
use super::{BATCH_ROWS, Change, Queue, Shared, State};
use crate::{Database, StoreError};

/// How long changes that no caller waits for are collected: with a slow commit before and after, still under a second.
const GATHER: Duration = Duration::from_millis(400);

/// After this time it is written that a call has begun. Quick calls end before and need no such write.
const BEGUN_AFTER: Duration = Duration::from_millis(25);

const FIRST_RETRY: Duration = Duration::from_millis(50);
const LAST_RETRY: Duration = Duration::from_secs(2);

/// How long a closing writer keeps trying before it gives its changes up.
const CLOSING_GRACE: Duration = Duration::from_secs(2);

/// The task that commits changes.
pub(super) struct Writer {
    committer: Committer,
    shared: Arc<Shared>,
    committed: u64,
}

impl Writer {
    pub(super) fn new(database: Database, shared: Arc<Shared>) -> Self {
        Self { committer: Committer::new(database), shared, committed: 0 }
    }

    pub(super) async fn run(mut self) {
        while let Some(changes) = self.next_changes().await {
            let mut left = changes.len();
            for batch in changes.chunks(BATCH_ROWS) {
                if let Err(error) = self.commit(batch).await {
                    let left = left + self.shared.queue().changes.len();
                    let reason = format!("{left} rows were not written: {error}");
                    tracing::error!(%reason, "the audit trail ends incomplete");
                    self.publish(State::Ended(Some(reason.into())));
                    return;
                }
                left -= batch.len();
                let permits = batch.iter().map(|change| change.permits() as usize).sum();
                self.shared.release(permits);
            }
        }
        self.publish(State::Ended(None));
    }

    /// Waits for changes worth a commit; `None` when there will be no more.
    async fn next_changes(&self) -> Option<Vec<Change>> {
        loop {
            let due = {
                let mut queue = self.shared.queue();
                let begun = take_begun(&mut queue, Instant::now());
                let due = queue.oldest.map(|oldest| oldest + GATHER);
                let hurry = begun
                    || queue.closed
                    || queue.changes.len() >= BATCH_ROWS
                    || self.shared.urgent.load(Ordering::Acquire) > self.committed
                    || due.is_some_and(|due| due <= Instant::now());
                if hurry && !queue.changes.is_empty() {
                    queue.oldest = None;
                    // The next group has about the same size; growing the vector under the lock would delay calls.
                    let room = Vec::with_capacity(queue.changes.len().min(BATCH_ROWS));
                    return Some(mem::replace(&mut queue.changes, room));
                }
                if queue.closed {
                    return None;
                }
                let ripe = queue.begun.values().next().map(|(_, since)| *since + BEGUN_AFTER);
                due.into_iter().chain(ripe).min()
            };
            let called = self.shared.wake.notified();
            match due {
                // Either way the queue is checked again.
                Some(due) => drop(timeout_at(due, called).await),
                None => called.await,
            }
        }
    }

    /// Commits a batch, however often it takes; gives up only when the writer is closing.
    async fn commit(&mut self, batch: &[Change]) -> Result<(), StoreError> {
        let written = self.committed + batch.len() as u64;
        let mut result = self.committer.append(batch, written).await;
        let mut pause = FIRST_RETRY;
        let mut give_up = None;
        while let Err(error) = result {
            tracing::error!(%error, "cannot write the audit trail; trying again");
            self.publish(State::Failing(error.to_string().into()));
            tokio::select! {
                () = sleep(pause) => pause = (pause * 2).min(LAST_RETRY),
                () = self.shared.closing.notified() => pause = FIRST_RETRY,
            }
            if self.shared.queue().closed {
                let give_up = *give_up.get_or_insert_with(|| Instant::now() + CLOSING_GRACE);
                if Instant::now() > give_up {
                    return Err(error);
                }
            }
            result = self.committer.append(batch, written).await;
        }
        self.committed = written;
        self.publish(State::Healthy);
        Ok(())
    }

    fn publish(&self, state: State) {
        self.shared.publish(self.committed, state);
    }
}

/// Queues the beginnings of calls that are still running after a moment; returns whether there are any. When the writer
/// closes, all of them are queued: the next start records that they were interrupted.
fn take_begun(queue: &mut Queue, now: Instant) -> bool {
    let mut taken = false;
    while let Some(first) = queue.begun.first_entry()
        && (queue.closed || first.get().1 + BEGUN_AFTER <= now)
    {
        let (number, (row, _)) = first.remove_entry();
        queue.changes.push(Change::Begun { number, row });
        queue.last += 1;
        taken = true;
    }
    taken
}

impl Drop for Writer {
    /// Waiting callers must learn that the writer is gone, even after a panic or at the runtime's end.
    fn drop(&mut self) {
        let ended = matches!(self.shared.progress.borrow().state, State::Ended(_));
        if !ended {
            self.shared.end();
            self.publish(State::Ended(Some("its writer was stopped".into())));
        }
    }
}
