//! What a workflow has produced: the outputs of its last layer, or the error of its first failed task.

use std::io;

use operations::workflows::{WorkflowDetails, only_text};
use proto::clean;
use serde_json::Value;

use crate::{Style, line, shown};

/// Prints how an ended workflow ended, as its last lines.
pub fn print_outcome(details: &WorkflowDetails, style: Style) -> io::Result<()> {
    let workflow = &details.workflow;
    let id = shown(workflow.workflow_id.get(..8).unwrap_or(&workflow.workflow_id));
    let outcome = workflow.outcome.as_deref().unwrap_or_default();
    line("")?;
    if outcome == "complete" {
        line(format_args!("{} workflow {id}", style.good("complete:")))?;
        return last_outputs(details).iter().try_for_each(line);
    }
    let label = style.bad(format_args!("{}:", shown(outcome)));
    match first_error(details) {
        Some(error) => line(format_args!("{label} {error}"))?,
        None => line(format_args!("{label} workflow {id}"))?,
    }
    line(style.faint(format_args!("powerstrip workflows show {id}")))
}

/// The outputs of the last layer that has any; each begins with its task if there are several.
fn last_outputs(details: &WorkflowDetails) -> Vec<String> {
    let outputs = details.last_outputs();
    let several = outputs.len() > 1;
    let lines = outputs.into_iter().map(|(task, output)| {
        let text = readable(output);
        if several { format!("{}: {text}", shown(&task.task_id)) } else { text }
    });
    lines.collect()
}

/// Text as it is, the only text of an object as it is, everything else as JSON.
fn readable(output: &Value) -> String {
    // The alternate form of a `Value` is indented JSON.
    only_text(output).map_or_else(|| clean::visible_json(&format!("{output:#}")), ToOwned::to_owned)
}

/// The error of the first task that failed, with its task; else the reason that the workflow's answer gives.
fn first_error(details: &WorkflowDetails) -> Option<String> {
    if let Some((task, error)) = details.first_failure() {
        let part = |name: &str| shown(error.get(name).and_then(Value::as_str).unwrap_or_default());
        return Some(format!(
            "task {} ({}): {}: {}",
            shown(&task.task_id),
            shown(&task.tool),
            part("code"),
            part("message")
        ));
    }
    details.reason().map(shown)
}

#[cfg(test)]
mod tests {
    use operations::workflows::WorkflowTask;
    use serde_json::json;

    use super::*;

    fn task(id: &str, layer: usize, output: Option<Value>, error: Option<Value>) -> WorkflowTask {
        WorkflowTask { task_id: id.to_owned(), layer, output, error, ..WorkflowTask::default() }
    }

    #[test]
    fn the_last_layer_is_shown_with_its_tasks() {
        let tasks = vec![
            task("a", 0, Some(json!("early")), None),
            task("b", 1, Some(json!({"text": "HELLO!"})), None),
            task("c", 1, Some(json!({"n": 1})), None),
        ];
        let mut details = WorkflowDetails { tasks, ..WorkflowDetails::default() };
        assert_eq!(last_outputs(&details), ["b: HELLO!", "c: {\n  \"n\": 1\n}"]);
        details.tasks.pop();
        assert_eq!(last_outputs(&details), ["HELLO!"]);
    }

    #[test]
    fn the_first_error_names_its_task() {
        let error = json!({"code": "TIMEOUT", "message": "too\nslow"});
        let tasks = vec![task("a", 0, Some(json!(1)), None), task("b", 1, None, Some(error))];
        let details = WorkflowDetails { tasks, ..WorkflowDetails::default() };
        assert_eq!(first_error(&details).as_deref(), Some("task b (): TIMEOUT: too slow"));
    }
}
