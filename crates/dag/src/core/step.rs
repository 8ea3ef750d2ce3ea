//! The rules of execution as a pure function of a state and an event.

use std::sync::Arc;

use super::event::{Action, CallOutcome, Event, EventKind, Prepared, RecordStatus};
use super::graph::{Address, Graph, WHOLE};
use super::state::{
    Cell, CellStage, Outcome, Pause, PauseKind, Phase, Scope, Stage, State, Undo, UndoStage,
    Verdict,
};
use super::walk::{Walk, broken, close, record};
use crate::OnError;

/// The longest pause before a call is repeated.
const LONGEST_DELAY_MS: u64 = 60_000;

/// How long a call waits that needs an approval when no more may wait.
pub(super) const FULL_DELAY_MS: u64 = 2_000;

/// Applies an event. Events that no longer fit the state have no effect.
pub fn step(state: State, event: Event) -> (State, Vec<Action>) {
    let mut stepper =
        Stepper { state, at: event.at_unix_ms, new_id: event.new_id, actions: Vec::new() };
    stepper.apply(event.kind);
    (stepper.state, stepper.actions)
}

/// One step.
pub(super) struct Stepper {
    pub(super) state: State,
    pub(super) at: u64,
    new_id: String,
    pub(super) actions: Vec<Action>,
}

impl Stepper {
    fn apply(&mut self, event: EventKind) {
        match event {
            EventKind::Committed => self.committed(),
            EventKind::OwnerChecked(valid) => self.owner_checked(valid),
            EventKind::Prepared { task, outcome } => self.prepared(&task, outcome),
            EventKind::Entered { cell, fits } => self.entered(&cell, fits),
            EventKind::Called { cell, undo: false, outcome } => self.called(&cell, outcome),
            EventKind::Called { cell, undo: true, outcome } => self.undone(&cell, outcome),
            EventKind::Due { cell, undo } => self.due(&cell, undo),
            EventKind::Settled { cell, undo, approved, feedback } => {
                self.settled(&cell, undo, approved, feedback);
            }
            EventKind::Continue { checkpoint_id } => self.go_on(checkpoint_id.as_deref()),
            EventKind::Release => self.release(),
            EventKind::Abort { reason } => self.abort(reason),
            EventKind::Retry { task } => self.retry(task),
            EventKind::Skip { task } => self.skip(task),
            EventKind::Modify { task } => self.modify(task),
            EventKind::Extend { graph } => self.extend(graph),
        }
    }

    fn committed(&mut self) {
        let Phase::Saving(then) = &self.state.phase else { return };
        self.state.phase = (**then).clone();
        if self.state.phase == Phase::Checking {
            self.actions.push(Action::CheckOwner);
        } else if self.is_settled() {
            // The last decision was committed, and its effect was not.
            self.resume();
        }
    }

    /// Whether it waits for people, and none has anything to decide.
    fn is_settled(&self) -> bool {
        let kind = self.state.pause().map(|pause| &pause.kind);
        let waits = |stage: &CellStage| matches!(stage, CellStage::Parked | CellStage::Asking);
        let parked = |undo: &Undo| undo.stage == UndoStage::Parked;
        matches!(kind, Some(PauseKind::Approval | PauseKind::Input))
            && self.state.count(waits) == 0
            && !self.state.compensations.iter().any(parked)
    }

    fn owner_checked(&mut self, valid: Result<(), String>) {
        if self.state.phase != Phase::Checking {
            return;
        }
        if self.state.ending.is_some() {
            // Calls that ran when a crash interrupted an abort are not repeated.
            close(&mut self.state.root, &Address::default(), &mut self.actions);
        }
        match (valid, self.state.ending.is_some()) {
            (Ok(()), false) if self.state.planned.is_some() => self.pause(PauseKind::Planned),
            (Ok(()), false) => {
                self.state.phase = Phase::Running;
                let layer = self.state.root.layer;
                let mut tasks = self.state.graph.nodes.iter().zip(&self.state.root.tasks);
                let fresh = tasks.all(|(node, task)| node.layer != layer || task.is_untouched());
                if fresh {
                    self.actions.push(Action::StartLayer { layer });
                }
                self.advance();
            }
            (Ok(()), true) => {
                self.state.phase = Phase::Compensating;
                self.undo_next();
            }
            (Err(reason), false) => self.pause(PauseKind::OwnerGone { reason }),
            (Err(_), true) => {
                // Nothing runs for an owner who is gone.
                for place in 0..self.state.compensations.len() {
                    self.end_undo(place, Verdict::Failed);
                }
                self.finish();
            }
        }
    }

