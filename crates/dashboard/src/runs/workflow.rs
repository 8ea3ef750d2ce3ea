//! The workflow of a run: its result, the commands that people can give, its DAG with layers and states, and its tasks.

mod access;
mod again;
mod attempts;
mod decisions;
mod ordered;
mod outcome;
mod steer;
mod tasks;
mod timeline;

use std::collections::HashMap;

use auth::scope;
use axum::extract::{Path, State};
use axum::response::Response;
use http::HeaderValue;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use maud::{Markup, html};
use operations::OperationError;
use operations::workflows::{WorkflowDetails, WorkflowQuery, WorkflowState, WorkflowSummary};
use proto::Code;

use super::MAX_RUNS;
use super::graph::{DrawnBox, MAX_DRAWN, draw_boxes};
use super::links::task_link;
use super::params::Params;
use crate::layout::PageResult;
use crate::state::Dashboard;
use crate::time;
use crate::unreadable::Unreadable;
use crate::viewer::Viewer;
use crate::words::{Tone, in_url, inert, mark, message, short};

use access::{QUARANTINED, console};

pub(crate) use again::{page as again, start as start_again};
pub(crate) use steer::change as steer;

/// The kind of a run that is a workflow.
pub(super) const KIND: &str = "workflow";

/// The most quarantined workflows that are marked in a list.
const MAX_QUARANTINED: u32 = 500;

/// The workflow of a run, if it is one.
pub(super) async fn load(
    dashboard: &Dashboard,
    viewer: &Viewer,
    kind: &str,
    run: &str,
) -> Result<Option<WorkflowDetails>, OperationError> {
    let Some(console) = dashboard.parts.workflows.as_ref().filter(|_| kind == KIND) else {
        return Ok(None);
    };
    match console.show(&viewer.caller(), run).await {
        Ok(details) => Ok(Some(details)),
        // Its journal is kept for a shorter time than its run.
        Err(error) if error.code == Code::NotFound => Ok(None),
        Err(error) => {
            tracing::warn!(%error, run, "a workflow cannot be shown");
            Err(error)
        }
    }
}

/// The paused workflows that changed last, and all quarantined ones, by the ids of their runs.
pub(super) async fn paused_runs(
    dashboard: &Dashboard,
    viewer: &Viewer,
) -> Result<HashMap<String, WorkflowSummary>, Unreadable> {
    let Some(console) = &dashboard.parts.workflows else { return Ok(HashMap::new()) };
    let mut paused = HashMap::new();
    for (state, limit) in
        [(WorkflowState::Paused, MAX_RUNS), (WorkflowState::Quarantined, MAX_QUARANTINED)]
    {
        let query =
            WorkflowQuery { state: Some(state), limit: Some(limit), ..WorkflowQuery::default() };
        let list = console.list(&viewer.caller(), query).await;
        let list = list.map_err(|error| Unreadable::log("The paused workflows", &error))?;
        let rows = list.workflows.into_iter();
        paused.extend(rows.map(|workflow| (workflow.run_id.clone(), workflow)));
    }
    Ok(paused)
}

/// Whether a workflow in a list waits for an operator because processes died while it was active.
pub(super) fn is_quarantined_row(workflow: &WorkflowSummary) -> bool {
    workflow.outcome.as_deref() == Some(QUARANTINED)
}

/// Whether a workflow waits for an operator because processes died while it was active.
fn is_quarantined(details: &WorkflowDetails) -> bool {
    is_quarantined_row(&details.workflow)
}

/// The drawing as a file.
pub(crate) async fn drawing(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    viewer: Viewer,
) -> PageResult {
    viewer.require(scope::RUNS_READ)?;
    let drawn = console(&dashboard, &viewer)?.draw(&viewer.caller(), &id).await;
    let drawn = drawn.map_err(|error| viewer.failed("Drawing failed", &error))?;
    let mut response = Response::new(drawn.into());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("image/svg+xml"));
    // It has styles of its own, which the policy of our pages forbids.
    let name = HeaderValue::from_static("attachment; filename=\"workflow.svg\"");
    headers.insert(CONTENT_DISPOSITION, name);
    Ok(response)
}

