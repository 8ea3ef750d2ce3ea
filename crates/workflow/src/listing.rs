//! The tasks of a workflow, as people and `workflow_status` see them.

use dag::core::{Address, Stage};
use dag::plan::{Plan, PlannedTask};
use operations::workflows::WorkflowTask;
use serde_json::{Value, json};

use crate::answer::{Moment, tool_of};
use crate::results::Status;

/// The tasks of a workflow, in the order of the DAG.
pub(crate) fn tasks_of(moment: &Moment<'_>) -> Vec<WorkflowTask> {
    let tasks = moment.plan.tasks.iter().enumerate();
    let view = |(place, task): (usize, &PlannedTask)| {
        let result = moment.results.task(&Address::task(place)).unwrap_or_default();
        let stage = moment.state.root.tasks.get(place).map(|task| task.stage);
        let status = match stage {
            Some(Stage::Ended(verdict)) => Status::Ended(verdict),
            Some(Stage::Open | Stage::Preparing) if result.status == Status::Pending => {
                Status::Running
            }
            _ => result.status,
        };
        let ended = result.ended_unix_ms.filter(|_| matches!(status, Status::Ended(_)));
        let started = (result.started_unix_ms > 0).then_some(result.started_unix_ms);
        WorkflowTask {
            task_id: task.task.id.clone(),
            tool: tool_of(task).to_owned(),
            layer: task.layer,
            status: status.shown().to_owned(),
            attempt: result.attempt.max(1),
            depends_on: moment.depends_on(task).into_iter().map(str::to_owned).collect(),
            started_unix_ms: started,
            ended_unix_ms: ended,
            duration_ms: started.zip(ended).map(|(from, to)| to.saturating_sub(from)),
            arguments: result
                .note
                .arguments
                .clone()
                .unwrap_or_else(|| Value::Object(task.task.arguments.clone())),
            output: result.shown_output(),
            error: result.note.error.clone().filter(|_| status.shown() == "failed"),
        }
    };
    tasks.map(view).collect()
}

/// Adds why people are asked to the decisions of a checkpoint.
pub(crate) fn add_reasons(checkpoint: &mut Value, plan: &Plan) {
    let decisions = checkpoint.get_mut("decisions").and_then(Value::as_array_mut);
    for decision in decisions.into_iter().flatten() {
        // Each item of a `for_each` waits for itself.
        let name = decision["task_id"].as_str().unwrap_or_default();
        let id = name.split('[').next().unwrap_or_default();
        let task = plan.tasks.iter().find(|task| task.task.id == id);
        let approval = task.and_then(|task| task.task.approval.as_ref());
        if let Some(reason) = approval.and_then(|approval| approval.reason.as_deref()) {
            decision["reason"] = reason.into();
        }
    }
}

/// Tasks as `workflow_status` lists them.
pub(crate) fn short(tasks: &[WorkflowTask]) -> Value {
    let short = |task: &WorkflowTask| {
        json!({
            "task_id": task.task_id,
            "tool": task.tool,
            "layer": task.layer,
            "status": task.status,
        })
    };
    tasks.iter().map(short).collect()
}
