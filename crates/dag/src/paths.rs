//! The names of tasks in rows, keys and answers: `deploy`, `deploy/check` within a sub-workflow, `deploy[2]/check` within
//! an item of one.

use std::fmt::Write as _;
use std::sync::Arc;

use proto::digest;
use serde_json::Value;
use uuid::Uuid;

use crate::core::{Address, Graph, Node, Step, WHOLE};
use crate::plan::{Plan, PlannedTask};

/// The longest idempotency key.
const MAX_KEY: usize = 255;

/// What the core must know of a plan.
pub fn graph_of(plan: &Plan) -> Graph {
    let nodes = plan.tasks.iter().map(|planned| {
        let task = &planned.task;
        Node {
            layer: planned.layer,
            depends_on: planned.depends_on.clone(),
            conditional: task.when.is_some(),
            for_each: task.for_each.is_some(),
            items: task.for_each.as_ref().and_then(Value::as_array).map_or(0, Vec::len),
            retry: task.retry,
            on_error: task.on_error,
            compensates: task.compensate.is_some(),
            graph: planned.workflow.as_deref().map(|inner| Arc::new(graph_of(inner))),
        }
    });
    Graph { nodes: nodes.collect(), layers: plan.layers() }
}

/// The plan that a task is in, and the task.
pub fn find<'a>(plan: &'a Plan, address: &Address) -> Option<(&'a Plan, &'a PlannedTask)> {
    let (last, parents) = address.0.split_last()?;
    let mut plan = plan;
    for step in parents {
        plan = plan.tasks.get(step.task)?.workflow.as_deref()?;
    }
    Some((plan, plan.tasks.get(last.task)?))
}

/// The path of a task, without the item of its last step.
pub fn path_of(plan: &Plan, address: &Address) -> String {
    let mut path = String::new();
    let mut inside = Some(plan);
    let last = address.0.len().saturating_sub(1);
    for (depth, step) in address.0.iter().enumerate() {
        let Some(task) = inside.and_then(|plan| plan.tasks.get(step.task)) else { break };
        if depth > 0 {
            path.push('/');
        }
        path.push_str(&task.task.id);
        if depth < last && step.item != WHOLE {
            let _ = write!(path, "[{}]", step.item);
        }
        inside = task.workflow.as_deref();
    }
    path
}

/// The address of a path and item.
pub fn address_of(plan: &Plan, path: &str, item: i64) -> Option<Address> {
    let mut steps = Vec::new();
    let mut inside = Some(plan);
    for part in path.split('/') {
        let (id, within) = match part.strip_suffix(']').and_then(|part| part.split_once('[')) {
            Some((id, item)) => (id, item.parse().ok()?),
            None => (part, WHOLE),
        };
        let plan = inside?;
        let task = plan.position(id)?;
        steps.push(Step { task, item: within });
        inside = plan.tasks.get(task)?.workflow.as_deref();
    }
    steps.last_mut()?.item = item;
    Some(Address(steps))
}

/// The idempotency key of a call.
pub fn key_of(workflow: Uuid, path: &str, item: i64, undo: bool, attempt: u32) -> String {
    let mut key = format!("{workflow}/{path}");
    if item != WHOLE {
        let _ = write!(key, "/{item}");
    }
    if undo {
        key.push_str("/compensate");
    }
    let _ = write!(key, "/{attempt}");
    if key.len() <= MAX_KEY { key } else { digest(key.as_bytes()).to_string() }
}
