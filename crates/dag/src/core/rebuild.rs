use std::sync::Arc;

use super::event::{Record, RecordStatus};
use super::graph::{Graph, WHOLE};
use super::state::{
    Cell, CellStage, PauseKind, Phase, Saved, Scope, Stage, State, TaskState, UndoStage, Verdict,
};
use super::undo::compensations;
use super::walk::open_layer;

/// The state of a workflow after a restart, from its commits. It goes on with the event `Committed`.
pub fn rebuild(graph: Arc<Graph>, saved: Saved, mut records: Vec<Record>) -> State {
    // Sub-workflows come after the task that they belong to.
    records.sort_by(|one, other| {
        let key = |record: &Record| (record.undo, record.address.0.len());
        key(one).cmp(&key(other)).then_with(|| one.address.cmp(&other.address))
    });
    let mut root = Scope::new(&graph);
    let mut sequence = saved.sequence;
    for record in records.iter().filter(|record| !record.undo) {
        sequence = sequence.max(record.sequence);
        apply(&graph, &mut root, record);
    }
    set_layers(&graph, &mut root);
    root.layer = saved.layer;
    let mut state = State {
        graph,
        rules: saved.rules,
        phase: Phase::Saving(Box::new(saved.phase)),
        root,
        sequence,
        ending: saved.ending,
        feedback: saved.feedback,
        compensations: Vec::new(),
        asked: None,
        planned: saved.planned,
    };
    if state.ending.is_some() {
        state.compensations = compensations(&state);
        for record in records.iter().filter(|record| record.undo) {
            let undo = state.compensations.iter_mut().find(|undo| undo.cell == record.address);
            if let Some(undo) = undo {
                undo.stage = match record.status {
                    RecordStatus::Ended(verdict) => UndoStage::Ended(verdict),
                    RecordStatus::Parked => UndoStage::Parked,
                    _ => UndoStage::Queued,
                };
            }
        }
    }
    if let Phase::Saving(then) = &state.phase
        && let Phase::Paused(pause) = &**then
        && pause.kind == PauseKind::Approval
    {
        let parked = |stage: &CellStage| *stage == CellStage::Parked;
        if state.ending.is_none() && state.count(parked) == 0 {
            // An earlier version waited for approvals that were all decided.
            state.phase = Phase::Saving(Box::new(Phase::Checking));
        } else {
            state.asked = Some(pause.checkpoint_id.clone());
        }
    }
    state
}

fn apply(graph: &Graph, root: &mut Scope, record: &Record) {
    let Some((last, parents)) = record.address.0.split_last() else { return };
    let (mut graph, mut scope) = (graph, root);
    for step in parents {
        let Some(inside) = graph.nodes.get(step.task).and_then(|node| node.graph.as_deref()) else {
            return;
        };
        let task = &mut scope.tasks[step.task];
        let cell = task.cells.entry(step.item).or_default();
        if cell.stage == CellStage::Queued {
            cell.stage = CellStage::Inside;
        }
        if !matches!(task.stage, Stage::Ended(_)) {
            task.stage = Stage::Open;
        }
        let inner = cell.inner.get_or_insert_with(|| Box::new(Scope::new(inside)));
        (graph, scope) = (inside, inner);
    }
    let (Some(node), Some(task)) = (graph.nodes.get(last.task), scope.tasks.get_mut(last.task))
    else {
        return;
    };
    let list = node.for_each && last.item == WHOLE;
    let status = match record.status {
        RecordStatus::Cancelled => RecordStatus::Ended(Verdict::Failed),
        other => other,
    };
    match status {
        RecordStatus::Open { items } => open(task, items),
        RecordStatus::Ended(Verdict::Skipped) => {
            task.stage = Stage::Ended(Verdict::Skipped);
            task.because = record.because;
        }
        RecordStatus::Ended(verdict) if list => {
            task.stage = Stage::Ended(verdict);
            task.because = record.because;
            if verdict != Verdict::Success {
                // Its list could not be made; its items follow otherwise.
                put(task, record, CellStage::Ended(verdict));
            }
        }
        RecordStatus::Cancelled => {}
        RecordStatus::Ended(verdict) => {
            put(task, record, CellStage::Ended(verdict));
            if last.item == WHOLE {
                task.stage = Stage::Ended(verdict);
            } else {
                task.cells.remove(&WHOLE);
            }
        }
        RecordStatus::Parked => waiting(task, record, CellStage::Parked),
        RecordStatus::Asking => waiting(task, record, CellStage::Asking),
        RecordStatus::Reset => {
            if record.attempt > 1 {
                put(task, record, CellStage::Queued);
            }
        }
    }
}

fn open(task: &mut TaskState, items: usize) {
    task.stage = Stage::Open;
    for item in 0..items {
        task.cells.entry(i64::try_from(item).unwrap_or(i64::MAX)).or_default();
    }
}

fn waiting(task: &mut TaskState, record: &Record, stage: CellStage) {
    put(task, record, stage);
    task.stage = Stage::Open;
}

fn put(task: &mut TaskState, record: &Record, stage: CellStage) {
    let item = record.address.last().map_or(WHOLE, |step| step.item);
    let cell = task.cells.entry(item).or_default();
    *cell = Cell {
        stage,
        attempt: record.attempt,
        tries: 0,
        sequence: record.sequence,
        settled: false,
        inner: cell.inner.take(),
    };
}

/// Finds the current layer of each sub-workflow.
fn set_layers(graph: &Graph, scope: &mut Scope) {
    for (node, task) in graph.nodes.iter().zip(&mut scope.tasks) {
        for cell in task.cells.values_mut() {
            if let (Some(graph), Some(inner)) = (&node.graph, cell.inner.as_deref_mut()) {
                set_layers(graph, inner);
                inner.layer = open_layer(graph, inner);
            }
        }
    }
}
