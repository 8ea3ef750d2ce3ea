//! Starts what can start and ends what has ended, in one scope and in those within it.

use super::event::{Action, Record, RecordStatus};
use super::graph::{Address, Graph, WHOLE};
use super::state::{Cell, CellStage, Scope, Stage, TaskState, Verdict};
use crate::OnError;

/// One walk over the current layers.
pub(super) struct Walk<'a> {
    /// How many more calls may start.
    pub(super) slots: usize,
    pub(super) sequence: &'a mut u64,
    pub(super) actions: &'a mut Vec<Action>,
}

/// Whether a task may start, given how its dependencies ended.
enum Ready {
    Run,
    Skip { because: Option<usize> },
    NotYet,
}

impl Walk<'_> {
    /// Walks a layer; returns whether all its tasks have ended.
    pub(super) fn layer(&mut self, graph: &Graph, scope: &mut Scope, within: &Address) -> bool {
        let mut over = true;
        for (task, node) in graph.nodes.iter().enumerate() {
            if node.layer == scope.layer {
                self.task(graph, scope, task, &within.child(task));
                over &= matches!(scope.tasks[task].stage, Stage::Ended(_));
            }
        }
        over
    }

    /// Walks a sub-workflow; returns how it ended, if it has.
    fn scope(&mut self, graph: &Graph, scope: &mut Scope, within: &Address) -> Option<Verdict> {
        while self.layer(graph, scope, within) {
            if let Some(verdict) = broken(graph, scope) {
                return Some(verdict);
            }
            if scope.layer + 1 >= graph.layers {
                return Some(Verdict::Success);
            }
            scope.layer += 1;
        }
        None
    }

    fn task(&mut self, graph: &Graph, scope: &mut Scope, task: usize, address: &Address) {
        let node = &graph.nodes[task];
        if scope.tasks[task].stage == Stage::Waiting {
            match readiness(graph, scope, task) {
                Ready::NotYet => return,
                Ready::Skip { because } => {
                    let state = &mut scope.tasks[task];
                    state.because = because;
                    return self.end_task(state, address, Verdict::Skipped);
                }
                Ready::Run if node.conditional || node.for_each => {
                    scope.tasks[task].stage = Stage::Preparing;
                    self.actions.push(Action::Prepare { task: address.clone() });
                }
                Ready::Run => {
                    scope.tasks[task].stage = Stage::Open;
                    scope.tasks[task].cells.entry(WHOLE).or_default();
                }
            }
        }
        let state = &mut scope.tasks[task];
        if state.stage != Stage::Open {
            return;
        }
        for (item, cell) in &mut state.cells {
            let address = address.item(*item);
            match cell.stage {
                CellStage::Queued if node.graph.is_some() => {
                    if cell.inner.is_some() {
                        cell.stage = CellStage::Inside;
                    } else {
                        cell.stage = CellStage::Entering;
                        self.actions.push(Action::Enter { cell: address.clone() });
                    }
                }
                CellStage::Queued if self.slots > 0 => {
                    self.slots -= 1;
                    cell.stage = CellStage::Calling;
                    self.actions.push(Action::Call { cell: address.clone(), undo: false });
                }
                _ => {}
            }
            if cell.stage == CellStage::Inside
                && let (Some(graph), Some(inner)) = (&node.graph, cell.inner.as_deref_mut())
                && let Some(verdict) = self.scope(graph, inner, &address)
            {
                self.end_cell(cell, &address, verdict);
            }
        }
        if let Some(verdict) = verdict_of(state) {
            if node.for_each {
                self.end_task(state, address, verdict);
            } else {
                // The row of its only cell is the task's own.
                state.stage = Stage::Ended(verdict);
            }
        }
    }

    fn end_task(&mut self, state: &mut TaskState, address: &Address, verdict: Verdict) {
        state.stage = Stage::Ended(verdict);
        self.actions.push(Action::Record(Record {
            address: address.clone(),
            undo: false,
            status: RecordStatus::Ended(verdict),
            attempt: state.attempt(),
            sequence: 0,
            because: state.because,
        }));
    }

    pub(super) fn end_cell(&mut self, cell: &mut Cell, address: &Address, verdict: Verdict) {
        cell.stage = CellStage::Ended(verdict);
        if verdict == Verdict::Success {
            *self.sequence += 1;
            cell.sequence = *self.sequence;
        }
        self.actions.push(Action::Record(record(address, cell, RecordStatus::Ended(verdict))));
    }
}

pub(super) fn record(address: &Address, cell: &Cell, status: RecordStatus) -> Record {
    Record {
        address: address.clone(),
        undo: false,
        status,
        attempt: cell.attempt,
        sequence: cell.sequence,
        because: None,
    }
}

fn readiness(graph: &Graph, scope: &Scope, task: usize) -> Ready {
    let node = &graph.nodes[task];
    for dependency in &node.depends_on {
        let state = &scope.tasks[*dependency];
        let Stage::Ended(verdict) = state.stage else { return Ready::NotYet };
        match verdict {
            Verdict::Success => {}
            Verdict::Failed if graph.nodes[*dependency].on_error == OnError::Continue => {}
            Verdict::Failed | Verdict::Rejected => {
                return Ready::Skip { because: Some(*dependency) };
            }
            Verdict::Skipped if node.conditional => {}
            Verdict::Skipped => return Ready::Skip { because: state.because },
        }
    }
    Ready::Run
}

