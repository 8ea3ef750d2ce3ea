//! The commands of a workflow's owner.

use std::sync::Arc;

use super::event::{Action, RecordStatus, Refusal};
use super::graph::{Address, Graph};
use super::state::{Cell, CellStage, Outcome, PauseKind, Phase, Stage, TaskState, Verdict};
use super::step::Stepper;
use super::walk::{record, reset};

impl Stepper {
    pub(super) fn go_on(&mut self, checkpoint_id: Option<&str>) {
        let Phase::Paused(pause) = &self.state.phase else {
            return self.actions.push(Action::Repeat);
        };
        if self.state.is_quarantined() {
            return self.actions.push(Action::Refuse(Refusal::Quarantined));
        }
        let stale = checkpoint_id.is_some_and(|id| id != pause.checkpoint_id);
        match pause.kind {
            PauseKind::Planned if !stale => {
                self.state.planned = None;
                self.resume();
            }
            PauseKind::Layer | PauseKind::TaskFailed if !stale => {
                let next = self.next_layer();
                match next {
                    Some(layer) => {
                        self.state.root.layer = layer;
                        self.resume();
                    }
                    None => self.enter_layer(None),
                }
            }
            _ => self.actions.push(Action::Repeat),
        }
    }

    /// Leaves the quarantine.
    pub(super) fn release(&mut self) {
        if self.state.is_quarantined() { self.resume() } else { self.actions.push(Action::Repeat) }
    }

    pub(super) fn abort(&mut self, reason: String) {
        if self.state.ending.is_some() || matches!(self.state.phase, Phase::Saving(_)) {
            return self.actions.push(Action::Repeat);
        }
        let completed_layers = self.state.completed_layers();
        self.state.ending = Some(Outcome::Aborted { reason, completed_layers });
        self.state.phase = Phase::Cancelling;
        self.actions.push(Action::Submit);
        let waits = |stage: &CellStage| matches!(stage, CellStage::Parked | CellStage::Asking);
        if self.state.count(waits) > 0 {
            self.actions.push(Action::Withdraw);
        }
        if self.state.count(|stage| *stage == CellStage::Calling) > 0 {
            self.actions.push(Action::Cancel);
        }
        self.cancelled();
    }

    /// Why a paused workflow cannot be changed, if it cannot.
    fn refuse_change(&self) -> Option<Refusal> {
        match &self.state.phase {
            Phase::Paused(_) if self.state.ending.is_some() => Some(Refusal::NotPaused),
            Phase::Paused(pause) => match pause.kind {
                PauseKind::Planned
                | PauseKind::Layer
                | PauseKind::TaskFailed
                | PauseKind::Rejected => None,
                PauseKind::Approval | PauseKind::Input | PauseKind::OwnerGone { .. } => {
                    Some(Refusal::Waits)
                }
                PauseKind::Quarantined { .. } => Some(Refusal::Quarantined),
            },
            _ => Some(Refusal::NotPaused),
        }
    }

    fn change(&mut self, refusal: Option<Refusal>) -> bool {
        if let Some(refusal) = self.refuse_change().or(refusal) {
            self.actions.push(Action::Refuse(refusal));
            return false;
        }
        true
    }

    fn is_rejected(&self) -> bool {
        self.state.pause().is_some_and(|pause| pause.kind == PauseKind::Rejected)
    }

    pub(super) fn retry(&mut self, task: usize) {
        let stage = self.state.root.tasks.get(task).map(|task| task.stage);
        let failed =
            [Verdict::Failed, Verdict::Rejected].map(|verdict| Some(Stage::Ended(verdict)));
        let refusal = if self.is_rejected() {
            Some(Refusal::Rejected)
        } else {
            (!failed.contains(&stage)).then_some(Refusal::NotFailed)
        };
        if !self.change(refusal) {
            return;
        }
        let graph = Arc::clone(&self.state.graph);
        let root = &mut self.state.root;
        reset(&graph, root, task, &Address::default(), &mut self.actions);
        self.state.root.layer = graph.nodes[task].layer;
        self.resume();
    }

    fn untouched(&self, task: usize) -> Option<Refusal> {
        let untouched = self.state.root.tasks.get(task).is_some_and(TaskState::is_untouched);
        (!untouched).then_some(Refusal::Started)
    }

    /// Commits a change of a workflow that stays paused.
    fn stay(&mut self) {
        let phase = self.state.phase.clone();
        self.save(phase);
    }

    pub(super) fn skip(&mut self, task: usize) {
        if !self.change(self.untouched(task)) {
            return;
        }
        self.state.root.tasks[task].stage = Stage::Ended(Verdict::Skipped);
        let status = RecordStatus::Ended(Verdict::Skipped);
        let skipped = record(&Address::task(task), &Cell::default(), status);
        self.actions.push(Action::Record(skipped));
        self.stay();
    }

    pub(super) fn modify(&mut self, task: usize) {
        if self.change(self.untouched(task)) {
            self.stay();
        }
    }

    pub(super) fn extend(&mut self, graph: Arc<Graph>) {
        if !self.change(None) {
            return;
        }
        self.state.root.tasks.resize(graph.nodes.len(), TaskState::default());
        self.state.graph = graph;
        if let Phase::Paused(pause) = &mut self.state.phase
            && pause.kind == PauseKind::Rejected
        {
            pause.kind = PauseKind::Layer;
        }
        self.stay();
    }
}