    fn prepared(&mut self, address: &Address, outcome: Prepared) {
        let running = self.state.phase == Phase::Running;
        let outcome = match outcome {
            Prepared::Items(items) if self.state.overflow(address, items).is_some() => {
                Prepared::Failed
            }
            other => other,
        };
        let Some(task) = self.state.root.task_mut(address) else { return };
        if task.stage != Stage::Preparing {
            return;
        }
        if !running {
            task.stage = Stage::Waiting;
            return self.cancelled();
        }
        match outcome {
            Prepared::Skip => {
                task.stage = Stage::Ended(Verdict::Skipped);
                let status = RecordStatus::Ended(Verdict::Skipped);
                let skipped = record(address, &Cell::default(), status);
                self.actions.push(Action::Record(skipped));
            }
            Prepared::One => {
                task.stage = Stage::Open;
                task.cells.entry(WHOLE).or_default();
            }
            Prepared::Items(items) => {
                task.stage = Stage::Open;
                task.cells.remove(&WHOLE);
                for item in 0..items {
                    task.cells.entry(i64::try_from(item).unwrap_or(i64::MAX)).or_default();
                }
                let opened = record(address, &Cell::default(), RecordStatus::Open { items });
                self.actions.push(Action::Record(opened));
            }
            Prepared::Failed => {
                task.stage = Stage::Ended(Verdict::Failed);
                let cell = task.cells.entry(WHOLE).or_default();
                cell.stage = CellStage::Ended(Verdict::Failed);
                let status = RecordStatus::Ended(Verdict::Failed);
                let failed = record(address, cell, status);
                self.actions.push(Action::Record(failed));
            }
        }
        self.advance();
    }

    fn entered(&mut self, address: &Address, fits: bool) {
        let graph = self.state.graph.node(address).and_then(|node| node.graph.clone());
        let running = self.state.phase == Phase::Running;
        let Some(cell) = self.state.root.cell_mut(address) else { return };
        if cell.stage != CellStage::Entering {
            return;
        }
        if !running {
            cell.stage = CellStage::Queued;
            return self.cancelled();
        }
        match graph.filter(|_| fits) {
            Some(graph) => {
                cell.stage = CellStage::Inside;
                cell.inner = Some(Box::new(Scope::new(&graph)));
            }
            None => self.end_cell(address, Verdict::Failed),
        }
        self.advance();
    }

    fn called(&mut self, address: &Address, outcome: CallOutcome) {
        let running = self.state.phase == Phase::Running;
        let retry = self.state.graph.node(address).and_then(|node| node.retry);
        let parked = self.state.count(|stage| *stage == CellStage::Parked) > 0;
        let Some(cell) = self.state.root.cell_mut(address) else { return };
        if cell.stage != CellStage::Calling {
            return;
        }
        let mut delay = None;
        match outcome {
            CallOutcome::Success => self.end_cell(address, Verdict::Success),
            CallOutcome::Rejected => self.end_cell(address, Verdict::Rejected),
            CallOutcome::Failed { retryable } => {
                match retry.filter(|retry| running && retryable && cell.tries < retry.max) {
                    Some(retry) => {
                        let factor = 1_u64.checked_shl(cell.tries).unwrap_or(u64::MAX);
                        let pause = retry.backoff_ms.saturating_mul(factor);
                        delay = Some(pause.min(LONGEST_DELAY_MS));
                        cell.tries += 1;
                    }
                    None => self.end_cell(address, Verdict::Failed),
                }
            }
            CallOutcome::Parked | CallOutcome::Asking if !running => {
                self.actions.push(Action::Withdraw);
                self.end_cell(address, Verdict::Failed);
            }
            CallOutcome::Parked => {
                cell.stage = CellStage::Parked;
                self.state.asked = None;
                let parked = record(address, cell, RecordStatus::Parked);
                self.actions.push(Action::Record(parked));
            }
            CallOutcome::Asking => {
                cell.stage = CellStage::Asking;
                let asking = record(address, cell, RecordStatus::Asking);
                self.actions.push(Action::Record(asking));
            }
            CallOutcome::Full if !running => self.end_cell(address, Verdict::Failed),
            CallOutcome::Full if parked => {
                cell.stage = CellStage::Full;
                cell.settled = false;
                // It may have waited for an approval before, which its row must not name any longer.
                let full = record(address, cell, RecordStatus::Reset);
                self.actions.push(Action::Record(full));
            }
            CallOutcome::Full => delay = Some(FULL_DELAY_MS),
        }
        if let Some(delay) = delay {
            if let Some(cell) = self.state.root.cell_mut(address) {
                cell.stage = CellStage::Delayed;
            }
            let until_unix_ms = self.at.saturating_add(delay);
            self.actions.push(Action::Delay { cell: address.clone(), undo: false, until_unix_ms });
        }
        if running { self.advance() } else { self.cancelled() }
    }