/// How a task has ended, once all its cells have.
fn verdict_of(state: &TaskState) -> Option<Verdict> {
    let mut worst = Verdict::Success;
    for cell in state.cells.values() {
        let CellStage::Ended(verdict) = cell.stage else { return None };
        worst = match (worst, verdict) {
            (Verdict::Rejected, _) | (_, Verdict::Rejected) => Verdict::Rejected,
            (_, Verdict::Success) => worst,
            (_, other) => other,
        };
    }
    Some(worst)
}

/// Why a scope cannot go on after its current layer, if it cannot.
pub(super) fn broken(graph: &Graph, scope: &Scope) -> Option<Verdict> {
    let ended = graph.nodes.iter().zip(&scope.tasks);
    let mut of_layer = ended.filter(|(node, _)| node.layer == scope.layer);
    let mut failed = None;
    of_layer
        .find_map(|(node, task)| match task.stage {
            Stage::Ended(Verdict::Rejected) => Some(Verdict::Rejected),
            Stage::Ended(Verdict::Failed) if node.on_error == OnError::Fail => {
                failed = Some(Verdict::Failed);
                None
            }
            _ => None,
        })
        .or(failed)
}

/// Ends everything that has begun and is not over, because the workflow was aborted.
pub(super) fn close(scope: &mut Scope, within: &Address, actions: &mut Vec<Action>) {
    for (task, state) in scope.tasks.iter_mut().enumerate() {
        if state.stage == Stage::Preparing {
            state.stage = Stage::Waiting;
        }
        if state.stage != Stage::Open {
            continue;
        }
        if !state.cells.values().any(has_begun) {
            state.stage = Stage::Waiting;
            continue;
        }
        let whole = within.child(task);
        let status = verdict_of(state).map_or(RecordStatus::Cancelled, RecordStatus::Ended);
        for (item, cell) in &mut state.cells {
            if matches!(cell.stage, CellStage::Ended(_)) || !has_begun(cell) {
                continue;
            }
            let address = whole.item(*item);
            if let Some(inner) = cell.inner.as_deref_mut() {
                close(inner, &address, actions);
            }
            cell.stage = CellStage::Ended(Verdict::Failed);
            actions.push(Action::Record(record(&address, cell, RecordStatus::Cancelled)));
        }
        let verdict = match status {
            RecordStatus::Ended(verdict) => verdict,
            _ => Verdict::Failed,
        };
        state.stage = Stage::Ended(verdict);
        if !state.cells.contains_key(&WHOLE) {
            let cell = Cell { attempt: state.attempt(), ..Cell::default() };
            actions.push(Action::Record(record(&whole, &cell, status)));
        }
    }
}

/// Whether a cell was called or entered; items for which there was no room were not. The row of a settled cell still says
/// that it waits for a person: an abort must close it, or it waits for ever after a crash.
fn has_begun(cell: &Cell) -> bool {
    match cell.stage {
        CellStage::Queued | CellStage::Entering => {
            cell.tries > 0 || cell.settled || cell.inner.is_some()
        }
        _ => true,
    }
}

/// Resets a failed task, so that what failed in it is called again.
pub(super) fn reset(
    graph: &Graph,
    scope: &mut Scope,
    task: usize,
    within: &Address,
    actions: &mut Vec<Action>,
) {
    let (node, whole) = (&graph.nodes[task], within.child(task));
    let state = &mut scope.tasks[task];
    let items = state.cells.len();
    let prepared = !node.for_each || !state.cells.contains_key(&WHOLE);
    state.stage = if prepared && node.for_each { Stage::Open } else { Stage::Waiting };
    if state.stage == Stage::Open {
        let status = RecordStatus::Open { items };
        let cell = Cell { attempt: state.attempt(), ..Cell::default() };
        actions.push(Action::Record(record(&whole, &cell, status)));
    }
    for (item, cell) in &mut state.cells {
        let CellStage::Ended(Verdict::Failed | Verdict::Rejected) = cell.stage else { continue };
        let address = whole.item(*item);
        cell.stage = CellStage::Queued;
        cell.attempt += 1;
        cell.tries = 0;
        cell.settled = false;
        actions.push(Action::Record(record(&address, cell, RecordStatus::Reset)));
        if let (Some(inner), Some(graph)) = (cell.inner.as_deref_mut(), &node.graph) {
            for (task, _) in graph.nodes.iter().enumerate() {
                let failed = Stage::Ended(Verdict::Failed);
                let rejected = Stage::Ended(Verdict::Rejected);
                if [failed, rejected].contains(&inner.tasks[task].stage) {
                    reset(graph, inner, task, &address, actions);
                }
            }
            inner.layer = open_layer(graph, inner);
        }
    }
    // Tasks that were skipped because of this one start again as well.
    for (other, state) in scope.tasks.iter_mut().enumerate() {
        if state.because == Some(task) {
            *state = TaskState::default();
            let address = within.child(other);
            let cell = Cell::default();
            actions.push(Action::Record(record(&address, &cell, RecordStatus::Reset)));
        }
    }
}

/// The first layer with a task that has not ended, or the last one.
pub(super) fn open_layer(graph: &Graph, scope: &Scope) -> usize {
    let open = graph.nodes.iter().zip(&scope.tasks);
    let open = open.filter(|(_, task)| !matches!(task.stage, Stage::Ended(_)));
    let first = open.map(|(node, _)| node.layer).min();
    first.unwrap_or(graph.layers.saturating_sub(1))
}
