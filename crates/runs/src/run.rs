use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use proto::{Code, Digest, Failure, Principal};
use serde_json::json;
use store::{QuestionRow, QuestionState, RunRow};
use tokio::sync::{Notify, watch};

use super::kind::{CallRole, Kind, Owner, RunEnd, State, new_id};

/// How many recorded answers are distinguished; further ones do not count.
const MAX_COUNTED: usize = 64;

/// How much of a run is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Keeps {
    /// Nothing yet: most callers never need their run.
    Nothing,
    /// Its counts and its state.
    Count,
    /// That, and each of its calls.
    Calls,
}

/// One run.
#[derive(Debug)]
pub struct Run {
    id: String,
    kind: Kind,
    name: Option<String>,
    owner: Owner,
    created_ms: u64,
    inner: Mutex<Inner>,
    /// A call has ended.
    landed: Notify,
    /// Changes when a question is settled.
    settled: watch::Sender<u64>,
    /// Held while asking, so that a slot is asked once.
    pub(super) asking: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Inner {
    ended: Option<RunEnd>,
    /// A person rejected a task of the workflow, and it has not gone on since.
    rejected: bool,
    summary: Option<String>,
    artifacts: Vec<String>,
    data_tools: u64,
    /// Recorded answers that have counted.
    counted: HashSet<Digest>,
    /// False after a restart: it is not known which recorded answers have counted, so none counts.
    knows_counted: bool,
    in_flight: HashMap<u64, Arc<str>>,
    arrivals: u64,
    touched_ms: u64,
    keeps: Keeps,
    unwritten: bool,
    questions: Vec<QuestionRow>,
}

/// How a data tool was completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// The tool ran.
    Fresh(Option<Digest>),
    /// The answer was recorded or shared.
    Recorded(Digest),
}

impl Run {
    pub(super) fn begin(kind: Kind, principal: &Principal, name: Option<String>, now: u64) -> Self {
        Self::begin_as(new_id(), kind, principal, name, now)
    }

    /// Begins a run whose id is given.
    pub(super) fn begin_as(
        id: String,
        kind: Kind,
        principal: &Principal,
        name: Option<String>,
        now: u64,
    ) -> Self {
        let keeps = match kind {
            Kind::Named | Kind::Batch | Kind::Workflow => Keeps::Calls,
            Kind::Session => Keeps::Count,
            Kind::Current | Kind::Alone => Keeps::Nothing,
        };
        let inner = Inner {
            ended: None,
            rejected: false,
            summary: None,
            artifacts: Vec::new(),
            data_tools: 0,
            counted: HashSet::new(),
            knows_counted: true,
            in_flight: HashMap::new(),
            arrivals: 0,
            touched_ms: now,
            keeps,
            unwritten: false,
            questions: Vec::new(),
        };
        Self::of(id, kind, name, Owner::of(principal), now, inner)
    }

    /// A run as it was stored; none if its kind or state is damaged.
    pub(super) fn restored(row: RunRow, questions: Vec<QuestionRow>) -> Option<Self> {
        let kind = Kind::named(&row.kind)?;
        let state = State::stored(kind, &row.state)?;
        let owner = Owner { tenant: row.tenant, subject: row.subject, agent: row.agent };
        let inner = Inner {
            ended: state.end(),
            rejected: state == State::Rejected,
            summary: row.summary,
            artifacts: row.artifacts,
            data_tools: row.data_tools,
            counted: HashSet::new(),
            knows_counted: false,
            in_flight: HashMap::new(),
            arrivals: 0,
            touched_ms: row.touched_unix_ms,
            keeps: if kind == Kind::Session { Keeps::Count } else { Keeps::Calls },
            unwritten: false,
            questions,
        };
        Some(Self::of(row.id, kind, row.name, owner, row.created_unix_ms, inner))
    }

    fn of(
        id: String,
        kind: Kind,
        name: Option<String>,
        owner: Owner,
        created_ms: u64,
        inner: Inner,
    ) -> Self {
        Self {
            id,
            kind,
            name,
            owner,
            created_ms,
            inner: Mutex::new(inner),
            landed: Notify::new(),
            settled: watch::channel(0).0,
            asking: tokio::sync::Mutex::default(),
        }
    }

    /// The id that the gateway gave it.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The name by which it is one session of its owner; see [`RunOf::session`](super::RunOf::session).
    pub(super) fn session(&self) -> Option<&str> {
        let is_session = matches!(self.kind, Kind::Named | Kind::Session);
        self.name().filter(|_| is_session)
    }

