use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use proto::{Code, Digest, Principal};
use serde_json::json;
use store::{QuestionRow, RunRow};
use tokio::sync::{Notify, watch};

use super::kind::{Kind, Owner, State, new_id};
use crate::Failure;

/// So many recorded answers are told apart; more of them do not count again.
const MAX_COUNTED: usize = 64;

/// How much of a run is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Keeps {
    /// Nothing yet: most callers never need their run.
    Nothing,
    /// What it has come to.
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
    /// Changes when a question finds its end.
    settled: watch::Sender<u64>,
    /// One asks at a time, so that a slot is asked once.
    pub(super) asking: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Inner {
    completed: bool,
    summary: Option<String>,
    artifacts: Vec<String>,
    data_tools: u64,
    /// Recorded answers that have counted.
    counted: HashSet<Digest>,
    /// After a restart it is not known which answers have counted: a recorded one then counts no more.
    knows_counted: bool,
    in_flight: HashMap<u64, Arc<str>>,
    arrivals: u64,
    touched_ms: u64,
    keeps: Keeps,
    unwritten: bool,
    questions: Vec<QuestionRow>,
}

/// Whether a call that gave an answer was the first to give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// The tool worked for it.
    Anew(Option<Digest>),
    /// The answer was there, or on its way to another.
    Recorded(Digest),
}

