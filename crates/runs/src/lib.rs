//! Runs: groups of calls that belong to one piece of work. A run counts completed data tools, asks people, holds artifacts,
//! and ends once.
//!
//! Runs live in memory and are stored in the database: counts and calls in groups, questions and the end of a run before
//! they are announced.

mod answers;
mod index;
mod kind;
mod member;
mod run;
mod view;
mod writer;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use proto::{Blame, Clock, Code, Failure, Principal};
use store::{CommitQueue, Database, RunCallRow, RunChanges, RunName, RunRow, StoreError};
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub use answers::{AnswerCheck, NewQuestion};
use index::{Key, RunIndex};
use kind::Kind;
pub use kind::{CallRole, RunEnd};
pub use member::Member;
pub use run::{Completion, Run};
pub use store::{Listed, RunFilter};
pub use view::{QuestionView, RunCall, RunDetails, RunSummary};
pub use writer::REMEMBERED;

/// How long an unnamed run stays the current one without a call.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// How many events a subscriber may fall behind before it misses some.
const EVENTS: usize = 256;

/// How often a run is looked up again that ends at the moment of the call.
const TRIES: usize = 4;

/// Which run a call belongs to.
#[derive(Clone, Debug, Default)]
pub enum RunOf {
    /// The call is a run of its own.
    #[default]
    Alone,
    /// The one that the caller names.
    Named(Arc<str>),
    /// The session of a client before MCP 2026-07-28.
    Session(Arc<str>),
    /// The current run of a caller that names none.
    Current,
    /// One that is joined already.
    Joined(Arc<Run>),
}

impl RunOf {
    /// The id of the run that the call has joined.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Joined(run) => Some(run.id()),
            _ => None,
        }
    }

    /// What distinguishes one session of a caller from another: the session of a client that has one, or the run that the
    /// caller names.
    pub fn session(&self) -> Option<&str> {
        match self {
            Self::Named(name) | Self::Session(name) => Some(name),
            Self::Joined(run) => run.session(),
            Self::Alone | Self::Current => None,
        }
    }
}

/// A change of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEvent {
    pub tenant: String,
    /// The run's id.
    pub run: String,
    pub what: RunChange,
}

/// The kinds of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunChange {
    Began,
    /// A call of it has ended.
    Called,
    /// It asks a person something.
    Asked,
    /// A question of it was answered, declined or withdrawn.
    Answered,
    /// It has one more artifact.
    Stored,
    /// It has ended, completed or not.
    Completed,
}

/// All runs.
#[derive(Clone)]
pub struct Runs(Arc<Shared>);

struct Shared {
    database: Database,
    /// Writes runs in groups, together with audit rows.
    commits: CommitQueue,
    clock: Clock,
    known: Mutex<RunIndex>,
    unwritten: Mutex<Unwritten>,
    wake: Arc<Notify>,
    /// Held while runs or questions are written, so that writes are committed in the order of what they saw.
    writing: tokio::sync::Mutex<()>,
    writer: OnceLock<()>,
    events: broadcast::Sender<RunEvent>,
    answered: broadcast::Sender<String>,
    checks: Mutex<BTreeMap<&'static str, AnswerCheck>>,
    /// The gateway stops: calls wait for no answer.
    ending: CancellationToken,
}

#[derive(Default)]
struct Unwritten {
    runs: Vec<Arc<Run>>,
    calls: Vec<RunCallRow>,
}

impl Runs {
    /// The runs of this database.
    pub fn new(database: Database, commits: CommitQueue, clock: Clock) -> Self {
        Self(Arc::new(Shared {
            database,
            commits,
            clock,
            known: Mutex::default(),
            unwritten: Mutex::default(),
            wake: Arc::default(),
            writing: tokio::sync::Mutex::default(),
            writer: OnceLock::new(),
            events: broadcast::channel(EVENTS).0,
            answered: broadcast::channel(EVENTS).0,
            checks: Mutex::default(),
            ending: CancellationToken::new(),
        }))
    }

    /// Subscribes to changes of runs.
    pub fn events(&self) -> broadcast::Receiver<RunEvent> {
        self.0.events.subscribe()
    }

    /// Subscribes to the ids of runs of which a question was answered or declined: calls do not make it fall behind.
    pub fn answered(&self) -> broadcast::Receiver<String> {
        self.0.answered.subscribe()
    }

