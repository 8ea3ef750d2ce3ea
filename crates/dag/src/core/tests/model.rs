//! A driver that does nothing but check: it answers the core's actions at random, and crashes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::*;
use crate::plan::MAX_TASKS;

/// A sequence of decisions; zeros once it is used up.
#[derive(Default)]
pub(super) struct Choices {
    left: Vec<u32>,
}

impl Choices {
    pub(super) fn of(left: Vec<u32>) -> Self {
        Self { left }
    }

    fn next(&mut self, below: usize) -> usize {
        self.left.pop().map_or(0, |choice| choice as usize % below.max(1))
    }
}

#[derive(Clone, Debug)]
enum Work {
    Owner,
    Prepare(Address),
    Enter(Address),
    Call(Address, bool),
    Wait(Address, bool),
}

/// What one transaction writes: the rows of a step, and the state if the step saves it.
#[derive(Default)]
struct Change {
    rows: Vec<Record>,
    saved: Option<Box<Saved>>,
    approvals: Approvals,
}

/// The last approval of each call and compensation that needed one.
type Approvals = BTreeMap<(bool, Address), usize>;

pub(super) struct Model {
    pub(super) state: State,
    pub(super) outcome: fn(&Address, u32) -> CallOutcome,
    /// The compensations that were called, in their order.
    pub(super) undone: Vec<Address>,
    graph: Arc<Graph>,
    choices: Choices,
    random: bool,
    work: Vec<Work>,
    /// Submitted and not committed.
    log: Vec<Change>,
    saved: Saved,
    rows: BTreeMap<(bool, Address), Record>,
    crashes: usize,
    /// How often each attempt of a cell was called; retries and calls that are to be repeated excepted.
    calls: BTreeMap<(Address, u32), usize>,
    approvals: Approvals,
    /// The committed approvals: rows name the approval that their call waits for.
    kept_approvals: Approvals,
    approvals_made: usize,
    /// The approvals that each checkpoint showed when it was new.
    shown: BTreeMap<String, BTreeSet<usize>>,
    aborted: bool,
    ids: usize,
}

impl Model {
    pub(super) fn new(graph: Arc<Graph>, rules: Rules, choices: Choices) -> Self {
        let state = State::new(Arc::clone(&graph), rules);
        let saved = state.saved();
        let mut model = Self {
            state,
            outcome: |_, _| CallOutcome::Success,
            undone: Vec::new(),
            graph,
            choices,
            random: false,
            work: Vec::new(),
            log: Vec::new(),
            saved,
            rows: BTreeMap::new(),
            crashes: 0,
            calls: BTreeMap::new(),
            approvals: BTreeMap::new(),
            kept_approvals: BTreeMap::new(),
            approvals_made: 0,
            shown: BTreeMap::new(),
            aborted: false,
            ids: 0,
        };
        model.step(EventKind::Committed);
        model
    }

    pub(super) fn command(&mut self, kind: EventKind) {
        self.step(kind);
    }

    fn step(&mut self, kind: EventKind) {
        self.ids += 1;
        let event = Event { at_unix_ms: 1, new_id: format!("chk_{}", self.ids), kind };
        let (state, actions) = step(self.state.clone(), event);
        self.state = state;
        let mut save = false;
        let mut change = Change { approvals: self.approvals.clone(), ..Change::default() };
        for action in actions {
            assert!(!save, "nothing follows a commit before it has happened: {action:?}");
            match action {
                Action::CheckOwner => self.work.push(Work::Owner),
                Action::Prepare { task } => self.work.push(Work::Prepare(task)),
                Action::Enter { cell } => self.work.push(Work::Enter(cell)),
                Action::Call { cell, undo } => {
                    self.check_call(&cell, undo);
                    self.work.push(Work::Call(cell, undo));
                }
                Action::Delay { cell, undo, .. } => self.work.push(Work::Wait(cell, undo)),
                Action::Record(record) => change.rows.push(record),
                Action::Submit | Action::Save => {
                    change.saved = Some(Box::new(self.state.saved()));
                    let next = Change { approvals: change.approvals.clone(), ..Change::default() };
                    self.log.push(std::mem::replace(&mut change, next));
                    save = action == Action::Save;
                }
                Action::StartLayer { .. }
                | Action::Cancel
                | Action::Withdraw
                | Action::Refuse(_)
                | Action::Repeat => {}
            }
        }
        if !change.rows.is_empty() {
            self.log.push(change);
        }
        let calling = self.state.count(|stage| *stage == CellStage::Calling);
        assert!(calling <= self.state.rules.parallel);
        assert!(self.state.size() <= MAX_TASKS, "{} tasks", self.state.size());
        if save {
            if self.random && self.choices.next(12) == 11 {
                return self.crash();
            }
            self.commit(self.log.len());
            self.check_rebuild();
            self.step(EventKind::Committed);
        }
        if matches!(self.state.phase, Phase::Paused(_) | Phase::Ended(_)) {
            // Checks and delays that an abort has overtaken have no effect.
            let overtaken = |work: &&Work| match work {
                Work::Owner => true,
                Work::Wait(..) => self.state.ending.is_some(),
                _ => false,
            };
            let left: Vec<_> = self.work.iter().filter(|work| !overtaken(work)).collect();
            assert!(left.is_empty(), "{left:?} while {:?}", self.state.phase);
        }
        self.check_pause();
    }

