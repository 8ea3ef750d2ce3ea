//! The workflow of a run: its DAG with layers and states, and its tasks.

use std::collections::HashSet;

use auth::scope;
use axum::extract::{Path, State};
use axum::response::Response;
use http::HeaderValue;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use maud::{Markup, html};
use operations::workflows::{WorkflowDetails, WorkflowQuery, WorkflowTask};
use serde_json::Value;

use super::graph::{DrawnBox, MAX_DRAWN, draw_boxes};
use crate::layout::PageResult;
use crate::state::Dashboard;
use crate::time;
use crate::viewer::Viewer;
use crate::words::{Tone, approval_page, count, in_url, inert, json, mark, short, size};

/// The kind of a run that is a workflow.
const KIND: &str = "workflow";

/// The most quarantined workflows that are marked in a list.
const MAX_QUARANTINED: u32 = 500;

/// Why a workflow is paused in which processes died.
const QUARANTINED: &str = "quarantined";

/// The workflow of a run, if it is one.
pub(super) async fn load(
    dashboard: &Dashboard,
    viewer: &Viewer,
    kind: &str,
    run: &str,
) -> Option<WorkflowDetails> {
    let console = dashboard.parts.workflows.as_ref().filter(|_| kind == KIND)?;
    match console.show(&viewer.caller(), run).await {
        Ok(details) => Some(details),
        Err(error) => {
            tracing::warn!(%error, run, "a workflow cannot be shown");
            None
        }
    }
}

/// The ids of the runs whose workflows are quarantined.
pub(super) async fn quarantined_runs(dashboard: &Dashboard, viewer: &Viewer) -> HashSet<String> {
    let Some(console) = &dashboard.parts.workflows else { return HashSet::new() };
    let state = Some(QUARANTINED.to_owned());
    let query = WorkflowQuery { state, limit: Some(MAX_QUARANTINED), ..WorkflowQuery::default() };
    match console.list(&viewer.caller(), query).await {
        Ok(list) => list.workflows.into_iter().map(|workflow| workflow.run_id).collect(),
        Err(error) => {
            tracing::warn!(%error, "quarantined workflows cannot be listed");
            HashSet::new()
        }
    }
}

/// Whether a workflow waits for an operator because processes died while it was active.
pub(super) fn is_quarantined(details: &WorkflowDetails) -> bool {
    details.workflow.outcome.as_deref() == Some(QUARANTINED)
}

/// The drawing as a file.
pub(crate) async fn drawing(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    viewer: Viewer,
) -> PageResult {
    viewer.require(scope::RUNS_READ)?;
    let Some(console) = &dashboard.parts.workflows else {
        return Err(viewer.missing("Workflows are not available in this process."));
    };
    let drawn = console.draw(&viewer.caller(), &id).await;
    let drawn = drawn.map_err(|error| viewer.failed("Drawing failed", &error))?;
    let mut response = Response::new(drawn.into());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("image/svg+xml"));
    // It has styles of its own, which the policy of our pages forbids.
    let name = HeaderValue::from_static("attachment; filename=\"workflow.svg\"");
    headers.insert(CONTENT_DISPOSITION, name);
    Ok(response)
}

pub(super) fn show(details: &WorkflowDetails, viewer: &Viewer) -> Markup {
    let workflow = &details.workflow;
    html! {
        h2 { "Workflow" }
        div #workflow data-swap {
            p {
                (state(&workflow.state, workflow.outcome.as_deref()))
                " · layer " (workflow.layer + 1) " of " (workflow.layers)
                " · " (workflow.tasks_done) " of " (count(workflow.tasks_total, "task", "tasks")) " done"
                @if workflow.state != "ended" { " · expires: " (time::left(workflow.expires_unix_ms, viewer.now_ms)) }
                " · " a href=(format!("/dashboard/runs/{}/graph.svg", in_url(&workflow.run_id))) download="" { "Export as SVG" }
            }
            @if is_quarantined(details) { (quarantine(details)) }
            @if let Some(checkpoint) = &details.checkpoint { (decisions(checkpoint)) }
            @if details.tasks.len() <= MAX_DRAWN { (draw(&details.tasks)) }
            (tasks(&details.tasks))
        }
    }
}

