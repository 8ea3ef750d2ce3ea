//! Drives one workflow: does what the core's actions say, commits what they record, and reports the results as events.

mod commands;
mod commit;
mod journal;
mod people;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::Duration;

use dag::core::{Action, Address, Event, EventKind, Phase, Prepared, State, step};
use dag::plan::Plan;
use proto::Principal;
use runs::{Run, RunOf};
use serde_json::{Value, json};
use store::{Receipt, WorkflowEventRow, WorkflowTaskRow};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub(crate) use commit::LEASE_MS;

use crate::answer::Moment;
use crate::calls::{Called, Calls, Evaluated};
use crate::checkpoint;
use crate::failures::too_many_items;
use crate::queue::{CommandQueue, Message};
use crate::results::{ResultKey, Results, Status, error_of};
use crate::service::{Live, Service, Snapshot};

/// How long a paused workflow stays in memory without a command.
const IDLE: Duration = Duration::from_secs(5);

/// If more workflows than this are in memory, those that pause stay only for a moment, so that their callers get their
/// answers: memory holds busy ones, however many wait.
const MANY: usize = 64;
const MOMENT: Duration = Duration::from_millis(100);

/// After this time the writer has committed what no caller waited for, and readers can be notified.
const SETTLE: Duration = Duration::from_millis(450);

/// The workflow of a driver, as it is now.
pub(crate) struct DrivenWorkflow {
    pub(crate) id: Uuid,
    pub(crate) principal: Arc<Principal>,
    pub(crate) run: Arc<Run>,
    pub(crate) fence: u64,
    pub(crate) plan: Arc<Plan>,
    pub(crate) state: State,
    pub(crate) results: Arc<Results>,
    pub(crate) control_calls: Vec<u64>,
    pub(crate) expires_unix_ms: u64,
    pub(crate) last_event: u64,
    /// A process died while it drove the workflow, which has made no progress since.
    pub(crate) crashed: bool,
}

/// The result of something that runs concurrently with the driver.
enum Done {
    Event(EventKind),
    Called {
        key: ResultKey,
        called: Box<Called>,
    },
    /// The process stops, so the call was not started.
    NotCalled {
        key: ResultKey,
    },
    Prepared {
        task: Address,
        outcome: Prepared,
        error: Option<Value>,
    },
    Entered {
        cell: Address,
        error: Option<Value>,
    },
}

pub(crate) struct Driver {
    service: Arc<Service>,
    /// The workflow's entry in memory.
    live: Weak<Live>,
    workflow: DrivenWorkflow,
    evaluated: Arc<Evaluated>,
    running: JoinSet<Done>,
    cancels: HashMap<ResultKey, CancellationToken>,
    rows: Vec<WorkflowTaskRow>,
    events: Vec<WorkflowEventRow>,
    /// The last change that no caller waited for, and when it is surely committed.
    submitted: Option<(Receipt, Instant)>,
    answer: Option<Arc<Value>>,
    version: u64,
    published: watch::Sender<Arc<Snapshot>>,
    /// The DAG must be written with the next state.
    plan_changed: bool,
    /// The crashes are forgotten with the next state.
    forgives_crashes: bool,
    /// Another process drives the workflow, or the database refused for good.
    stopped: bool,
}

