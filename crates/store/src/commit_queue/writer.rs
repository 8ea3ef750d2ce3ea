use std::mem;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::commit::Committer;
use super::spill::{self, Header};
use super::{BATCH_ROWS, Change, Queue, Shared, State};
use crate::{Database, StoreError};

/// How long changes that no caller waits for are collected: with a slow commit before and after, still under a second.
const GATHER: Duration = Duration::from_millis(400);

/// After this time it is written that a call has begun. Quick calls end before and need no such write.
const BEGUN_AFTER: Duration = Duration::from_millis(25);

const FIRST_RETRY: Duration = Duration::from_millis(50);
const LAST_RETRY: Duration = Duration::from_secs(2);

/// How long a closing writer goes on without progress before it gives its changes up.
const CLOSING_GRACE: Duration = Duration::from_secs(2);

/// The task that commits changes.
pub(super) struct Writer {
    committer: Committer,
    shared: Arc<Shared>,
    committed: u64,
    /// When the last group was committed.
    last_commit: Instant,
    /// Where changes are stored that could not be committed before the end.
    folder: Option<PathBuf>,
}

impl Writer {
    pub(super) fn new(database: Database, shared: Arc<Shared>, folder: Option<PathBuf>) -> Self {
        let (committer, last_commit) = (Committer::new(database), Instant::now());
        Self { committer, shared, committed: 0, last_commit, folder }
    }

    pub(super) async fn run(mut self) {
        while let Some(mut changes) = self.next_changes().await {
            let mut done = 0;
            while done < changes.len() {
                let batch = &changes[done..changes.len().min(done + BATCH_ROWS)];
                let (count, permits) =
                    (batch.len(), batch.iter().map(Change::permits).sum::<u32>());
                if let Err(error) = self.commit(batch).await {
                    self.give_up(changes.split_off(done), count, &error).await;
                    return;
                }
                done += count;
                self.shared.release(permits as usize);
            }
        }
        self.publish(State::Ended(None));
    }

    /// Ends with changes that are not committed, of which the first were `tried` as one group.
    async fn give_up(&mut self, mut left: Vec<Change>, tried: usize, error: &StoreError) {
        {
            let mut queue = self.shared.queue();
            take_begun(&mut queue, Instant::now());
            left.append(&mut queue.changes);
        }
        let writer = self.committer.writer().to_owned();
        let (count, folder) = (left.len(), self.folder.clone());
        let header = Header { writer, committed: self.committed, tried };
        let saved = tokio::task::spawn_blocking(move || {
            let folder = folder?;
            let saved = spill::save(&folder, &header, &left);
            Some(saved.inspect_err(|_| spill::log_lost(&left)))
        });
        let fate = match saved.await {
            Ok(Some(Ok(path))) => format!("{} keeps them for the next start", path.display()),
            Ok(Some(Err(error))) => {
                format!("they are lost, because they could not be stored: {error}")
            }
            Ok(None) | Err(_) => "they are lost".to_owned(),
        };
        let reason = format!("{count} rows were not written: {error}; {fate}");
        tracing::error!(%reason, "the audit trail ends incomplete");
        self.publish(State::Ended(Some(reason.into())));
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
        let mut pause = FIRST_RETRY;
        let shared = Arc::clone(&self.shared);
        let mut end = pin!(closing_grace_over(&shared, self.last_commit));
        let mut last_error = None;
        loop {
            let error = tokio::select! {
                appended = self.committer.append(batch, written) => match appended {
                    Ok(()) => break,
                    Err(error) => error,
                },
                () = &mut end => return Err(last_error.unwrap_or(StoreError::NoAnswer)),
            };
            tracing::error!(%error, "cannot write the audit trail; trying again");
            self.publish(State::Failing(error.to_string().into()));
            last_error = Some(error);
            tokio::select! {
                () = sleep(pause) => pause = (pause * 2).min(LAST_RETRY),
                _ = closed(&shared), if !shared.queue().closed => pause = FIRST_RETRY,
                () = &mut end => return Err(last_error.unwrap_or(StoreError::NoAnswer)),
            }
        }
        self.committed = written;
        self.last_commit = Instant::now();
        self.publish(State::Healthy);
        Ok(())
    }

    fn publish(&self, state: State) {
        self.shared.publish(self.committed, state);
    }
}

/// Returns when the queue is closed.
async fn closed(shared: &Shared) -> Instant {
    let mut closed_at = shared.closed_at.subscribe();
    // The sender lives as long as `shared`.
    let at = closed_at.wait_for(Option::is_some).await.ok().and_then(|at| *at);
    at.unwrap_or_else(Instant::now)
}

/// Returns when a closing writer has to give up: it makes no more progress.
async fn closing_grace_over(shared: &Shared, last_commit: Instant) {
    let since = closed(shared).await.max(last_commit);
    sleep_until(since + CLOSING_GRACE).await;
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