    fn due(&mut self, address: &Address, undo: bool) {
        if undo {
            if let Some(undo) = self.undo_mut(address)
                && undo.stage == UndoStage::Delayed
            {
                undo.stage = UndoStage::Queued;
                self.undo_next();
            }
            return;
        }
        let Some(cell) = self.state.root.cell_mut(address) else { return };
        if cell.stage == CellStage::Delayed {
            cell.stage = CellStage::Queued;
            self.advance();
        }
    }

    fn settled(&mut self, address: &Address, undo: bool, approved: bool, feedback: Option<String>) {
        if undo {
            let found = self.state.compensations.iter().position(|undo| undo.cell == *address);
            let Some(place) = found else { return };
            if self.state.compensations[place].stage != UndoStage::Parked {
                return;
            }
            if approved {
                self.state.compensations[place].stage = UndoStage::Queued;
            } else {
                self.end_undo(place, Verdict::Rejected);
            }
            if matches!(self.state.phase, Phase::Paused(_)) && !self.state.is_quarantined() {
                self.resume();
            }
            return;
        }
        if self.state.ending.is_some() {
            // The abort ends it, whatever people decide.
            return;
        }
        let Some(cell) = self.state.root.cell_mut(address) else { return };
        if !matches!(cell.stage, CellStage::Parked | CellStage::Asking) {
            return;
        }
        if approved {
            cell.stage = CellStage::Queued;
            cell.settled = true;
        } else {
            self.end_cell(address, Verdict::Rejected);
            self.state.feedback = feedback.or(self.state.feedback.take());
        }
        let full = self.state.cells_in(|stage| *stage == CellStage::Full);
        for waiting in &full {
            if let Some(cell) = self.state.root.cell_mut(waiting) {
                cell.stage = CellStage::Queued;
            }
        }
        let parked = self.state.count(|stage| *stage == CellStage::Parked);
        if self.state.is_quarantined() {
            return self.actions.push(Action::Submit);
        }
        match &self.state.phase {
            Phase::Running => self.advance(),
            // Without an approval to wait for, the layer is over, or waits for answers only.
            Phase::Paused(_) if approved || !full.is_empty() || parked == 0 => self.resume(),
            Phase::Paused(_) => self.actions.push(Action::Submit),
            _ => {}
        }
    }

    /// Leaves a pause. The owner may be gone by now.
    pub(super) fn resume(&mut self) {
        self.state.phase = Phase::Checking;
        self.actions.push(Action::Submit);
        self.actions.push(Action::CheckOwner);
    }

    /// Starts what can start, and pauses or ends what can do no more.
    fn advance(&mut self) {
        if self.state.phase != Phase::Running {
            return;
        }
        let calling = self.state.count(|stage| *stage == CellStage::Calling);
        let graph = Arc::clone(&self.state.graph);
        let mut walk = Walk {
            slots: self.state.rules.parallel.saturating_sub(calling),
            sequence: &mut self.state.sequence,
            actions: &mut self.actions,
        };
        let over = walk.layer(&graph, &mut self.state.root, &Address::default());
        if over {
            return self.end_layer(&graph);
        }
        if self.is_active() {
            return;
        }
        if self.state.count(|stage| *stage == CellStage::Parked) == 0 {
            self.pause(PauseKind::Input);
        } else {
            self.pause_for_approvals();
        }
    }

