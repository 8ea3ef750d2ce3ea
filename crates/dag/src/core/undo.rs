//! Compensation: after an abort or a failure, calls are undone one after the other.

use super::event::{Action, CallOutcome, Record, RecordStatus};
use super::graph::Address;
use super::state::{CellStage, Outcome, Phase, State, Undo, UndoStage, Verdict};
use super::step::{FULL_DELAY_MS, Stepper};

impl Stepper {
    pub(super) fn begin_undoing(&mut self) {
        self.state.compensations = compensations(&self.state);
        if self.state.compensations.is_empty() {
            self.finish();
        } else {
            self.save(Phase::Checking);
        }
    }

    /// Undoes one call after the other.
    pub(super) fn undo_next(&mut self) {
        if self.state.phase != Phase::Compensating {
            return;
        }
        let open = |undo: &&mut Undo| !matches!(undo.stage, UndoStage::Ended(_));
        let Some(undo) = self.state.compensations.iter_mut().find(open) else {
            return self.finish();
        };
        match undo.stage {
            UndoStage::Queued => {
                undo.stage = UndoStage::Calling;
                let cell = undo.cell.clone();
                self.actions.push(Action::Call { cell, undo: true });
            }
            UndoStage::Parked => self.pause_for_approvals(),
            UndoStage::Calling | UndoStage::Delayed | UndoStage::Ended(_) => {}
        }
    }

    pub(super) fn undo_mut(&mut self, address: &Address) -> Option<&mut Undo> {
        self.state.compensations.iter_mut().find(|undo| undo.cell == *address)
    }

    pub(super) fn end_undo(&mut self, place: usize, verdict: Verdict) {
        let undo = &mut self.state.compensations[place];
        if matches!(undo.stage, UndoStage::Ended(_)) {
            return;
        }
        undo.stage = UndoStage::Ended(verdict);
        let address = undo.cell.clone();
        self.record_undo(&address, RecordStatus::Ended(verdict));
    }

    fn record_undo(&mut self, address: &Address, status: RecordStatus) {
        self.actions.push(Action::Record(Record {
            address: address.clone(),
            undo: true,
            status,
            attempt: 1,
            sequence: 0,
            because: None,
        }));
    }

    pub(super) fn undone(&mut self, address: &Address, outcome: CallOutcome) {
        let found = self.state.compensations.iter().position(|undo| undo.cell == *address);
        let Some(place) = found else { return };
        if self.state.compensations[place].stage != UndoStage::Calling {
            return;
        }
        match outcome {
            CallOutcome::Success => self.end_undo(place, Verdict::Success),
            CallOutcome::Rejected => self.end_undo(place, Verdict::Rejected),
            // A compensation asks no questions: its questions would outlive the workflow.
            CallOutcome::Failed { .. } | CallOutcome::Asking => {
                self.end_undo(place, Verdict::Failed);
            }
            CallOutcome::Parked => {
                self.state.compensations[place].stage = UndoStage::Parked;
                self.state.asked = None;
                self.record_undo(address, RecordStatus::Parked);
            }
            CallOutcome::Full => {
                self.state.compensations[place].stage = UndoStage::Delayed;
                let until_unix_ms = self.at.saturating_add(FULL_DELAY_MS);
                let cell = address.clone();
                self.actions.push(Action::Delay { cell, undo: true, until_unix_ms });
            }
        }
        self.undo_next();
    }

    pub(super) fn finish(&mut self) {
        let outcome = self.state.ending.clone().unwrap_or(Outcome::Complete);
        self.save(Phase::Ended(outcome));
    }
}

/// The calls to undo, the last one to succeed first.
pub(super) fn compensations(state: &State) -> Vec<Undo> {
    let mut found = Vec::new();
    state.root.each_cell(&Address::default(), &mut |address, cell| {
        let compensates = state.graph.node(address).is_some_and(|node| node.compensates);
        if compensates && cell.stage == CellStage::Ended(Verdict::Success) {
            found.push((cell.sequence, address.clone()));
        }
    });
    found.sort_by(|one, other| other.cmp(one));
    found.into_iter().map(|(_, cell)| Undo { cell, stage: UndoStage::Queued }).collect()
}