impl Driver {
    /// Starts a driver whose first state is committed.
    pub(crate) fn start(service: &Arc<Service>, workflow: DrivenWorkflow) -> Arc<Live> {
        let (commands, received) = CommandQueue::new();
        let (settled, notices) = mpsc::unbounded_channel();
        let first = Snapshot {
            version: 0,
            plan: Arc::clone(&workflow.plan),
            state: workflow.state.clone(),
            expires_unix_ms: workflow.expires_unix_ms,
            answer: None,
        };
        let (published, snapshots) = watch::channel(Arc::new(first));
        let live = Arc::new(Live {
            workflow: workflow.id,
            owner: Arc::clone(&workflow.principal),
            commands,
            settled,
            published: snapshots,
            results: Arc::clone(&workflow.results),
            run: Arc::clone(&workflow.run),
            crashed: workflow.crashed,
        });
        let driver = Self {
            service: Arc::clone(service),
            live: Arc::downgrade(&live),
            workflow,
            evaluated: Arc::default(),
            running: JoinSet::new(),
            cancels: HashMap::new(),
            rows: Vec::new(),
            events: Vec::new(),
            submitted: None,
            answer: None,
            version: 0,
            published,
            plan_changed: false,
            forgives_crashes: false,
            stopped: false,
        };
        service.live().insert(live.workflow, Arc::clone(&live));
        service.drivers.spawn(driver.run(received, notices));
        live
    }

    async fn run(
        mut self,
        mut commands: mpsc::UnboundedReceiver<Message>,
        mut notices: mpsc::UnboundedReceiver<()>,
    ) {
        let (draining, stopping) = (self.service.draining.clone(), self.service.stopping.clone());
        self.feed(EventKind::Committed).await;
        self.read_decisions().await;
        let mut idle_since = Instant::now();
        let mut in_use = false;
        while !self.stopped && self.workflow.state.outcome().is_none() {
            let drains = draining.is_cancelled();
            if drains && self.cancels.is_empty() {
                break;
            }
            let paused = self.running.is_empty() && self.workflow.state.pause().is_some();
            let idle = paused && self.submitted.is_none();
            let leaves_at = idle_since + if in_use { IDLE } else { self.idle_limit() };
            let settle = self.submitted.as_ref().map(|(_, at)| *at);
            tokio::select! {
                biased;
                () = stopping.cancelled() => break,
                () = draining.cancelled(), if !drains => {}
                // Before results: those may keep coming, and an abort does not wait for them.
                Some(message) = commands.recv() => {
                    self.command(message).await;
                    // Nor do results wait for callers who keep asking.
                    if let Some(done) = self.running.try_join_next() {
                        self.finish(done).await;
                    }
                    (idle_since, in_use) = (Instant::now(), false);
                }
                Some(done) = self.running.join_next(), if !self.running.is_empty() => {
                    self.finish(done).await;
                    (idle_since, in_use) = (Instant::now(), false);
                }
                Some(()) = notices.recv() => self.read_decisions().await,
                () = tokio::time::sleep_until(settle.unwrap_or(idle_since)), if settle.is_some() => {
                    self.announce().await;
                }
                () = tokio::time::sleep_until(leaves_at), if idle => {
                    if self.retire(&commands, &notices) {
                        return;
                    }
                    (idle_since, in_use) = (Instant::now(), true);
                }
            }
        }
        self.leave(&mut self.service.live());
        if draining.is_cancelled() {
            self.wait_until_written().await;
        } else {
            self.announce().await;
        }
    }

    /// How long it stays in memory without a command.
    fn idle_limit(&self) -> Duration {
        if self.service.live().len() > MANY { MOMENT } else { IDLE }
    }

    /// Leaves memory; false if it is in use: a caller waits for news of it, or a command or a notice has come. Those who find
    /// it later read it from the database.
    fn retire(
        &self,
        commands: &mpsc::UnboundedReceiver<Message>,
        notices: &mpsc::UnboundedReceiver<()>,
    ) -> bool {
        let mut live = self.service.live();
        // The table of live workflows holds one reference; callers hold the others.
        let waited_for = self.live.strong_count() > 1;
        if waited_for || !commands.is_empty() || !notices.is_empty() {
            return false;
        }
        self.leave(&mut live);
        true
    }

    /// Removes its own entry from memory, and no other.
    fn leave(&self, live: &mut HashMap<Uuid, Arc<Live>>) {
        let id = self.workflow.id;
        if live.get(&id).is_some_and(|own| std::ptr::eq(Arc::as_ptr(own), self.live.as_ptr())) {
            live.remove(&id);
        }
    }

