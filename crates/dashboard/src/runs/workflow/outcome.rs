//! What a workflow has produced, at the top of its page: the outputs of its last layer, or the error of its first failed
//! task.

use maud::{Markup, html};
use operations::workflows::{WorkflowDetails, WorkflowTask, only_text};
use proto::ANSWERED_BY;
use serde_json::Value;

use crate::runs::links::task_link;
use crate::words::{in_url, inert, json, short, size};

/// The result, once there is one.
pub(super) fn show(details: &WorkflowDetails) -> Markup {
    html! { div #result data-swap { (result(details)) } }
}

fn result(details: &WorkflowDetails) -> Markup {
    let workflow = &details.workflow;
    match (workflow.state.as_str(), workflow.outcome.as_deref()) {
        ("ended", Some("complete")) => outputs(&details.last_outputs(), &workflow.run_id),
        ("ended", _) | ("paused", Some("task_failed" | "rejected")) => failure(details),
        _ => html! {},
    }
}

fn outputs(outputs: &[(&WorkflowTask, &Value)], run: &str) -> Markup {
    html! {
        @if !outputs.is_empty() {
            h2 { "Result" }
            @for (task, output) in outputs {
                @if outputs.len() > 1 { p.result-task { a href=(task_link(run, &task.task_id)) { code { (short(&task.task_id, 60)) } } } }
                (readable(output))
            }
        }
    }
}

fn failure(details: &WorkflowDetails) -> Markup {
    html! {
        @if let Some((task, error)) = details.first_failure() {
            div.fault.cause role="alert" {
                p {
                    strong { (inert(part(error, "code"))) } " · task "
                    a href=(task_link(&details.workflow.run_id, &task.task_id)) { code { (short(&task.task_id, 60)) } }
                    " · " code { (short(&task.tool, 60)) }
                }
                p.prose { (inert(&message(error))) }
            }
        } @else if let Some(reason) = details.reason().filter(|_| details.workflow.state == "ended") {
            div.fault.cause role="alert" { p.prose { (inert(reason)) } }
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

    fn task(id: &str, layer: usize) -> WorkflowTask {
        WorkflowTask { task_id: id.to_owned(), layer, ..WorkflowTask::default() }
    }

    #[test]
    fn the_last_layer_or_the_first_error_is_shown_inert() {
        let early = WorkflowTask { output: Some(json!("early")), ..task("a", 0) };
        let last = WorkflowTask { output: Some(json!({"text": "<b>HELLO!"})), ..task("b", 1) };
        let shown = result(&ended("complete", vec![early, last])).into_string();
        assert!(shown.contains("&lt;b&gt;HELLO!") && !shown.contains("early"), "{shown}");
        let error =
            json!({"code": "TIMEOUT", "message": "too <slow>", "details": {"answeredBy": "crm"}});
        let failed =
            WorkflowTask { error: Some(error), tool: "crm:find@1".to_owned(), ..task("c", 0) };
        let shown = result(&ended("failed", vec![failed])).into_string();
        for part in ["TIMEOUT", "task=c#task-c", "crm:find@1", "crm answered: too &lt;slow&gt;"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
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