    /// Whether something goes on without anyone's help.
    fn is_active(&self) -> bool {
        let busy = |stage: &CellStage| {
            let waits = CellStage::Queued;
            let runs = [CellStage::Entering, CellStage::Calling, CellStage::Delayed];
            *stage == waits || runs.contains(stage)
        };
        self.state.count(busy) > 0 || is_preparing(&self.state.root)
    }

    fn end_layer(&mut self, graph: &Graph) {
        let per_layer = self.state.rules.per_layer;
        match broken(graph, &self.state.root) {
            Some(Verdict::Rejected) => self.pause(PauseKind::Rejected),
            Some(_) if per_layer => self.pause(PauseKind::TaskFailed),
            Some(_) => {
                self.state.ending = Some(Outcome::Failed);
                self.begin_undoing();
            }
            None if per_layer => self.pause(PauseKind::Layer),
            None => {
                let next = self.next_layer();
                self.enter_layer(next);
            }
        }
    }

    /// The next layer with something to do.
    pub(super) fn next_layer(&self) -> Option<usize> {
        let nodes = self.state.graph.nodes.iter().zip(&self.state.root.tasks);
        let open = nodes.filter(|(node, task)| {
            node.layer > self.state.root.layer && !matches!(task.stage, Stage::Ended(_))
        });
        open.map(|(node, _)| node.layer).min()
    }

    pub(super) fn enter_layer(&mut self, layer: Option<usize>) {
        match layer {
            Some(layer) => {
                self.state.root.layer = layer;
                self.save(Phase::Checking);
            }
            None => self.save(Phase::Ended(Outcome::Complete)),
        }
    }

    pub(super) fn save(&mut self, then: Phase) {
        self.state.phase = Phase::Saving(Box::new(then));
        self.actions.push(Action::Save);
    }

    fn pause(&mut self, kind: PauseKind) {
        let checkpoint_id = std::mem::take(&mut self.new_id);
        self.save(Phase::Paused(Pause { checkpoint_id, kind }));
    }

    /// Pauses for approvals, under the last id if that checkpoint showed all of them.
    pub(super) fn pause_for_approvals(&mut self) {
        let new_id = std::mem::take(&mut self.new_id);
        let checkpoint_id = self.state.asked.get_or_insert(new_id).clone();
        self.save(Phase::Paused(Pause { checkpoint_id, kind: PauseKind::Approval }));
    }

    fn end_cell(&mut self, address: &Address, verdict: Verdict) {
        let mut walk =
            Walk { slots: 0, sequence: &mut self.state.sequence, actions: &mut self.actions };
        if let Some(cell) = self.state.root.cell_mut(address) {
            walk.end_cell(cell, address, verdict);
        }
    }

    /// Goes on with an abort once nothing runs any more.
    pub(super) fn cancelled(&mut self) {
        if self.state.phase != Phase::Cancelling {
            return;
        }
        let busy = |stage: &CellStage| matches!(stage, CellStage::Calling | CellStage::Entering);
        if self.state.count(busy) > 0 || is_preparing(&self.state.root) {
            return;
        }
        close(&mut self.state.root, &Address::default(), &mut self.actions);
        self.begin_undoing();
    }
}

/// Whether a `when` or `for_each` is being evaluated.
fn is_preparing(scope: &Scope) -> bool {
    scope.tasks.iter().any(|task| {
        task.stage == Stage::Preparing
            || task.cells.values().any(|cell| cell.inner.as_deref().is_some_and(is_preparing))
    })
}

/// Whether a task counts as failed in answers.
pub fn has_failed(state: &State, task: usize) -> bool {
    let stage = state.root.tasks[task].stage;
    let fails = state.graph.nodes[task].on_error == OnError::Fail;
    stage == Stage::Ended(Verdict::Rejected) || (stage == Stage::Ended(Verdict::Failed) && fails)
}