    /// Ends the wait of calls for answers, because the gateway stops. Their questions stay open.
    pub fn end_waiting(&self) {
        self.0.ending.cancel();
    }

    /// Cancelled when the gateway stops.
    pub fn ending(&self) -> &CancellationToken {
        &self.0.ending
    }

    /// Begins a run for a batch of calls that names none.
    pub fn begin_batch(&self, principal: &Principal, name: String) -> Arc<Run> {
        let run = Arc::new(Run::begin(Kind::Batch, principal, Some(name), self.now()));
        self.known().insert(None, &run);
        self.notify(&run, RunChange::Began);
        run
    }

    /// Begins the run of a new workflow, under the workflow's name. Its id is `run_` and the 32 hex digits of the
    /// workflow's.
    pub fn begin_workflow(&self, principal: &Principal, workflow: Uuid, name: &str) -> Arc<Run> {
        let id = kind::id_of_workflow(workflow);
        let name = Some(name.to_owned());
        let run = Arc::new(Run::begin_as(id, Kind::Workflow, principal, name, self.now()));
        self.known().insert(None, &run);
        self.keep(&run);
        self.notify(&run, RunChange::Began);
        run
    }

    /// The run of a workflow that goes on, from memory or the database: who pauses a workflow drops its run. The data tools
    /// that completed are given, because the last ones may not have been written before a crash. A run that was ended for the
    /// workflow's own end is opened again, because that end was not committed.
    pub async fn resume_workflow(
        &self,
        principal: &Principal,
        workflow: Uuid,
        name: &str,
        data_tools: u64,
    ) -> Result<Arc<Run>, Failure> {
        let id = kind::id_of_workflow(workflow);
        let found = self.by_id(None, &id).await?;
        // Not found: the gateway crashed before the run was written.
        let run = found.unwrap_or_else(|| self.begin_workflow(principal, workflow, name));
        if !run.owner().is(principal) {
            return Err(no_such_run(&id));
        }
        run.reopen_unfinished();
        run.count_at_least(data_tools);
        Ok(run)
    }

    /// Ends the run of a workflow and withdraws its open questions. A run that has ended stays as it is, except that `aborted`
    /// and `failed` replace `completed`. The end is committed no later than any change that is submitted to the writer after
    /// this.
    pub async fn end(&self, run: &Arc<Run>, end: RunEnd) -> Result<(), Failure> {
        let now = self.now();
        if !run.end(end, now) {
            return Ok(());
        }
        let row = run.row(now, IDLE);
        let changes = Arc::new(RunChanges { runs: vec![row], calls: Vec::new() });
        if let Err(error) = self.0.commits.save_runs(&changes).await {
            run.reopen();
            return Err(unwritable(error));
        }
        self.withdraw_questions(run).await;
        // Listing runs flushes first, and so waits for the row above.
        self.keep(run);
        self.notify(run, RunChange::Completed);
        Ok(())
    }

    /// Notes that a person rejected a task of a workflow, or that it goes on after that.
    pub fn set_rejected(&self, run: &Arc<Run>, rejected: bool) {
        run.set_rejected(rejected);
        self.keep(run);
    }

    /// The clock of all runs.
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// The time by that clock.
    pub fn now(&self) -> u64 {
        self.0.clock.unix_ms()
    }

    fn known(&self) -> MutexGuard<'_, RunIndex> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn checks(&self) -> MutexGuard<'_, BTreeMap<&'static str, AnswerCheck>> {
        self.0.checks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify(&self, run: &Run, what: RunChange) {
        // Most of the time there are no subscribers.
        if self.0.events.receiver_count() > 0 {
            let (tenant, run) = (run.owner().tenant.clone(), run.id().to_owned());
            let _ = self.0.events.send(RunEvent { tenant, run, what });
        }
    }

