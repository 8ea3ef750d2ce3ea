//! The group-commit writer: changes are numbered as they are submitted and committed in groups by one task.
//!
//! Audit rows, records of calls with an idempotency key, runs and workflows share one queue, so one commit covers a call's
//! record and its row. A new kind of change is a variant of `Change` and an arm in `commit`. A change costs its caller a short
//! lock; only a caller that waits for a receipt pays for watching the writer's progress.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, Semaphore, SemaphorePermit, TryAcquireError, watch};
use tokio::time::Instant;

use crate::workflows::Submitted;
use crate::{
    AuditFilter, AuditRecords, AuditRow, CallChange, CallDetail, Database, RunChanges, StoreError,
    WorkflowChange,
};

mod change;
mod commit;
mod spill;
mod writer;

use change::{Change, MAX_ROWS};

/// The most changes in one transaction: enough to make the commit cheap, and few enough to hold in memory.
const BATCH_ROWS: usize = 1024;

/// Submits changes to the writer, for any number of tasks; also reads the audit rows that are committed.
#[derive(Clone, Debug)]
pub struct CommitQueue(Arc<Handle>);

/// Ends the writer when the last handle is dropped.
#[derive(Debug)]
struct Handle(Arc<Shared>, Database);

/// Identifies a call that has begun, until the row of its end is recorded.
#[derive(Debug)]
pub struct BegunCall(u64);

/// The promise to commit one change; it may be dropped if no caller waits for the commit.
#[derive(Debug)]
pub struct Receipt {
    number: u64,
    shared: Arc<Shared>,
    /// Set before the commit if the change was refused.
    refused: Option<Arc<AtomicBool>>,
}

#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    /// A permit for each row that still fits into memory; released when rows are committed.
    room: Semaphore,
    /// Permits of rows that were queued without one during an outage; paid back as rows are committed.
    debt: AtomicUsize,
    /// Wakes the writer: a first change, a full batch, a waiting receipt, the end.
    wake: Notify,
    /// Since when no more changes are accepted.
    closed_at: watch::Sender<Option<Instant>>,
    /// The highest number whose receipt a caller waits for.
    urgent: AtomicU64,
    /// Whether `progress` reports a failure; checked on every call.
    failing: AtomicBool,
    progress: watch::Sender<Progress>,
}

#[derive(Debug, Default)]
struct Queue {
    changes: Vec<Change>,
    /// When the first of `changes` was submitted.
    oldest: Option<Instant>,
    /// The number of the change that was submitted last.
    last: u64,
    /// Calls that have begun and are not written: most end before they would be.
    begun: BTreeMap<u64, (AuditRow, Instant)>,
    /// The number of the call that began last.
    last_begun: u64,
    closed: bool,
}

/// Whether a change is kept in memory while changes cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// As long as there is room.
    IfRoom,
    Always,
}

#[derive(Clone, Debug)]
struct Progress {
    /// All changes up to this number are committed.
    committed: u64,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Healthy,
    /// Changes are kept and tried again; new ones are refused.
    Failing(Arc<str>),
    /// The writer has ended; why it did not commit everything, if so.
    Ended(Option<Arc<str>>),
}

impl CommitQueue {
    /// Starts the writer task on the current Tokio runtime, of which there must be one.
    pub fn start(database: Database) -> Self {
        Self::start_writer(database, None)
    }

    /// Starts the writer. Changes that cannot be committed before the end are stored in the data folder, for `recover`.
    pub fn start_in(database: Database, folder: &Path) -> Self {
        Self::start_writer(database, Some(folder.to_owned()))
    }

    fn start_writer(database: Database, folder: Option<PathBuf>) -> Self {
        let shared = Arc::new(Shared::new());
        tokio::spawn(writer::Writer::new(database.clone(), Arc::clone(&shared), folder).run());
        Self(Arc::new(Handle(shared, database)))
    }

