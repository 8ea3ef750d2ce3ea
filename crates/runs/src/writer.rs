//! Writes changes of runs in groups; calls do not wait for it.

use std::mem;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use store::{RunCallRow, RunChanges, StoreError};
use tokio::time::timeout;

use super::run::Run;
use super::{IDLE, Runs, Unwritten};

/// How long changes gather before they are written.
const GATHER: Duration = Duration::from_millis(500);

/// How long a run that was written stays in memory without a call.
const REST: Duration = Duration::from_secs(60);

/// How often memory is looked through for such runs.
const SWEEP_MS: u64 = 30 * 1000;

/// How long an idle run is stored, and how often such runs are removed.
pub const REMEMBERED: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const FORGET_MS: u64 = 60 * 60 * 1000;

/// How many calls may wait to be written. Beyond that the oldest are dropped: they are only shown, nothing depends on them.
const MAX_CALLS: usize = 20_000;

/// How long the end of the process waits for a flush under way.
const CLOSE_TIME: Duration = Duration::from_millis(500);

impl Runs {
    /// Queues a run to be written, if it has changed.
    pub(super) fn keep(&self, run: &Arc<Run>) {
        if run.changed() {
            self.unwritten().runs.push(Arc::clone(run));
            self.wake();
        }
    }

    /// Queues a call to be written.
    pub(super) fn note(&self, call: RunCallRow) {
        let mut unwritten = self.unwritten();
        if unwritten.calls.len() >= MAX_CALLS {
            unwritten.calls.drain(..MAX_CALLS / 10);
            tracing::warn!(
                "calls of runs come faster than they are written; some will not be shown"
            );
        }
        unwritten.calls.push(call);
        drop(unwritten);
        self.wake();
    }

    fn unwritten(&self) -> std::sync::MutexGuard<'_, Unwritten> {
        self.0.unwritten.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the writer task, and starts it on first use.
    pub(super) fn wake(&self) {
        self.0.wake.notify_one();
        self.0.writer.get_or_init(|| {
            // Ends when the last `Runs` is dropped.
            let (shared, wake) = (Arc::downgrade(&self.0), Arc::clone(&self.0.wake));
            tokio::spawn(async move {
                let (mut swept_ms, mut forgot_ms) = (0, 0);
                loop {
                    wake.notified().await;
                    tokio::time::sleep(GATHER).await;
                    let Some(runs) = shared.upgrade().map(Runs) else { return };
                    if let Err(error) = runs.flush().await {
                        tracing::error!(%error, "runs could not be written; trying again");
                        wake.notify_one();
                    }
                    let now = runs.now();
                    if now.saturating_sub(swept_ms) > SWEEP_MS {
                        swept_ms = now;
                        runs.known().sweep(now, REST, IDLE);
                    }
                    if now.saturating_sub(forgot_ms) > FORGET_MS {
                        forgot_ms = now;
                        let kept_ms = u64::try_from(REMEMBERED.as_millis()).unwrap_or(u64::MAX);
                        let before = now.saturating_sub(kept_ms);
                        if let Err(error) = runs.0.database.forget_runs(before).await {
                            tracing::warn!(%error, "old runs could not be forgotten");
                        }
                    }
                }
            });
        });
    }

    /// Writes what is not written yet.
    pub async fn flush(&self) -> Result<(), StoreError> {
        let _one_at_a_time = self.0.writing.lock().await;
        let Some((runs, changes)) = self.take_changes() else { return Ok(()) };
        match self.0.commits.save_runs(&changes).await {
            // Once submitted, the writer keeps trying by itself.
            Ok(receipt) => {
                receipt.committed().await?;
                self.known().release(runs);
                Ok(())
            }
            Err(error) => {
                let calls = Arc::unwrap_or_clone(changes).calls;
                self.unwritten().calls.splice(..0, calls);
                for run in &runs {
                    if run.changed() {
                        self.unwritten().runs.push(Arc::clone(run));
                    }
                }
                Err(error)
            }
        }
    }
    /// Submits what is not written yet when the process ends; the commit queue writes it or stores it for the next
    /// start.
    pub async fn close(&self) -> Result<(), StoreError> {
        // A database that does not answer holds up the flush that has this lock.
        let _one_at_a_time = timeout(CLOSE_TIME, self.0.writing.lock()).await;
        match self.take_changes() {
            Some((_, changes)) => self.0.commits.save_last_runs(changes).await,
            None => Ok(()),
        }
    }

    fn take_changes(&self) -> Option<(Vec<Arc<Run>>, Arc<RunChanges>)> {
        let Unwritten { runs, calls } = mem::take(&mut *self.unwritten());
        if runs.is_empty() && calls.is_empty() {
            return None;
        }
        let now = self.now();
        let rows = runs.iter().map(|run| run.take_row(now, IDLE)).collect();
        Some((runs, Arc::new(RunChanges { runs: rows, calls })))
    }
}