    /// A pause names what it waits for, and its id covers nothing that was not shown under it.
    fn check_pause(&mut self) {
        let Some(pause) = self.state.pause() else { return };
        if pause.kind == PauseKind::Approval {
            let parked = self.state.cells_in(|stage| *stage == CellStage::Parked);
            let undos = self.state.compensations.iter();
            let undos = undos.filter(|undo| undo.stage == UndoStage::Parked);
            let undos = undos.map(|undo| (true, undo.cell.clone()));
            let keys = parked.into_iter().map(|cell| (false, cell)).chain(undos);
            let now: BTreeSet<_> = keys.map(|key| self.approvals[&key]).collect();
            let shown = self.shown.entry(pause.checkpoint_id.clone());
            let shown = shown.or_insert_with(|| now.clone());
            assert!(now.is_subset(shown), "{pause:?} showed {shown:?} and covers {now:?}");
        }
        let count = |one: CellStage| self.state.count(|stage| *stage == one);
        let mut undone = self.state.compensations.iter();
        let undo = undone.any(|undo| undo.stage == UndoStage::Parked);
        match pause.kind {
            PauseKind::Approval => {
                assert!(count(CellStage::Parked) > 0 || undo, "{:?}", self.state)
            }
            PauseKind::Input => {
                assert!(
                    count(CellStage::Parked) == 0 && count(CellStage::Asking) > 0,
                    "{:?}",
                    self.state
                );
            }
            _ => {}
        }
    }

    fn check_call(&mut self, cell: &Address, undo: bool) {
        let key = (undo, cell.clone());
        if undo {
            assert!(self.state.ending.is_some());
            let ended = self.rows.get(&key).map(|row| row.status);
            assert!(!matches!(ended, Some(RecordStatus::Ended(_))), "{cell:?} is undone twice");
            self.undone.push(cell.clone());
            return;
        }
        assert!(!self.aborted, "{cell:?} is called after the abort");
        let attempt = self.state.root.cell(cell).unwrap().attempt;
        let committed = self.rows.get(&key);
        let over = committed.is_some_and(|row| {
            matches!(row.status, RecordStatus::Ended(_)) && row.attempt >= attempt
        });
        assert!(!over, "{cell:?} is called after its result was committed");
        let tries = self.state.root.cell(cell).unwrap().tries;
        if tries == 0 {
            let calls = self.calls.entry((cell.clone(), attempt)).or_default();
            *calls += 1;
            assert!(*calls <= 1 + self.crashes, "{cell:?} is called {calls} times");
        }
        let layer = self.graph_of(cell).nodes[cell.last().unwrap().task].layer;
        let mut scope = &self.state.root;
        for step in &cell.0[..cell.0.len() - 1] {
            scope = scope.tasks[step.task].cells[&step.item].inner.as_deref().unwrap();
        }
        let graph = self.graph_of(cell);
        for (node, task) in graph.nodes.iter().zip(&scope.tasks) {
            let ended = matches!(task.stage, Stage::Ended(_));
            assert!(node.layer >= layer || ended, "{cell:?} starts before an earlier layer ends");
        }
    }

    fn graph_of(&self, cell: &Address) -> Arc<Graph> {
        let mut graph = Arc::clone(&self.graph);
        for step in &cell.0[..cell.0.len() - 1] {
            graph = Arc::clone(graph.nodes[step.task].graph.as_ref().unwrap());
        }
        graph
    }