    /// The run that a call belongs to; begins one if there is none.
    async fn join(&self, of: &RunOf, principal: &Principal) -> Result<Arc<Run>, Failure> {
        let (kind, name) = match of {
            RunOf::Alone => {
                return Ok(Arc::new(Run::begin(Kind::Alone, principal, None, self.now())));
            }
            RunOf::Joined(run) if run.owner().is(principal) => return Ok(Arc::clone(run)),
            RunOf::Joined(run) => return Err(no_such_run(run.id())),
            RunOf::Named(name) if kind::is_id(name) => {
                let tenant = Some(principal.tenant.as_str());
                let found = Box::pin(self.by_id(tenant, name)).await?;
                let found = found.filter(|run| run.owner().is(principal));
                return found.ok_or_else(|| no_such_run(name));
            }
            RunOf::Named(name) => (Kind::Named, Some(&**name)),
            RunOf::Session(id) => (Kind::Session, Some(&**id)),
            RunOf::Current => (Kind::Current, None),
        };
        let key = Key::new(kind, principal, name);
        let now = self.now();
        let before = self.known().get(&key);
        let first = before.is_none();
        if let Some(run) = before.filter(|run| !run.is_over(now, IDLE)) {
            return Ok(run);
        }
        // Boxed to keep the common future small: only the first call of a run needs it.
        let restored = if first { Box::pin(self.restored(&key)).await? } else { None };
        let restored = restored.filter(|run| !run.is_over(now, IDLE));
        let begun = restored.is_none();
        let run = restored
            .unwrap_or_else(|| Arc::new(Run::begin(kind, principal, name.map(str::to_owned), now)));
        let (run, taken) = self.known().insert_unless(key, run, |known| !known.is_over(now, IDLE));
        if begun && taken {
            // Even if nothing is to be written: ended runs must not accumulate in memory.
            self.wake();
            if run.is_shown() {
                self.notify(&run, RunChange::Began);
            }
        }
        Ok(run)
    }

    /// A run as the database remembers it.
    async fn restored(&self, key: &Key) -> Result<Option<Arc<Run>>, Failure> {
        let name = RunName {
            tenant: &key.owner.tenant,
            subject: &key.owner.subject,
            agent: key.owner.agent.as_deref(),
            kind: key.kind.as_str(),
            name: key.name.as_deref(),
        };
        let called = key.name.as_deref().unwrap_or(key.kind.as_str());
        match self.0.database.run_named(name).await.map_err(unreadable(called))? {
            Some(row) => self.read(row).await.map(Some),
            None => Ok(None),
        }
    }

    async fn read(&self, row: RunRow) -> Result<Arc<Run>, Failure> {
        let id = row.id.clone();
        let questions = self.0.database.run_questions(&id).await.map_err(unreadable(&id))?;
        let run = Run::restored(row, questions).ok_or_else(|| {
            tracing::error!(run = id, "the kind or state of a stored run is damaged");
            damaged(&id, "kind or state")
        })?;
        Ok(Arc::new(run))
    }

    /// The run of an id, from memory or the database, and in memory from now on; of this tenant, if one is named.
    async fn by_id(&self, tenant: Option<&str>, id: &str) -> Result<Option<Arc<Run>>, Failure> {
        if let Some(run) = self.known().of_id(id) {
            let is_visible = tenant.is_none_or(|tenant| run.owner().tenant == tenant);
            return Ok(Some(run).filter(|_| is_visible));
        }
        let Some(row) = self.0.database.run(tenant, id).await.map_err(unreadable(id))? else {
            return Ok(None);
        };
        let run = self.read(row).await?;
        Ok(Some(self.known().insert_read(run, self.now(), IDLE)))
    }
}

impl Drop for Shared {
    /// Wakes the writer task, so that it ends.
    fn drop(&mut self) {
        self.wake.notify_one();
    }
}

fn no_such_run(name: &str) -> Failure {
    let shown: String = name.chars().take(100).collect();
    Failure::new(Code::NotFound, format!("there is no run `{shown}`"))
}

/// The failure for a run of which something stored is damaged: trying again does not help.
fn damaged(run: &str, column: &str) -> Failure {
    let shown: String = run.chars().take(100).collect();
    let message =
        format!("what is stored of the run `{shown}` is damaged: its {column} cannot be read");
    Failure::new(Code::Internal, message).blame(Blame::Gateway)
}

fn unreadable(run: &str) -> impl FnOnce(StoreError) -> Failure {
    move |error| match error {
        StoreError::Unreadable { column, .. } => damaged(run, column).caused_by(error),
        error => unavailable(error),
    }
}

fn unavailable(error: StoreError) -> Failure {
    Failure::new(Code::Unavailable, "the gateway's record of runs cannot be read").caused_by(error)
}

fn unwritable(error: StoreError) -> Failure {
    Failure::new(Code::Unavailable, "the gateway's record of runs cannot be written")
        .caused_by(error)
}

#[cfg(test)]
mod tests;
