//! The tasks of a workflow: each opens to its arguments, output, error, attempts and timing.

use maud::{Markup, html};
use operations::workflows::{WorkflowDetails, WorkflowTask};

use super::attempts::{Attempt, attempts};
use super::{outcome, steer};
use crate::time;
use crate::viewer::Viewer;
use crate::words::{self, Tone, inert, json, mark, short};

/// All tasks; the one of this id is open.
pub(super) fn list(details: &WorkflowDetails, open: &str, viewer: &Viewer) -> Markup {
    html! {
        div.tasks { @for task in &details.tasks {
            details.task #(format!("task-{}", task.task_id)) open[task.task_id == open] {
                summary {
                    span.task-name { code { (short(&task.task_id, 60)) } }
                    span.task-tool { code { (short(&task.tool, 60)) } }
                    span.task-end {
                        (status(details.task_state(task)))
                        @if let Some(took) = task.duration_ms { span.soft.number { " " (time::span(took.saturating_mul(1_000))) } }
                    }
                }
                div.task-body { (body(details, task, viewer)) }
            }
        } }
    }
}

fn body(details: &WorkflowDetails, task: &WorkflowTask, viewer: &Viewer) -> Markup {
    let attempts = attempts(details, task);
    html! {
        p.soft {
            "Layer " (task.layer + 1) " · attempt " (task.attempt)
            @if !task.depends_on.is_empty() { " · after " (short(&task.depends_on.join(", "), 120)) }
            @if let Some(started) = task.started_unix_ms { " · started " (time::exact(started)) }
            @if let Some(ended) = task.ended_unix_ms { " · ended " (time::of_day(ended)) }
        }
        (steer::task_buttons(details, task, viewer))
        @if let Some(error) = &task.error {
            p.soft { "Error" }
            div.fault { p.prose { strong { (inert(error["code"].as_str().unwrap_or_default())) } " " (words::message(&outcome::message(error))) } }
            @if let Some(more) = error.get("details") { pre.code tabindex="0" { (json(more)) } }
        }
        p.soft { "Arguments" }
        pre.code tabindex="0" { (json(&task.arguments)) }
        @if let Some(output) = &task.output { p.soft { "Output" } (outcome::readable(output)) }
        @if !attempts.is_empty() {
            p.soft { "Attempts" }
            ol.attempts { @for one in &attempts { (attempt(one)) } }
        }
    }
}

fn attempt(attempt: &Attempt) -> Markup {
    let took = attempt.ended_unix_ms.map(|ended| ended.saturating_sub(attempt.started_unix_ms));
    html! {
        li value=(attempt.number) {
            (status(&attempt.status))
            @if let Some(code) = &attempt.code { " " code { (inert(code)) } }
            span.soft {
                " · " (time::exact(attempt.started_unix_ms))
                @if let Some(took) = took { " · took " (time::span(took.saturating_mul(1_000))) }
            }
        }
    }
}

fn status(status: &str) -> Markup {
    let tone = match status {
        "success" => Tone::Good,
        "failed" => Tone::Bad,
        "waiting" => Tone::Doubtful,
        _ => Tone::Quiet,
    };
    mark(tone, &inert(status))
}