    fn commit(&mut self, count: usize) {
        for change in self.log.drain(..count) {
            for record in change.rows {
                let key = (record.undo, record.address.clone());
                self.rows.insert(key, record);
            }
            if let Some(saved) = change.saved {
                self.saved = *saved;
            }
            self.kept_approvals = change.approvals;
        }
        self.aborted |= matches!(self.saved.ending, Some(Outcome::Aborted { .. }));
    }

    fn rebuilt(&self) -> State {
        let records = self.rows.values().cloned().collect();
        rebuild(Arc::clone(&self.graph), self.saved.clone(), records)
    }

    /// Checks that a state that is rebuilt from the commits equals the core's.
    fn check_rebuild(&self) {
        let rebuilt = self.rebuilt();
        let gone = |pause: &Pause| matches!(pause.kind, PauseKind::OwnerGone { .. });
        let gone = matches!(&self.saved.phase, Phase::Paused(pause) if gone(pause));
        if gone || self.state.ending.is_some() {
            return;
        }
        let ended = |state: &State| {
            let mut found = BTreeSet::new();
            state.root.each_cell(&Address::default(), &mut |address, cell| {
                let shown = match cell.stage {
                    CellStage::Ended(verdict) => Some(format!("{verdict:?}")),
                    CellStage::Parked => Some("parked".to_owned()),
                    CellStage::Asking => Some("asking".to_owned()),
                    _ => None,
                };
                if let Some(shown) = shown {
                    found.insert((address.clone(), shown, cell.attempt, cell.sequence));
                }
            });
            found
        };
        assert_eq!(ended(&rebuilt), ended(&self.state));
        let stages = |state: &State| {
            let ended = |task: &TaskState| match task.stage {
                Stage::Ended(verdict) => Some((verdict, task.because)),
                _ => None,
            };
            state.root.tasks.iter().map(ended).collect::<Vec<_>>()
        };
        assert_eq!(stages(&rebuilt), stages(&self.state));
        assert_eq!(rebuilt.saved(), self.state.saved());
        assert!(rebuilt.size() <= MAX_TASKS, "{} tasks", rebuilt.size());
    }

    fn crash(&mut self) {
        self.crashes += 1;
        let kept = self.choices.next(self.log.len() + 1);
        self.commit(kept);
        self.log.clear();
        self.work.clear();
        self.approvals = self.kept_approvals.clone();
        self.state = self.rebuilt();
        self.step(EventKind::Committed);
    }

    /// Answers one piece of work.
    fn answer(&mut self, place: usize) {
        let random = self.random;
        match self.work.remove(place) {
            Work::Owner => {
                let gone = random && self.choices.next(20) == 19;
                let valid = if gone { Err("gone".to_owned()) } else { Ok(()) };
                self.step(EventKind::OwnerChecked(valid));
            }
            Work::Prepare(task) => {
                let node = self.graph_of(&task).nodes[task.last().unwrap().task].clone();
                // After a crash the same outputs give the same list.
                let outcome = match (node.for_each, place_of(&task) % 5) {
                    (false, 1) if random => Prepared::Skip,
                    (false, _) => Prepared::One,
                    (true, 2) if random => Prepared::Failed,
                    (true, other) => Prepared::Items(other % 4),
                };
                self.step(EventKind::Prepared { task, outcome });
            }
            Work::Enter(cell) => {
                let fits = !random || self.choices.next(10) != 9;
                self.step(EventKind::Entered { cell, fits });
            }
            Work::Call(cell, undo) => {
                let outcome = if random {
                    match self.choices.next(13) {
                        0..=6 => CallOutcome::Success,
                        7 => CallOutcome::Failed { retryable: true },
                        8 => CallOutcome::Failed { retryable: false },
                        9 => CallOutcome::Parked,
                        10 => CallOutcome::Asking,
                        11 => CallOutcome::Full,
                        _ => CallOutcome::Rejected,
                    }
                } else {
                    let attempt = self.state.root.cell(&cell).map_or(1, |cell| cell.attempt);
                    if undo { CallOutcome::Success } else { (self.outcome)(&cell, attempt) }
                };
                if outcome == CallOutcome::Parked {
                    self.approvals_made += 1;
                    self.approvals.insert((undo, cell.clone()), self.approvals_made);
                }
                let repeated = [CallOutcome::Parked, CallOutcome::Asking, CallOutcome::Full];
                if !undo
                    && repeated.contains(&outcome)
                    && let Some(Cell { attempt, tries: 0, .. }) = self.state.root.cell(&cell)
                    && let Some(calls) = self.calls.get_mut(&(cell.clone(), *attempt))
                {
                    *calls -= 1;
                }
                self.step(EventKind::Called { cell, undo, outcome });
            }
            Work::Wait(cell, undo) => self.step(EventKind::Due { cell, undo }),
        }
    }

