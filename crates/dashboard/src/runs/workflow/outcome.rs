//! What a workflow has produced, at the top of its page: the outputs of its last layer, or the errors of its failed tasks.

use maud::{Markup, html};
use operations::workflows::{WorkflowDetails, WorkflowTask, only_text};
use proto::ANSWERED_BY;
use serde_json::Value;

use super::steer;
use crate::runs::links::task_link;
use crate::viewer::Viewer;
use crate::words::{self, count, in_url, inert, json, short, size};

/// How many failed tasks are shown.
const MAX_FAILURES: usize = 5;

/// The result, once there is one.
pub(super) fn show(details: &WorkflowDetails, viewer: &Viewer) -> Markup {
    let buttons = |task: &WorkflowTask| steer::task_buttons(details, task, viewer);
    html! { div #result data-swap { (result(details, &buttons)) } }
}

fn result(details: &WorkflowDetails, buttons: &dyn Fn(&WorkflowTask) -> Markup) -> Markup {
    let workflow = &details.workflow;
    let outputs = |title: &str| outputs(title, &details.last_outputs(), &workflow.run_id);
    match (workflow.state.as_str(), workflow.outcome.as_deref()) {
        ("ended", Some("complete")) => outputs("Result"),
        ("paused", Some("layer_complete")) => outputs("Output of the last layer"),
        ("ended", _) | ("paused", Some("task_failed" | "rejected")) => failures(details, buttons),
        _ => html! {},
    }
}

fn outputs(title: &str, outputs: &[(&WorkflowTask, &Value)], run: &str) -> Markup {
    html! {
        @if !outputs.is_empty() {
            h2 { (title) }
            @for (task, output) in outputs {
                @if outputs.len() > 1 { p.result-task { a href=(task_link(run, &task.task_id)) { code { (short(&task.task_id, 60)) } } } }
                (readable(output))
            }
        }
    }
}

fn failures(details: &WorkflowDetails, buttons: &dyn Fn(&WorkflowTask) -> Markup) -> Markup {
    let failed = details.failures();
    html! {
        @for (task, error) in failed.iter().take(MAX_FAILURES) {
            div.fault.cause role="alert" {
                p {
                    strong { (inert(part(error, "code"))) } " · task "
                    a href=(task_link(&details.workflow.run_id, &task.task_id)) { code { (short(&task.task_id, 60)) } }
                    " · " code { (short(&task.tool, 60)) }
                }
                p.prose { (words::message(&message(error))) }
                (buttons(task))
            }
        }
        @if failed.len() > MAX_FAILURES {
            p.soft { "and " (count(failed.len() - MAX_FAILURES, "more failed task", "more failed tasks")) }
        }
        @if let Some(reason) = details.reason().filter(|_| failed.is_empty() && details.workflow.state == "ended") {
            div.fault.cause role="alert" { p.prose { (words::message(reason)) } }
        }
    }
}

fn part<'a>(error: &'a Value, name: &str) -> &'a str {
    error.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The message of an error: what a server itself said is marked as its words.
pub(super) fn message(error: &Value) -> String {
    let message = part(error, "message");
    let server = error.get("details").and_then(|details| details.get(ANSWERED_BY)?.as_str());
    match server {
        Some(server) => format!("{server} answered: {message}"),
        None => message.to_owned(),
    }
}

/// An output: text as it is, everything else as JSON; its size and beginning if it is large, and the link to it if it is
/// stored.
pub(super) fn readable(output: &Value) -> Markup {
    let text = |name: &str| output.get(name).and_then(Value::as_str);
    let is_large = output.get("large").is_some();
    html! {
        @if let Some(id) = text("ref_id") {
            p { a href=(format!("/dashboard/files/{}", in_url(id))) { "Whole output" } }
            pre.code tabindex="0" { (text("preview").map_or_else(|| json(output), inert)) }
        } @else if let Some(preview) = text("preview").filter(|_| is_large) {
            @let bytes = output.get("bytes").and_then(Value::as_u64).unwrap_or(0);
            p.soft { "Output of " (size(bytes)) ", its beginning" }
            pre.code tabindex="0" { (inert(preview)) "…" }
        } @else {
            pre.code tabindex="0" { (only_text(output).map_or_else(|| json(output), inert)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use operations::workflows::WorkflowSummary;
    use serde_json::json;

    use super::*;

    fn ended(outcome: &str, tasks: Vec<WorkflowTask>) -> WorkflowDetails {
        let workflow = WorkflowSummary {
            state: "ended".to_owned(),
            outcome: Some(outcome.to_owned()),
            run_id: "run_1".to_owned(),
            ..WorkflowSummary::default()
        };
        WorkflowDetails { workflow, tasks, ..WorkflowDetails::default() }
    }

    fn shown(details: &WorkflowDetails) -> String {
        result(details, &|_| html! {}).into_string()
    }

    fn task(id: &str, layer: usize) -> WorkflowTask {
        WorkflowTask { task_id: id.to_owned(), layer, ..WorkflowTask::default() }
    }

    #[test]
    fn the_last_layer_or_the_errors_are_shown_inert() {
        let early = WorkflowTask { output: Some(json!("early")), ..task("a", 0) };
        let last = WorkflowTask { output: Some(json!({"text": "<b>HELLO!"})), ..task("b", 1) };
        let page = shown(&ended("complete", vec![early.clone(), last]));
        assert!(page.contains("&lt;b&gt;HELLO!") && !page.contains("early"), "{page}");
        let mut paused = ended("layer_complete", vec![early]);
        paused.workflow.state = "paused".to_owned();
        assert!(shown(&paused).contains("Output of the last layer"), "{paused:?}");
        let error =
            json!({"code": "TIMEOUT", "message": "too <slow>", "details": {"answeredBy": "crm"}});
        let failed =
            WorkflowTask { error: Some(error), tool: "crm:find@1".to_owned(), ..task("c", 0) };
        let page = shown(&ended("failed", vec![failed; 7]));
        for part in ["TIMEOUT", "task=c#task-c", "crm:find@1", "crm answered: too &lt;slow&gt;"] {
            assert_eq!(page.matches(part).count(), MAX_FAILURES, "{part}: {page}");
        }
        assert!(page.contains("and 2 more failed tasks"), "{page}");
    }

    #[test]
    fn large_and_stored_outputs_are_links_and_beginnings() {
        let large = json!({"large": true, "bytes": 5_120, "preview": "{\"text\":\"<script>"});
        let large = readable(&large).into_string();
        assert!(large.contains("Output of 5.0 KB") && large.contains("&lt;script&gt;…"), "{large}");
        let stored = readable(&json!({"ref_id": "ref_1", "preview": "x"})).into_string();
        assert!(stored.contains("href=\"/dashboard/files/ref_1\""), "{stored}");
    }
}