    /// Writes the changes that an earlier process could not commit; returns how many there were. Only the owner of the
    /// data folder may call it, before anything else is written.
    pub async fn recover(database: &Database, folder: &Path) -> Result<usize, StoreError> {
        spill::recover(database, folder).await
    }

    /// Submits a row; waits only while memory is full, and refuses it while rows cannot be written.
    pub async fn record(&self, row: AuditRow) -> Result<Receipt, StoreError> {
        self.submit(Change::Row { row, ends: None, detail: None }).await
    }

    /// Submits the row of a call's end and what is kept with it; this also ends the note of the call's beginning.
    /// While rows cannot be written it waits in memory. The row of a call that has begun always finds room there: no call
    /// begins during an outage, so there are at most as many as calls were running when it started.
    pub async fn finish(
        &self,
        row: AuditRow,
        begun: Option<BegunCall>,
        detail: Option<Box<CallDetail>>,
    ) -> Result<Receipt, StoreError> {
        let mut change = Change::Row { row, ends: None, detail };
        let kept = if begun.is_some() { Kept::Always } else { Kept::IfRoom };
        self.0.0.reserve(change.permits(), kept).await?;
        let begun = begun.map(|begun| begun.0);
        self.enqueue(|queue| {
            let unwritten = begun.and_then(|number| queue.begun.remove(&number));
            if unwritten.is_some() {
                self.0.0.release(1);
            } else if let Change::Row { ends, .. } = &mut change {
                *ends = begun;
            }
            change
        })
    }

    /// Notes that a call begins. `row` is its audit row if the process ends before the call does. It is written when the
    /// call takes longer than a moment, and nothing waits for that.
    pub async fn begin(&self, row: AuditRow) -> Result<BegunCall, StoreError> {
        let shared = &self.0.0;
        let permit = shared.permits(1).await?;
        let (number, first) = {
            let mut queue = shared.queue();
            if queue.closed {
                return Err(StoreError::AuditClosed);
            }
            queue.last_begun += 1;
            let (number, first) = (queue.last_begun, queue.begun.is_empty());
            queue.begun.insert(number, (row, Instant::now()));
            (number, first)
        };
        permit.forget();
        if first {
            shared.wake.notify_one();
        }
        Ok(BegunCall(number))
    }

    /// Begins a call that may run only after its row is committed: wait for the receipt.
    pub async fn begin_durably(&self, row: AuditRow) -> Result<(BegunCall, Receipt), StoreError> {
        self.0.0.permits(1).await?.forget();
        let mut begun = 0;
        let receipt = self.enqueue(|queue| {
            queue.last_begun += 1;
            begun = queue.last_begun;
            Change::Begun { number: begun, row }
        })?;
        Ok((BegunCall(begun), receipt))
    }

    /// Submits a change of the recorded calls. It is committed no later than any row that is recorded after it.
    pub async fn change_calls(&self, change: CallChange) -> Result<Receipt, StoreError> {
        self.submit(Change::Call(Box::new(change))).await
    }

    /// Submits how a recorded call ended, as `finish` does for its audit row.
    pub async fn end_call(&self, change: CallChange) -> Result<Receipt, StoreError> {
        let change = Change::Call(Box::new(change));
        self.0.0.reserve(change.permits(), Kept::Always).await?;
        self.enqueue(|_| change)
    }

    /// Submits runs and their calls; see `Database::save_runs`.
    pub async fn save_runs(&self, changes: &Arc<RunChanges>) -> Result<Receipt, StoreError> {
        self.submit(Change::Runs(Arc::clone(changes))).await
    }

    /// Submits runs at the end of the process. While changes cannot be written, it waits for the end of the writer.
    pub async fn save_last_runs(&self, changes: Arc<RunChanges>) -> Result<(), StoreError> {
        let change = Change::Runs(changes);
        self.0.0.reserve(change.permits(), Kept::Always).await?;
        self.enqueue(|_| change).map(drop)
    }