    fn moment(&self) -> Moment<'_> {
        Moment {
            workflow: self.workflow.id,
            plan: &self.workflow.plan,
            state: &self.workflow.state,
            results: &self.workflow.results,
        }
    }

    fn calls(&self) -> Arc<Calls> {
        Arc::new(Calls {
            service: Arc::clone(&self.service),
            workflow: self.workflow.id,
            plan: Arc::clone(&self.workflow.plan),
            results: Arc::clone(&self.workflow.results),
            principal: Arc::clone(&self.workflow.principal),
            run: RunOf::Joined(Arc::clone(&self.workflow.run)),
            evaluated: Arc::clone(&self.evaluated),
        })
    }

    /// Applies an event, writes what it led to, and shows it.
    async fn feed(&mut self, event: EventKind) {
        self.apply(event).await;
        self.submit_rows().await;
        self.publish();
    }

    /// Applies an event and everything that follows from it at once.
    async fn apply(&mut self, event: EventKind) {
        let mut events = VecDeque::from([event]);
        while let Some(kind) = events.pop_front() {
            if self.stopped {
                return;
            }
            let at_unix_ms = self.service.now();
            let new_id = checkpoint::new_id(self.workflow.id);
            let state = self.workflow.state.take();
            let (state, actions) = step(state, Event { at_unix_ms, new_id, kind });
            self.workflow.state = state;
            for action in actions {
                if let Some(event) = self.perform(action).await {
                    events.push_back(event);
                }
            }
        }
    }

    /// Does what an action says; returns the event that it leads to at once.
    async fn perform(&mut self, action: Action) -> Option<EventKind> {
        if action.begins_work() && self.service.draining.is_cancelled() {
            // The next process does it: nothing is stored of what has not begun.
            return None;
        }
        match action {
            Action::CheckOwner => {
                let valid = self.service.strip.check_access(&self.workflow.principal);
                return Some(EventKind::OwnerChecked(valid));
            }
            Action::StartLayer { layer } => {
                self.evaluated.clear();
                self.note("layer_started", json!({"layer_index": layer}));
            }
            Action::Prepare { task } => {
                let calls = self.calls();
                self.running.spawn(async move {
                    let (outcome, error) = calls.prepare(&task).await;
                    Done::Prepared { task, outcome, error }
                });
            }
            Action::Enter { cell } => {
                let calls = self.calls();
                self.running.spawn(async move {
                    let error = calls.enter(&cell).await;
                    Done::Entered { cell, error }
                });
            }
            Action::Call { cell, undo } => self.call(ResultKey { address: cell, undo }),
            Action::Delay { cell, undo, until_unix_ms } => {
                let wait = until_unix_ms.saturating_sub(self.service.now());
                self.running.spawn(async move {
                    tokio::time::sleep(Duration::from_millis(wait)).await;
                    Done::Event(EventKind::Due { cell, undo })
                });
            }
            Action::Cancel => self.cancels.values().for_each(CancellationToken::cancel),
            Action::Withdraw => {
                // A crash in between must not leave questions withdrawn without the abort.
                if self.wait_until_written().await {
                    self.withdraw("the workflow was aborted").await;
                }
            }
            Action::Record(record) => {
                let now = self.service.now();
                let row = self.workflow.results.row(&self.workflow.plan, &record, now);
                self.note_record(&record);
                self.rows.push(row);
            }
            Action::Save => {
                if self.save().await {
                    return Some(EventKind::Committed);
                }
            }
            Action::Submit => self.submit().await,
            // Foreseen before the command was accepted.
            Action::Refuse(_) | Action::Repeat => {}
        }
        None
    }

    fn call(&mut self, key: ResultKey) {
        let attempt = if key.undo {
            1
        } else {
            self.workflow.state.root.cell(&key.address).map_or(1, |cell| cell.attempt)
        };
        let now = self.service.now();
        self.workflow.results.update(&key, |result| {
            result.status = Status::Running;
            result.attempt = attempt;
            if result.started_unix_ms == 0 {
                result.started_unix_ms = now;
            }
        });
        self.note_call(&key, attempt);
        let cancel = CancellationToken::new();
        self.cancels.insert(key.clone(), cancel.clone());
        let calls = self.calls();
        let stopping = self.service.stopping.clone();
        self.running.spawn(async move {
            let called = calls.call(&key, attempt, cancel).await;
            if stopping.is_cancelled() {
                // The gateway ends the calls in flight: the next start makes them again.
                std::future::pending::<()>().await;
            }
            match called {
                Some(called) => Done::Called { key, called: Box::new(called) },
                None => Done::NotCalled { key },
            }
        });
    }

    /// Takes the result of something that ran, and those that are there at the same time: they are written together.
    async fn finish(&mut self, first: Result<Done, JoinError>) {
        let mut waits = self.take(first).await;
        for _ in 0..self.running.len() {
            let Some(done) = self.running.try_join_next() else { break };
            waits |= self.take(done).await;
        }
        self.submit_rows().await;
        self.publish();
        if waits {
            // The decision may have been made already.
            self.read_decisions().await;
        }
    }

    /// Applies a result; returns whether it waits for people.
    async fn take(&mut self, done: Result<Done, JoinError>) -> bool {
        let Ok(done) = done else { return false };
        let waits = matches!(&done, Done::Called { called, .. } if called.waits_for_people());
        if let Some(event) = self.event_of(done) {
            self.apply(event).await;
        }
        waits
    }

    /// Keeps a result; returns the event that it is to the core, if it is one.
    fn event_of(&mut self, done: Done) -> Option<EventKind> {
        let event = match done {
            Done::NotCalled { key } => {
                self.cancels.remove(&key);
                return None;
            }
            Done::Event(event) => event,
            Done::Prepared { task, outcome, error } => {
                let key = ResultKey::call(task.clone());
                // The core refuses it; this is why.
                let overflow = match outcome {
                    Prepared::Items(items) => self.workflow.state.overflow(&task, items),
                    _ => None,
                };
                let error = overflow.map(|overflow| error_of(&too_many_items(overflow))).or(error);
                self.workflow.results.update(&key, |result| result.note.error = error);
                EventKind::Prepared { task, outcome }
            }
            Done::Entered { cell, error } => {
                let fits = error.is_none();
                let key = ResultKey::call(cell.clone());
                let now = self.service.now();
                self.workflow.results.update(&key, |result| {
                    result.note.error = error;
                    result.started_unix_ms = now;
                });
                EventKind::Entered { cell, fits }
            }
            Done::Called { key, called } => {
                self.cancels.remove(&key);
                let (outcome, waits) = (called.outcome, called.waits_for_people());
                self.workflow.results.update(&key, |result| {
                    result.note.error = called.error;
                    if let Some(arguments) = &called.arguments {
                        result.note.keep_arguments(arguments);
                    }
                    if waits {
                        result.note.waits = called.waits;
                    }
                    if let Some(output) = &called.output {
                        result.keep_output(output);
                    }
                });
                EventKind::Called { cell: key.address, undo: key.undo, outcome }
            }
        };
        Some(event)
    }

    /// Shows others the current state.
    fn publish(&mut self) {
        let before = self.published.borrow();
        let state = &self.workflow.state;
        let quiet = matches!(state.phase, Phase::Running | Phase::Checking | Phase::Saving(_))
            && before.is_running()
            && before.state.root.layer == state.root.layer
            && before.version > 0;
        drop(before);
        if quiet {
            return;
        }
        self.version += 1;
        let snapshot = Snapshot {
            version: self.version,
            plan: Arc::clone(&self.workflow.plan),
            state: self.workflow.state.clone(),
            expires_unix_ms: self.workflow.expires_unix_ms,
            answer: self.answer.clone(),
        };
        self.published.send_replace(Arc::new(snapshot));
    }
}