    pub(crate) fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The name that its owner can use.
    pub fn called(&self) -> &str {
        match (self.kind, &self.name) {
            (Kind::Named, Some(name)) => name,
            _ => &self.id,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing that runs under the lock can leave it half changed.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many data tools have completed in it.
    pub fn data_tools(&self) -> u64 {
        self.lock().data_tools
    }

    /// Admits a call. A call that ends the run does not wait for itself.
    pub(super) fn admit(&self, now: u64, tool: &Arc<str>, role: CallRole) -> Result<u64, Failure> {
        let mut inner = self.lock();
        let ends = role == CallRole::End;
        let passes = match role {
            CallRole::Plain => false,
            // The last task of a workflow may be repeated after a crash.
            CallRole::End => inner.ended == Some(RunEnd::Completed),
            // A workflow is undone after its run was completed, aborted or failed.
            CallRole::Compensation => true,
        };
        let passes = passes && self.kind == Kind::Workflow;
        if let Some(end) = inner.ended.filter(|_| !passes) {
            drop(inner);
            return Err(self.over(end));
        }
        inner.touched_ms = now;
        inner.arrivals += 1;
        let number = inner.arrivals;
        if !ends {
            inner.in_flight.insert(number, Arc::clone(tool));
        }
        Ok(number)
    }

    /// Removes a call that has ended.
    pub(super) fn leave(&self, number: u64, now: u64) {
        let mut inner = self.lock();
        inner.touched_ms = inner.touched_ms.max(now);
        let flew = inner.in_flight.remove(&number).is_some();
        drop(inner);
        if flew {
            self.landed.notify_waiters();
        }
    }

    /// Counts a completed data tool; a repeated answer counts once.
    pub fn count(&self, completion: Completion) {
        let mut inner = self.lock();
        let counts = match completion {
            Completion::Fresh(None) => true,
            Completion::Fresh(Some(answer)) => {
                if inner.counted.len() < MAX_COUNTED {
                    inner.counted.insert(answer);
                }
                true
            }
            Completion::Recorded(answer) => {
                inner.knows_counted
                    && inner.counted.len() < MAX_COUNTED
                    && inner.counted.insert(answer)
            }
        };
        inner.data_tools += u64::from(counts);
    }

    /// Stores each of its calls from now on.
    pub(super) fn keep_calls(&self) {
        if self.kind != Kind::Alone {
            self.lock().keeps = Keeps::Calls;
        }
    }

    pub fn keeps_calls(&self) -> bool {
        self.lock().keeps == Keeps::Calls
    }

    /// Whether lists show it.
    pub(super) fn is_shown(&self) -> bool {
        self.lock().keeps > Keeps::Nothing
    }

    /// Marks it as changed; returns whether it must be queued to be written.
    pub(super) fn changed(&self) -> bool {
        let mut inner = self.lock();
        let first = inner.keeps > Keeps::Nothing && !inner.unwritten;
        inner.unwritten |= first;
        first
    }

    /// Its row, to be written.
    pub(super) fn take_row(&self, now: u64, idle: Duration) -> RunRow {
        self.lock().unwritten = false;
        self.row(now, idle)
    }

    pub(super) fn row(&self, now: u64, idle: Duration) -> RunRow {
        let state = self.state(now, idle);
        let inner = self.lock();
        RunRow {
            id: self.id.clone(),
            tenant: self.owner.tenant.clone(),
            subject: self.owner.subject.clone(),
            agent: self.owner.agent.clone(),
            kind: self.kind.as_str().to_owned(),
            name: self.name.clone(),
            state: state.as_str().to_owned(),
            summary: inner.summary.clone(),
            artifacts: inner.artifacts.clone(),
            data_tools: inner.data_tools,
            created_unix_ms: self.created_ms,
            touched_unix_ms: inner.touched_ms,
        }
    }

    pub(super) fn state(&self, now: u64, idle: Duration) -> State {
        let inner = self.lock();
        if let Some(end) = inner.ended {
            State::Ended(end)
        } else if inner.waits() {
            State::Waiting
        } else if inner.rejected {
            State::Rejected
        } else if self.kind == Kind::Current && inner.is_idle(now, idle) {
            State::Expired
        } else {
            State::Open
        }
    }

    /// Whether the next call of a caller that names no run begins another one. Named runs and sessions keep their name
    /// after completion.
    pub(super) fn is_over(&self, now: u64, idle: Duration) -> bool {
        self.kind == Kind::Current
            && matches!(self.state(now, idle), State::Ended(_) | State::Expired)
    }

    /// Whether it may be dropped from memory.
    pub(super) fn may_rest(&self, now: u64, rest: Duration, idle: Duration) -> bool {
        let pause = if self.kind == Kind::Current { idle } else { rest };
        self.may_leave() && self.lock().is_idle(now, pause)
    }

    /// Whether everything of it is stored, and nothing waits for it.
    pub(super) fn may_leave(&self) -> bool {
        let inner = self.lock();
        !inner.unwritten && !inner.waits() && inner.in_flight.is_empty()
    }

    /// The tools of the calls in flight.
    pub fn in_flight(&self) -> Vec<Arc<str>> {
        let mut tools: Vec<_> = self.lock().in_flight.values().cloned().collect();
        tools.sort();
        tools
    }

    /// Waits until no call is in flight and none has come for a moment, and completes the run then. The calls of one turn
    /// of a model arrive together, and not always in order.
    pub async fn complete_when_idle(&self, lull: Duration, summary: &str) -> Result<(), Failure> {
        loop {
            let landed = self.landed.notified();
            tokio::pin!(landed);
            landed.as_mut().enable();
            let arrivals = {
                let inner = self.lock();
                if let Some(end) = inner.ended {
                    let repeated = self.kind == Kind::Workflow && end == RunEnd::Completed;
                    drop(inner);
                    return if repeated { Ok(()) } else { Err(self.over(end)) };
                }
                inner.in_flight.is_empty().then_some(inner.arrivals)
            };
            let Some(arrivals) = arrivals else {
                landed.await;
                continue;
            };
            // A workflow calls it last.
            if !matches!(self.kind, Kind::Alone | Kind::Workflow) {
                tokio::time::sleep(lull).await;
            }
            let mut inner = self.lock();
            if inner.in_flight.is_empty() && inner.arrivals == arrivals && inner.ended.is_none() {
                inner.ended = Some(RunEnd::Completed);
                inner.summary = Some(summary.to_owned());
                return Ok(());
            }
        }
    }

    /// Undoes its completion, because that could not be written.
    pub(super) fn reopen(&self) {
        let mut inner = self.lock();
        inner.ended = None;
        inner.summary = None;
    }

    /// Opens the run of a workflow that goes on, unless a task has completed it: the workflow's own end was not committed.
    pub(super) fn reopen_unfinished(&self) {
        let mut inner = self.lock();
        let completed_by_task = inner.ended == Some(RunEnd::Completed) && inner.summary.is_some();
        if !completed_by_task {
            inner.ended = None;
        }
    }

    /// Ends it; returns false if it has ended before. The end of a workflow that was undone replaces its completion.
    pub(super) fn end(&self, end: RunEnd, now: u64) -> bool {
        let mut inner = self.lock();
        let undone = matches!(end, RunEnd::Aborted | RunEnd::Failed);
        let ends = match inner.ended {
            None => true,
            Some(RunEnd::Completed) => undone,
            Some(_) => false,
        };
        inner.touched_ms = inner.touched_ms.max(now);
        if ends {
            inner.ended = Some(end);
            if undone {
                inner.summary = None;
            }
        }
        ends
    }

    /// Notes whether a person has rejected a task of the workflow.
    pub(super) fn set_rejected(&self, rejected: bool) {
        self.lock().rejected = rejected;
    }

    /// Counts data tools that completed before a restart.
    pub(super) fn count_at_least(&self, data_tools: u64) {
        let mut inner = self.lock();
        inner.data_tools = inner.data_tools.max(data_tools);
    }

    /// The refusal of a call after the end of the run.
    pub fn over(&self, end: RunEnd) -> Failure {
        let called = self.called();
        let advice = match self.kind {
            Kind::Session => {
                "open a new session, or name another run with `_meta.run_id`, to begin again"
            }
            Kind::Workflow => "start another workflow to begin again",
            _ => {
                "name another run, with `_meta.run_id` or the header `Powerstrip-Run`, to begin again"
            }
        };
        let state = end.as_str();
        Failure::new(Code::Denied, format!("the run `{called}` is {state}; {advice}"))
            .details(json!({"run_id": called, "state": state}))
    }

    /// Whether it is stored: a single call without a run is not.
    pub fn is_kept(&self) -> bool {
        self.kind != Kind::Alone
    }

    pub(super) fn add_artifact(&self, file: &str) {
        let mut inner = self.lock();
        if !inner.artifacts.iter().any(|known| known == file) {
            inner.artifacts.push(file.to_owned());
        }
    }

    pub fn artifacts(&self) -> Vec<String> {
        self.lock().artifacts.clone()
    }

    pub(super) fn questions(&self) -> Vec<QuestionRow> {
        self.lock().questions.clone()
    }

    pub fn question(&self, slot: &str) -> Option<QuestionRow> {
        self.lock().questions.iter().find(|question| question.slot_id == slot).cloned()
    }

    /// The question of a slot, if it is settled.
    pub fn settled_question(&self, slot: &str) -> Option<QuestionRow> {
        self.question(slot).filter(|question| question.state != QuestionState::Open)
    }

    /// The questions that wait for an answer, oldest first.
    pub fn open_questions(&self) -> Vec<QuestionRow> {
        let mut questions = self.questions();
        questions.retain(|question| question.state == QuestionState::Open);
        questions
    }

    pub(super) fn add_question(&self, question: QuestionRow) {
        self.lock().questions.push(question);
    }

    /// Replaces a settled question, and wakes the calls that wait for it.
    pub(super) fn replace_question(&self, settled: QuestionRow) {
        if let Some(known) = self.lock().questions.iter_mut().find(|one| one.id == settled.id) {
            *known = settled;
        }
        self.settled.send_modify(|count| *count += 1);
    }

    /// Subscribes to settled questions.
    pub fn settlements(&self) -> watch::Receiver<u64> {
        self.settled.subscribe()
    }
}

impl Inner {
    fn waits(&self) -> bool {
        let is_open = |question: &QuestionRow| question.state == QuestionState::Open;
        self.ended.is_none() && self.questions.iter().any(is_open)
    }

    fn is_idle(&self, now: u64, pause: Duration) -> bool {
        self.in_flight.is_empty()
            && u128::from(now.saturating_sub(self.touched_ms)) > pause.as_millis()
    }
}
