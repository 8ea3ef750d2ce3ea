//! Counts tasks and arranges them in layers.

use serde_json::Value;

use super::fault::{Fault, FaultCode};
use super::limits::MAX_LAYERS;
use super::planned::PlannedTask;
use crate::Task;

/// The number of tasks with items and sub-workflows.
pub(super) fn count(tasks: &[Task]) -> usize {
    let each = |task: &Task| {
        let inner = task.workflow.as_ref().map_or(0, |workflow| count(&workflow.tasks));
        let items = task.for_each.as_ref().and_then(Value::as_array).map_or(1, Vec::len);
        items.max(1).saturating_mul(inner.saturating_add(1))
    };
    tasks.iter().map(each).fold(0, usize::saturating_add)
}

/// Reports the cycles, each with its names in order; of those that share a task, one.
pub(super) fn report_cycles(tasks: &[PlannedTask], path: &str, faults: &mut Vec<Fault>) -> bool {
    let mut open: Vec<_> = tasks.iter().map(|task| task.depends_on.clone()).collect();
    let mut found = false;
    while let Some(cycle) = proto::graph::cycle(&open) {
        found = true;
        let shown = proto::graph::show_cycle(&cycle, |at| tasks[at].task.id.as_str());
        faults.push(Fault::new(path, FaultCode::Cycle, format!("cycle: {shown}")));
        for at in cycle {
            open[at].clear();
        }
    }
    found
}

/// Puts tasks without cycles in layers: those before `new` stay where they are, the others come in `from_layer` or later. A
/// task that ends the run comes after all others.
pub(super) fn arrange(tasks: &mut [PlannedTask], new: usize, from_layer: usize) {
    // A chain of nodes without tasks holds each task in its layer, or in a later one.
    let chain = tasks[..new].iter().map(|task| task.layer).max().unwrap_or(0).max(from_layer);
    let mut graph: Vec<Vec<usize>> =
        (0..chain).map(|at: usize| at.checked_sub(1).into_iter().collect()).collect();
    for (at, task) in tasks.iter().enumerate() {
        let least = if at >= new {
            from_layer
        } else if task.ends_run {
            0
        } else {
            task.layer
        };
        let mut before: Vec<_> = task.depends_on.iter().map(|other| chain + other).collect();
        before.extend(least.checked_sub(1));
        graph.push(before);
    }
    let layers = proto::graph::layers(&graph).unwrap_or_default();
    for (task, layer) in tasks.iter_mut().zip(layers.into_iter().skip(chain)) {
        task.layer = layer;
    }
    let others = tasks.iter().filter(|task| !task.ends_run).map(|task| task.layer + 1).max();
    for task in tasks.iter_mut().filter(|task| task.ends_run) {
        task.layer = task.layer.max(others.unwrap_or(0));
    }
}

pub(super) fn check_layers(tasks: &[PlannedTask], path: &str, faults: &mut Vec<Fault>) {
    let layers = tasks.iter().map(|task| task.layer + 1).max().unwrap_or(0);
    if layers > MAX_LAYERS {
        let message = format!("a workflow has at most {MAX_LAYERS} layers; this one has {layers}");
        faults.push(Fault::new(path, FaultCode::Limit, message));
    }
}