/// What the workflow has done and could not undo.
pub(super) fn not_undone(details: &WorkflowDetails) -> Markup {
    html! {
        div #not-undone data-swap {
            @if !details.not_undone.is_empty() {
                div.fault role="alert" {
                    p { strong { "Not undone" } }
                    ul { @for one in &details.not_undone {
                        li { code { (short(&one.task_id, 60)) } ", compensation " code { (short(&one.tool, 60)) } ": " (inert(&one.reason)) }
                    } }
                }
            }
        }
    }
}

fn state(state: &str, outcome: Option<&str>) -> Markup {
    match (state, outcome) {
        ("ended", Some("complete")) => mark(Tone::Good, "complete"),
        ("ended", Some(outcome)) => mark(Tone::Bad, &inert(outcome)),
        ("paused", Some(QUARANTINED)) => mark(Tone::Bad, "paused: quarantined"),
        ("paused", Some(reason)) => mark(Tone::Doubtful, &format!("paused: {}", inert(reason))),
        ("paused", None) => mark(Tone::Doubtful, "paused"),
        (other, _) => mark(Tone::Quiet, &inert(other)),
    }
}

/// Why a workflow is quarantined, and the commands that end that.
fn quarantine(details: &WorkflowDetails) -> Markup {
    let id = &details.workflow.workflow_id;
    let reason = details.checkpoint.as_ref().and_then(|checkpoint| checkpoint["reason"].as_str());
    html! {
        p { (inert(reason.unwrap_or_default())) }
        pre.code { "powerstrip workflows continue " (inert(id)) " --force\npowerstrip workflows abort " (inert(id)) }
    }
}

/// The decisions that the workflow waits for.
fn decisions(checkpoint: &Value) -> Markup {
    let text = |value: &Value, field: &str| {
        value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let open = checkpoint.get("decisions").and_then(Value::as_array);
    html! {
        @if let Some(open) = open {
            p { (inert(&text(checkpoint, "decision_context"))) }
            ul.rows { @for one in open {
                @let id = text(one, "approval_id");
                li { a.row href=(approval_page(&id)) {
                    span.row-name { "Approve " (short(&text(one, "task_id"), 40)) }
                    span.row-more { code { (short(&text(one, "tool"), 60)) } }
                } }
            } }
        }
    }
}

fn draw(tasks: &[WorkflowTask]) -> Markup {
    let mut lines = vec![0; tasks.iter().map(|task| task.layer + 1).max().unwrap_or(0)];
    let position = |id: &String| tasks.iter().position(|task| task.task_id == *id);
    let boxes = tasks.iter().map(|task| {
        let line = lines[task.layer];
        lines[task.layer] += 1;
        DrawnBox {
            layer: task.layer,
            line,
            follows: task.depends_on.iter().filter_map(position).collect(),
            edge: "edge",
            class: match task.status.as_str() {
                "success" => "node",
                "failed" => "node failed",
                "running" => "node running",
                "waiting" => "node waiting",
                _ => "node pending",
            },
            title: format!("{} · {} · {}", task.task_id, task.tool, task.status),
            text: task.task_id.clone(),
            href: format!("#task-{}", in_url(&task.task_id)),
        }
    });
    draw_boxes(&boxes.collect::<Vec<_>>(), "tasks")
}

fn tasks(tasks: &[WorkflowTask]) -> Markup {
    html! {
        div.table { table {
            thead { tr {
                th scope="col" { "Task" } th scope="col" { "Tool" } th.number scope="col" { "Layer" }
                th scope="col" { "State" } th.number scope="col" { "Took" } th.number scope="col" { "Attempt" }
            } }
            tbody { @for task in tasks { tr #(format!("task-{}", task.task_id)) {
                td {
                    code { (short(&task.task_id, 60)) }
                    details {
                        summary { "Arguments and output" }
                        p.soft { "Arguments" } pre.code { (json(&task.arguments)) }
                        @if let Some(output) = &task.output { (show_output(output)) }
                        @if let Some(error) = &task.error { p.soft { "Error" } pre.code { (json(error)) } }
                    }
                }
                td { code { (short(&task.tool, 60)) } }
                td.number { (task.layer + 1) }
                td { (status(&task.status)) }
                td.number { @if let Some(took) = task.duration_ms { (time::span(took.saturating_mul(1_000))) } }
                td.number { (task.attempt) }
            } } }
        } }
    }
}