    /// Submits a step of a workflow. Its receipt fails with `Fenced` if the step was refused; then nothing was changed.
    pub async fn save_workflow(&self, change: WorkflowChange) -> Result<Receipt, StoreError> {
        let refused = Arc::new(AtomicBool::new(false));
        let step = Box::new(Submitted { change, refused: Arc::clone(&refused) });
        let receipt = self.submit(Change::Workflow(step)).await?;
        Ok(Receipt { refused: Some(refused), ..receipt })
    }

    async fn submit(&self, change: Change) -> Result<Receipt, StoreError> {
        self.0.0.permits(change.permits()).await?.forget();
        self.enqueue(|_| change)
    }

    /// Queues a change for which memory is reserved.
    fn enqueue(&self, change: impl FnOnce(&mut Queue) -> Change) -> Result<Receipt, StoreError> {
        let shared = &self.0.0;
        let (number, waiting) = {
            let mut queue = shared.queue();
            if queue.closed {
                return Err(StoreError::AuditClosed);
            }
            if queue.changes.is_empty() {
                queue.oldest = Some(Instant::now());
            }
            let change = change(&mut queue);
            queue.changes.push(change);
            queue.last += 1;
            (queue.last, queue.changes.len())
        };
        if waiting == 1 || waiting == BATCH_ROWS {
            shared.wake.notify_one();
        }
        Ok(Receipt { number, shared: Arc::clone(shared), refused: None })
    }

    /// Rows that are committed, with the messages of failures.
    pub async fn messages(&self, filter: AuditFilter) -> Result<AuditRecords, StoreError> {
        self.0.1.audit_messages(filter).await
    }

    /// Rows that are committed, with all that is stored about the calls.
    pub async fn records(&self, filter: AuditFilter) -> Result<AuditRecords, StoreError> {
        self.0.1.audit_records(filter).await
    }

    /// The database, for statistics of committed rows.
    pub fn database(&self) -> &Database {
        &self.0.1
    }

    /// Why changes cannot be written at present, if they cannot.
    pub fn failing(&self) -> Option<String> {
        let shared = &self.0.0;
        if !shared.failing.load(Ordering::Acquire) {
            return None;
        }
        match &shared.progress.borrow().state {
            State::Failing(reason) | State::Ended(Some(reason)) => Some(reason.to_string()),
            State::Healthy | State::Ended(None) => None,
        }
    }

