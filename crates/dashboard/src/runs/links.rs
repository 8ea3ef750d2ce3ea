//! The addresses of runs and of the tasks of workflows.

use crate::words::in_url;

pub(super) fn run_page(id: &str) -> String {
    format!("/dashboard/runs/{}", in_url(id))
}

/// The page of a run with this task opened.
pub(super) fn task_link(run: &str, task: &str) -> String {
    format!("{}?task={}#task-{}", run_page(run), in_url(task), in_url(task))
}