/// An output; its size and beginning if it is large, and the link to it if it is stored.
fn show_output(output: &Value) -> Markup {
    let stored = output.get("ref_id").and_then(Value::as_str);
    let preview = output.get("preview").and_then(Value::as_str);
    let large = output.get("large").is_some().then_some(preview).flatten();
    html! {
        @if let Some(preview) = large {
            @let bytes = output.get("bytes").and_then(Value::as_u64).unwrap_or(0);
            p.soft { "Output of " (size(bytes)) ", its beginning" }
            pre.code { (inert(preview)) "…" }
        } @else {
            p.soft { "Output" @if let Some(id) = stored { " " a href=(format!("/dashboard/files/{}", in_url(id))) { "Whole output" } } }
            pre.code { (json(output)) }
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

#[cfg(test)]
mod tests {
    use operations::workflows::NotUndone;
    use serde_json::json;

    use super::*;

    fn task(id: &str, layer: usize, status: &str, depends_on: &[&str]) -> WorkflowTask {
        WorkflowTask {
            task_id: id.to_owned(),
            tool: "demo:echo@1".to_owned(),
            layer,
            status: status.to_owned(),
            depends_on: depends_on.iter().map(|&id| id.to_owned()).collect(),
            arguments: json!({"text": "<script>"}),
            ..WorkflowTask::default()
        }
    }

    #[test]
    fn what_is_not_undone_is_listed_inert() {
        let mut details = WorkflowDetails::default();
        assert!(!not_undone(&details).into_string().contains("Not undone"));
        details.not_undone = vec![NotUndone {
            task_id: "pay".to_owned(),
            tool: "bank:refund@1".to_owned(),
            reason: "UNAVAILABLE: <script>".to_owned(),
        }];
        let listed = not_undone(&details).into_string();
        assert!(listed.contains("Not undone") && listed.contains("pay"), "{listed}");
        assert!(listed.contains("&lt;script&gt;") && !listed.contains("<script>"), "{listed}");
    }

    #[test]
    fn tasks_are_drawn_in_layers_and_listed_inert() {
        let all = [
            task("a", 0, "success", &[]),
            task("b", 1, "failed", &["a"]),
            task("c", 1, "waiting", &["a", "gone"]),
        ];
        let drawn = draw(&all).into_string();
        assert_eq!(drawn.matches("<rect").count(), 3);
        assert_eq!(drawn.matches("class=\"edge\"").count(), 2);
        assert!(drawn.contains("3 tasks in 2 layers") && drawn.contains("node waiting"));
        let listed = tasks(&all).into_string();
        assert!(listed.contains("id=\"task-b\"") && !listed.contains("<script>"));
        let large = json!({"large": true, "bytes": 5_120, "preview": "{\"text\":\"<script>"});
        let large = show_output(&large).into_string();
        assert!(large.contains("Output of 5.0 KB") && large.contains("&lt;script&gt;…"), "{large}");
        let stored = show_output(&json!({"ref_id": "ref_1", "preview": "x"})).into_string();
        assert!(stored.contains("href=\"/dashboard/files/ref_1\""), "{stored}");
        let asked = json!({"decision_context": "Delete?", "decisions": [{"approval_id": "apr_1", "task_id": "b", "tool": "x"}]});
        assert!(decisions(&asked).into_string().contains("/dashboard/approvals/apr_1"));
        let mut paused = WorkflowDetails::default();
        paused.workflow.workflow_id = "w1".to_owned();
        paused.checkpoint = Some(json!({"reason": "2 processes <died>"}));
        let shown = quarantine(&paused).into_string();
        assert!(shown.contains("2 processes &lt;died&gt;"), "{shown}");
        assert!(shown.contains("workflows continue w1 --force"), "{shown}");
    }
}