    pub(super) fn run_until_quiet(&mut self) {
        while !self.work.is_empty() {
            self.answer(0);
        }
    }

    /// Settles everything that waits for a person.
    fn settle_all(&mut self, approved: bool) {
        let waits = |stage: &CellStage| matches!(stage, CellStage::Parked | CellStage::Asking);
        for cell in self.state.cells_in(waits) {
            let feedback = None;
            self.step(EventKind::Settled { cell, undo: false, approved, feedback });
        }
        let parked: Vec<_> = self.state.compensations.iter().collect();
        let parked = parked.into_iter().filter(|undo| undo.stage == UndoStage::Parked);
        for cell in parked.map(|undo| undo.cell.clone()).collect::<Vec<_>>() {
            self.step(EventKind::Settled { cell, undo: true, approved, feedback: None });
        }
    }

    pub(super) fn run_randomly(&mut self) {
        self.random = true;
        while !self.choices.left.is_empty() && self.state.outcome().is_none() {
            let tasks = self.graph.nodes.len();
            match self.choices.next(16) {
                0 => self.crash(),
                1 => self.step(EventKind::Continue { checkpoint_id: None }),
                2 if self.choices.next(4) == 3 => {
                    self.step(EventKind::Abort { reason: "enough".to_owned() });
                    self.cancel();
                }
                3 => {
                    let task = self.choices.next(tasks);
                    self.step(EventKind::Retry { task });
                }
                4 => {
                    let task = self.choices.next(tasks);
                    self.step(EventKind::Skip { task });
                }
                5 | 6 => {
                    let approved = self.choices.next(2) == 0;
                    self.settle_all(approved);
                }
                _ if self.work.is_empty() => {
                    self.step(EventKind::Continue { checkpoint_id: None });
                }
                _ => {
                    let place = self.choices.next(self.work.len());
                    self.answer(place);
                }
            }
        }
    }

    /// Ends the calls that an abort has cancelled.
    fn cancel(&mut self) {
        while self.state.phase == Phase::Cancelling {
            let place = self.work.iter().position(|work| !matches!(work, Work::Wait(..)));
            let Some(place) = place else { break };
            match self.work.remove(place) {
                Work::Call(cell, undo) => {
                    let outcome = CallOutcome::Failed { retryable: true };
                    self.step(EventKind::Called { cell, undo, outcome });
                }
                Work::Prepare(task) => {
                    self.step(EventKind::Prepared { task, outcome: Prepared::One });
                }
                Work::Enter(cell) => self.step(EventKind::Entered { cell, fits: true }),
                Work::Owner | Work::Wait(..) => {}
            }
        }
    }

    pub(super) fn run_to_the_end(&mut self) {
        self.random = false;
        for _ in 0..1_000 {
            if self.state.outcome().is_some() {
                break;
            }
            self.run_until_quiet();
            self.settle_all(true);
            self.run_until_quiet();
            match self.state.pause().map(|pause| &pause.kind) {
                Some(PauseKind::Rejected | PauseKind::OwnerGone { .. }) => {
                    self.step(EventKind::Abort { reason: "enough".to_owned() });
                }
                _ => self.step(EventKind::Continue { checkpoint_id: None }),
            }
        }
        assert!(self.state.outcome().is_some(), "it never ends: {:?}", self.state);
        for task in &self.state.root.tasks {
            let begun = |cell: &Cell| matches!(cell.stage, CellStage::Ended(_));
            let ended = matches!(task.stage, Stage::Ended(_));
            assert!(ended || !task.cells.values().any(begun), "a result is lost: {task:?}");
        }
        let mut last = None;
        for undo in &self.state.compensations {
            let sequence = self.state.root.cell(&undo.cell).unwrap().sequence;
            assert!(last.is_none_or(|last| sequence < last), "undone in the wrong order");
            last = Some(sequence);
            assert!(matches!(undo.stage, UndoStage::Ended(_)));
        }
    }
}

/// A number that depends only on the address.
fn place_of(address: &Address) -> usize {
    address.0.iter().fold(7, |sum, step| {
        sum * 3 + step.task + usize::try_from(step.item + 1).unwrap_or_default()
    })
}