/// What is decided first: the result so far, what could not be undone, and the buttons. `result` is shown in place of the
/// outputs.
pub(super) fn head(
    details: &WorkflowDetails,
    params: &Params,
    result: Option<&Markup>,
    viewer: &Viewer,
) -> Markup {
    html! {
        (steer::done(details, params))
        @match result {
            Some(result) => { div #result data-swap { (result) } }
            None => (outcome::show(details, viewer)),
        }
        (not_undone(details))
        (decisions::show(details, viewer))
        (steer::buttons(details, viewer))
    }
}

/// The drawing, the timeline and the tasks, of which one is open.
pub(super) fn show(details: &WorkflowDetails, open: &str, viewer: &Viewer) -> Markup {
    let workflow = &details.workflow;
    html! {
        h2 { "Workflow" }
        div #workflow data-swap {
            p {
                "Layer " (workflow.layer + 1) " of " (workflow.layers) " · " (workflow.progress())
                @if workflow.state != "ended" { " · expires: " (time::left(workflow.expires_unix_ms, viewer.now_ms)) }
                " · " a href=(format!("/dashboard/runs/{}/graph.svg", in_url(&workflow.run_id))) download="" { "Export as SVG" }
            }
            @if is_quarantined(details) { (quarantine(details)) }
            @if details.tasks.len() <= MAX_DRAWN { (draw(details)) }
        }
        @if details.tasks.len() <= MAX_DRAWN { div #timeline data-swap { (timeline::show(details, viewer)) } }
        h2 { "Tasks" }
        div #tasks data-swap { (tasks::list(details, open, viewer)) }
    }
}

/// What the workflow has done and could not undo.
fn not_undone(details: &WorkflowDetails) -> Markup {
    html! {
        div #not-undone data-swap {
            @if !details.not_undone.is_empty() {
                div.fault role="alert" {
                    p { strong { "Not undone" } }
                    ul { @for one in &details.not_undone {
                        li { code { (short(&one.task_id, 60)) } ", compensation " code { (short(&one.tool, 60)) } ": " (message(&one.reason)) }
                    } }
                }
            }
        }
    }
}

/// The state of a workflow; of a paused one, what it waits for.
pub(super) fn state(workflow: &WorkflowSummary, waits_for: Option<String>) -> Markup {
    let outcome = workflow.outcome.as_deref();
    if let Some(waits_for) = waits_for {
        let tone = if outcome == Some(QUARANTINED) { Tone::Bad } else { Tone::Doubtful };
        return mark(tone, &inert(&waits_for));
    }
    match (workflow.state.as_str(), outcome) {
        ("ended", Some("complete")) => mark(Tone::Good, "completed"),
        ("ended", Some("aborted")) => mark(Tone::Quiet, "aborted"),
        ("ended", Some(outcome)) => mark(Tone::Bad, &inert(outcome)),
        (other, _) => mark(Tone::Quiet, &inert(other)),
    }
}

/// Why a workflow is quarantined, and the commands that end that.
fn quarantine(details: &WorkflowDetails) -> Markup {
    let id = &details.workflow.workflow_id;
    let reason = details.checkpoint.as_ref().and_then(|checkpoint| checkpoint["reason"].as_str());
    html! {
        p { (message(reason.unwrap_or_default())) }
        p.soft { "The same on the gateway's host:" }
        pre.code tabindex="0" { "powerstrip workflows continue " (inert(id)) " --force\npowerstrip workflows abort " (inert(id)) }
    }
}

fn draw(details: &WorkflowDetails) -> Markup {
    let (tasks, run) = (&details.tasks, &details.workflow.run_id);
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
            title: format!("{} · {} · {}", task.task_id, task.tool, details.task_state(task)),
            text: task.task_id.clone(),
            href: task_link(run, &task.task_id),
        }
    });
    draw_boxes(&boxes.collect::<Vec<_>>(), "tasks")
}

#[cfg(test)]
mod tests {
    use operations::workflows::{NotUndone, WorkflowTask};
    use serde_json::json;

    use super::*;

    fn task(id: &str, layer: usize, status: &str, depends_on: &[&str]) -> WorkflowTask {
        WorkflowTask {
            task_id: id.to_owned(),
            tool: "demo:echo@1".to_owned(),
            layer,
            status: status.to_owned(),
            depends_on: depends_on.iter().map(|&id| id.to_owned()).collect(),
            ..WorkflowTask::default()
        }
    }

    #[test]
    fn tasks_that_are_not_undone_are_listed_as_escaped_text() {
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
    fn tasks_are_drawn_in_layers() {
        let all = [
            task("a", 0, "success", &[]),
            task("b", 1, "failed", &["a"]),
            task("c", 1, "waiting", &["a", "gone"]),
        ];
        let mut details = WorkflowDetails { tasks: all.to_vec(), ..WorkflowDetails::default() };
        details.workflow.run_id = "run_1".to_owned();
        let drawn = draw(&details).into_string();
        assert_eq!(drawn.matches("<rect").count(), 3);
        assert_eq!(drawn.matches("class=\"edge\"").count(), 2);
        assert!(drawn.contains("3 tasks in 2 layers") && drawn.contains("node waiting"));
        assert!(drawn.contains("href=\"/dashboard/runs/run_1?task=b#task-b\""), "{drawn}");
        let mut paused = WorkflowDetails::default();
        paused.workflow.workflow_id = "w1".to_owned();
        paused.checkpoint = Some(json!({"reason": "2 processes <died>"}));
        let shown = quarantine(&paused).into_string();
        assert!(shown.contains("2 processes &lt;died&gt;"), "{shown}");
        assert!(shown.contains("workflows continue w1 --force"), "{shown}");
    }
}
