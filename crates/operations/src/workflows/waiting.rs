//! What a paused workflow waits for, in words.

use serde_json::Value;

use super::{WorkflowDetails, WorkflowSummary};

/// How many tasks are named.
const MAX_NAMED: usize = 3;

impl WorkflowSummary {
    /// What the workflow waits for; none if it is not paused.
    pub fn waits_for(&self) -> Option<String> {
        (self.state == "paused").then(|| describe(self.outcome.as_deref(), &[]))
    }
}

impl WorkflowDetails {
    /// What the workflow waits for, with the tasks; none if it is not paused.
    pub fn waits_for(&self) -> Option<String> {
        let outcome = self.workflow.outcome.as_deref();
        (self.workflow.state == "paused").then(|| describe(outcome, &self.tasks_waited_for()))
    }

    /// The ids of the tasks that the checkpoint is about.
    fn tasks_waited_for(&self) -> Vec<&str> {
        let field = |name: &str| self.checkpoint.as_ref().and_then(|answer| answer.get(name));
        let list = |name: &str| field(name).and_then(Value::as_array).into_iter().flatten();
        match self.workflow.outcome.as_deref() {
            Some("layer_complete") => {
                list("next_layer_preview").filter_map(|task| task["id"].as_str()).collect()
            }
            Some("task_failed") => list("failed_tasks").filter_map(Value::as_str).collect(),
            Some("approval_required") => {
                list("decisions").filter_map(|one| one["task_id"].as_str()).collect()
            }
            Some("input_required") => {
                list("questions").filter_map(|one| one["task_id"].as_str()).collect()
            }
            Some("rejected") => {
                let failed = self.tasks.iter().filter(|task| task.status == "failed");
                failed.map(|task| task.task_id.as_str()).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// A pause in words. Without tasks, they are not named.
fn describe(outcome: Option<&str>, tasks: &[&str]) -> String {
    let named = named(tasks);
    let text = match (outcome, named.as_str()) {
        (Some("layer_complete"), "") => "waiting to continue",
        (Some("layer_complete"), named) => return format!("waiting to continue with {named}"),
        (Some("task_failed"), "") => "waiting for a decision: a task failed",
        (Some("task_failed"), named) => return format!("waiting for a decision: {named} failed"),
        (Some("approval_required"), "") => "waiting for an approval",
        (Some("approval_required"), named) => return format!("waiting for approval of {named}"),
        (Some("input_required"), "") => "waiting for an answer",
        (Some("input_required"), named) => return format!("waiting for an answer for {named}"),
        (Some("rejected"), "") => "waiting for a decision: a task was rejected",
        (Some("rejected"), named) => {
            return format!("waiting for a decision: {named} was rejected");
        }
        (Some("owner_gone"), _) => "paused: its owner has no access any more",
        (Some("quarantined"), _) => "quarantined: waiting for an operator",
        (Some(other), _) => return format!("paused: {other}"),
        (None, _) => "paused",
    };
    text.to_owned()
}

fn named(tasks: &[&str]) -> String {
    // Several items of one task wait under its one name.
    let mut ids: Vec<&str> = tasks.to_vec();
    ids.dedup();
    let more = ids.len().saturating_sub(MAX_NAMED);
    let shown = ids[..ids.len().min(MAX_NAMED)].join(", ");
    match (ids.len(), more) {
        (0, _) => String::new(),
        (1, _) => format!("task {shown}"),
        (_, 0) => format!("tasks {shown}"),
        _ => format!("tasks {shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paused(outcome: &str, checkpoint: Value) -> WorkflowDetails {
        let workflow = WorkflowSummary {
            state: "paused".to_owned(),
            outcome: Some(outcome.to_owned()),
            ..WorkflowSummary::default()
        };
        WorkflowDetails { workflow, checkpoint: Some(checkpoint), ..WorkflowDetails::default() }
    }

    #[test]
    fn a_pause_names_what_it_waits_for() {
        let cases = [
            (
                "approval_required",
                json!({"decisions": [{"task_id": "pay"}]}),
                "waiting for approval of task pay",
            ),
            (
                "input_required",
                json!({"questions": [{"task_id": "ask"}, {"task_id": "ask"}]}),
                "waiting for an answer for task ask",
            ),
            (
                "task_failed",
                json!({"failed_tasks": ["a", "b"]}),
                "waiting for a decision: tasks a, b failed",
            ),
            (
                "layer_complete",
                json!({"next_layer_preview": [{"id": "a"}, {"id": "b"}, {"id": "c"}, {"id": "d"}]}),
                "waiting to continue with tasks a, b, c and 1 more",
            ),
            ("layer_complete", json!({"next_layer_preview": []}), "waiting to continue"),
            ("quarantined", json!({}), "quarantined: waiting for an operator"),
            ("unreadable", json!({}), "paused: unreadable"),
        ];
        for (outcome, checkpoint, expected) in cases {
            assert_eq!(paused(outcome, checkpoint).waits_for().as_deref(), Some(expected));
        }
        let listed = paused("approval_required", json!({})).workflow;
        assert_eq!(listed.waits_for().as_deref(), Some("waiting for an approval"));
        let running = WorkflowSummary { state: "running".to_owned(), ..listed };
        assert_eq!(running.waits_for(), None);
    }
}
