//! The addresses of runs and of the tasks of workflows.

pub(super) use crate::words::run_page;

use crate::words::in_url;

/// The page of a run with this task opened.
pub(super) fn task_link(run: &str, task: &str) -> String {
    format!("{}?task={}#task-{}", run_page(run), in_url(task), in_url(task))
}
