//! What a workflow has produced: the outputs of its last layer, or the error of its first failed task.

use serde_json::Value;

use super::{WorkflowDetails, WorkflowTask};

impl WorkflowDetails {
    /// The tasks of the last layer that has outputs, with their outputs.
    pub fn last_outputs(&self) -> Vec<(&WorkflowTask, &Value)> {
        let with_output =
            || self.tasks.iter().filter_map(|task| Some((task, task.output.as_ref()?)));
        let last = with_output().map(|(task, _)| task.layer).max();
        with_output().filter(|(task, _)| Some(task.layer) == last).collect()
    }

    /// The tasks that failed, with their errors.
    pub fn failures(&self) -> Vec<(&WorkflowTask, &Value)> {
        self.tasks.iter().filter_map(|task| Some((task, task.error.as_ref()?))).collect()
    }

    /// The first task that failed, with its error.
    pub fn first_failure(&self) -> Option<(&WorkflowTask, &Value)> {
        self.failures().into_iter().next()
    }

    /// The reason that the workflow's answer gives for its end or pause.
    pub fn reason(&self) -> Option<&str> {
        self.checkpoint.as_ref()?.get("reason")?.as_str()
    }
}

/// An output that is a text, or an object whose only field is one.
pub fn only_text(output: &Value) -> Option<&str> {
    match output {
        Value::String(text) => Some(text),
        Value::Object(fields) if fields.len() == 1 => fields.values().next()?.as_str(),
        _ => None,
    }
}