    /// Accepts no more changes and returns when all submitted ones are committed, or cannot be.
    pub async fn close(&self) -> Result<(), StoreError> {
        let shared = &self.0.0;
        shared.end();
        let mut progress = shared.progress.subscribe();
        let last = progress.wait_for(|now| matches!(now.state, State::Ended(_))).await;
        match last.map(|now| now.state.clone()) {
            Ok(State::Ended(Some(reason))) => Err(StoreError::AuditFailing(reason)),
            _ => Ok(()),
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Receipt {
    /// Returns when the change is on disk, and makes the writer hurry.
    ///
    /// After an error the change may still be written later: the writer keeps trying, and this may be called again.
    pub async fn committed(&self) -> Result<(), StoreError> {
        let shared = &self.shared;
        let mut progress = shared.progress.subscribe();
        if progress.borrow().committed >= self.number {
            return self.outcome();
        }
        shared.urgent.fetch_max(self.number, Ordering::AcqRel);
        shared.wake.notify_one();
        let settled =
            |now: &Progress| now.committed >= self.number || now.state.refusal().is_some();
        match progress.wait_for(settled).await {
            Ok(now) if now.committed >= self.number => self.outcome(),
            Ok(now) => Err(now.state.refusal().unwrap_or(StoreError::AuditClosed)),
            Err(_) => Err(StoreError::AuditClosed),
        }
    }

    /// Whether the change took effect, now that its group is committed.
    fn outcome(&self) -> Result<(), StoreError> {
        let refused = self.refused.as_ref().is_some_and(|refused| refused.load(Ordering::Acquire));
        if refused { Err(StoreError::Fenced) } else { Ok(()) }
    }
}

impl State {
    /// The error for a caller who submits a change in this state.
    fn refusal(&self) -> Option<StoreError> {
        match self {
            Self::Healthy => None,
            Self::Failing(reason) | Self::Ended(Some(reason)) => {
                Some(StoreError::AuditFailing(Arc::clone(reason)))
            }
            Self::Ended(None) => Some(StoreError::AuditClosed),
        }
    }
}

impl Shared {
    fn new() -> Self {
        Self {
            queue: Mutex::default(),
            room: Semaphore::new(MAX_ROWS),
            debt: AtomicUsize::new(0),
            wake: Notify::new(),
            closed_at: watch::Sender::new(None),
            urgent: AtomicU64::new(0),
            failing: AtomicBool::new(false),
            progress: watch::Sender::new(Progress { committed: 0, state: State::Healthy }),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Nothing that runs under the lock can leave the queue half changed.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Permits for memory; waits only while there is none, and refuses while changes cannot be written.
    async fn permits(&self, count: u32) -> Result<SemaphorePermit<'_>, StoreError> {
        if self.failing.load(Ordering::Acquire)
            && let Some(refusal) = self.refusal()
        {
            return Err(refusal);
        }
        match self.room.try_acquire_many(count) {
            Ok(permit) => Ok(permit),
            Err(TryAcquireError::NoPermits) => self.wait_for_room(count).await,
            Err(TryAcquireError::Closed) => Err(self.closed()),
        }
    }

    /// Takes memory for a change that is kept while changes cannot be written.
    async fn reserve(&self, count: u32, kept: Kept) -> Result<(), StoreError> {
        let refusal = match self.permits(count).await {
            Ok(permit) => {
                permit.forget();
                return Ok(());
            }
            Err(refusal) => refusal,
        };
        if !matches!(self.progress.borrow().state, State::Failing(_)) {
            return Err(refusal);
        }
        match (self.room.try_acquire_many(count), kept) {
            (Ok(permit), _) => permit.forget(),
            (Err(TryAcquireError::NoPermits), Kept::Always) => {
                let taken = self.room.forget_permits(count as usize);
                self.debt.fetch_add(count as usize - taken, Ordering::AcqRel);
            }
            (Err(_), _) => return Err(refusal),
        }
        Ok(())
    }

    /// Gives memory back; a debt is paid first.
    fn release(&self, count: usize) {
        let pay = |debt: usize| (debt > 0).then(|| debt.saturating_sub(count));
        let debt = self.debt.fetch_update(Ordering::AcqRel, Ordering::Acquire, pay).unwrap_or(0);
        self.room.add_permits(count - debt.min(count));
    }

    async fn wait_for_room(&self, count: u32) -> Result<SemaphorePermit<'_>, StoreError> {
        let mut progress = self.progress.subscribe();
        tokio::select! {
            permit = self.room.acquire_many(count) => permit.map_err(|_| self.closed()),
            state = progress.wait_for(|now| now.state.refusal().is_some()) => {
                Err(state.ok().and_then(|now| now.state.refusal()).unwrap_or(StoreError::AuditClosed))
            }
        }
    }

    fn refusal(&self) -> Option<StoreError> {
        self.progress.borrow().state.refusal()
    }

    /// Why the writer accepts no more changes.
    fn closed(&self) -> StoreError {
        self.refusal().unwrap_or(StoreError::AuditClosed)
    }

    /// Accepts no more changes, and lets the writer finish.
    fn end(&self) {
        self.queue().closed = true;
        self.room.close();
        self.wake.notify_one();
        self.closed_at.send_if_modified(|at| at.is_none() && at.replace(Instant::now()).is_none());
    }

    fn publish(&self, committed: u64, state: State) {
        let failing = !matches!(state, State::Healthy | State::Ended(None));
        self.failing.store(failing, Ordering::Release);
        self.progress.send_replace(Progress { committed, state });
    }
}

#[cfg(test)]
mod tests;