impl Run {
    pub(super) fn begin(kind: Kind, principal: &Principal, name: Option<String>, now: u64) -> Self {
        let keeps = match kind {
            Kind::Named | Kind::Batch => Keeps::Calls,
            Kind::Session => Keeps::Count,
            Kind::Current | Kind::Alone => Keeps::Nothing,
        };
        let inner = Inner {
            completed: false,
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
        Self::of(new_id(), kind, name, Owner::of(principal), now, inner)
    }

    /// A run as it was stored.
    pub(super) fn restored(row: RunRow, questions: Vec<QuestionRow>) -> Option<Self> {
        let kind = Kind::named(&row.kind)?;
        let owner = Owner { tenant: row.tenant, subject: row.subject, agent: row.agent };
        let inner = Inner {
            completed: row.state == State::Completed.as_str(),
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

    pub(crate) fn name(&self) -> Option<&str> {
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

    /// What its owner can name it by.
    pub(crate) fn called(&self) -> &str {
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

    /// Lets a call in. One that ends the run is no call that it would have to wait for.
    pub(super) fn admit(&self, now: u64, tool: &Arc<str>, ends: bool) -> Result<u64, Failure> {
        let mut inner = self.lock();
        if inner.completed {
            drop(inner);
            return Err(self.over());
        }
        inner.touched_ms = now;
        inner.arrivals += 1;
        let number = inner.arrivals;
        if !ends {
            inner.in_flight.insert(number, Arc::clone(tool));
        }
        Ok(number)
    }

    /// Lets a call go, however it ended.
    pub(super) fn leave(&self, number: u64, now: u64) {
        let mut inner = self.lock();
        inner.touched_ms = inner.touched_ms.max(now);
        let flew = inner.in_flight.remove(&number).is_some();
        drop(inner);
        if flew {
            self.landed.notify_waiters();
        }
    }

    /// Counts a data tool that has completed; an answer that is given again counts once.
    pub(super) fn count(&self, answered: Answered) {
        let mut inner = self.lock();
        let counts = match answered {
            Answered::Anew(None) => true,
            Answered::Anew(Some(answer)) => {
                if inner.counted.len() < MAX_COUNTED {
                    inner.counted.insert(answer);
                }
                true
            }
            Answered::Recorded(answer) => {
                inner.knows_counted
                    && inner.counted.len() < MAX_COUNTED
                    && inner.counted.insert(answer)
            }
        };
        inner.data_tools += u64::from(counts);
    }

    /// From now on all that happens in it is written down.
    pub(super) fn keep_calls(&self) {
        if self.kind != Kind::Alone {
            self.lock().keeps = Keeps::Calls;
        }
    }

    pub(super) fn keeps_calls(&self) -> bool {
        self.lock().keeps == Keeps::Calls
    }

    /// Whether anybody is shown it.
    pub(super) fn is_shown(&self) -> bool {
        self.lock().keeps > Keeps::Nothing
    }

    /// Notes that it has changed; says whether it must be put on the list of those to be written.
    pub(super) fn changed(&self) -> bool {
        let mut inner = self.lock();
        let first = inner.keeps > Keeps::Nothing && !inner.unwritten;
        inner.unwritten |= first;
        first
    }

    /// As it stands, to be written.
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
        if inner.completed {
            State::Completed
        } else if inner.waits() {
            State::Waiting
        } else if self.kind == Kind::Current && inner.is_idle(now, idle) {
            State::Expired
        } else {
            State::Open
        }
    }

    /// Whether a caller who names no run gets another one at the next call. A run that was named, and a session, keeps
    /// its name also when it is completed.
    pub(super) fn is_over(&self, now: u64, idle: Duration) -> bool {
        self.kind == Kind::Current
            && matches!(self.state(now, idle), State::Completed | State::Expired)
    }

    /// Whether memory can do without it for now.
    pub(super) fn may_rest(&self, now: u64, rest: Duration, idle: Duration) -> bool {
        let inner = self.lock();
        let pause = if self.kind == Kind::Current { idle } else { rest };
        !inner.unwritten && !inner.waits() && inner.is_idle(now, pause)
    }

    /// The tools whose calls are under way.
    pub(crate) fn in_flight(&self) -> Vec<Arc<str>> {
        let mut tools: Vec<_> = self.lock().in_flight.values().cloned().collect();
        tools.sort();
        tools
    }

    /// Waits until no call is under way and none has come for a moment, and completes the run in that instant. The
    /// calls of one turn of a model come at once, and not always in their order.
    pub(crate) async fn complete_when_idle(
        &self,
        lull: Duration,
        summary: &str,
    ) -> Result<(), Failure> {
        loop {
            let landed = self.landed.notified();
            tokio::pin!(landed);
            landed.as_mut().enable();
            let arrivals = {
                let inner = self.lock();
                if inner.completed {
                    drop(inner);
                    return Err(self.over());
                }
                inner.in_flight.is_empty().then_some(inner.arrivals)
            };
            let Some(arrivals) = arrivals else {
                landed.await;
                continue;
            };
            if self.kind != Kind::Alone {
                tokio::time::sleep(lull).await;
            }
            let mut inner = self.lock();
            if inner.in_flight.is_empty() && inner.arrivals == arrivals && !inner.completed {
                inner.completed = true;
                inner.summary = Some(summary.to_owned());
                return Ok(());
            }
        }
    }

    /// Takes back that it is completed, because that could not be written.
    pub(super) fn reopen(&self) {
        let mut inner = self.lock();
        inner.completed = false;
        inner.summary = None;
    }

    /// What a call is told that comes too late.
    pub(crate) fn over(&self) -> Failure {
        let called = self.called();
        let advice = match self.kind {
            Kind::Session => {
                "open a new session, or name another run with `_meta.run_id`, to begin anew"
            }
            _ => {
                "name another run, with `_meta.run_id` or the header `Powerstrip-Run`, to begin anew"
            }
        };
        Failure::new(Code::Denied, format!("the run `{called}` is completed; {advice}"))
            .details(json!({"run_id": called, "state": "completed"}))
    }

    /// Whether it is remembered: a single call by itself is not.
    pub(crate) fn is_kept(&self) -> bool {
        self.kind != Kind::Alone
    }

    pub(super) fn add_artifact(&self, file: &str) {
        let mut inner = self.lock();
        if !inner.artifacts.iter().any(|known| known == file) {
            inner.artifacts.push(file.to_owned());
        }
    }

    pub(crate) fn artifacts(&self) -> Vec<String> {
        self.lock().artifacts.clone()
    }

    pub(super) fn questions(&self) -> Vec<QuestionRow> {
        self.lock().questions.clone()
    }

    pub(super) fn question(&self, slot: &str) -> Option<QuestionRow> {
        self.lock().questions.iter().find(|question| question.slot_id == slot).cloned()
    }

    /// The question for a slot, if it has found its end.
    pub(crate) fn settled_question(&self, slot: &str) -> Option<QuestionRow> {
        self.question(slot).filter(|question| question.state != "open")
    }

    pub(super) fn add_question(&self, question: QuestionRow) {
        self.lock().questions.push(question);
    }

    /// Puts the end of a question into memory, and wakes who waits for it.
    pub(super) fn replace_question(&self, settled: QuestionRow) {
        let mut inner = self.lock();
        if let Some(question) = inner.questions.iter_mut().find(|known| known.id == settled.id) {
            *question = settled;
        }
        drop(inner);
        self.settled.send_modify(|count| *count += 1);
    }

    /// Hears of questions that find their end.
    pub(crate) fn settlements(&self) -> watch::Receiver<u64> {
        self.settled.subscribe()
    }
}

impl Inner {
    fn waits(&self) -> bool {
        !self.completed && self.questions.iter().any(|question| question.state == "open")
    }

    fn is_idle(&self, now: u64, pause: Duration) -> bool {
        self.in_flight.is_empty()
            && u128::from(now.saturating_sub(self.touched_ms)) > pause.as_millis()
    }
}
