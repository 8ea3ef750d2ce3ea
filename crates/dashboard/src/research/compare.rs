//! What changed between the mind maps of two research runs.

use std::collections::HashMap;
use std::sync::Arc;

use auth::scope;
use axum::extract::{Path, Query, State};
use maud::{Markup, html};
use operations::workflows::{WorkflowDetails, WorkflowQuery, WorkflowState, WorkflowSummary};
use serde::Deserialize;
use serde_json::{Value, json};
use strip::{Door, Request};

use super::{Artifacts, compare_page, drawing, is_research};
use crate::layout::{Page, PageResult, Section, heading};
use crate::state::Dashboard;
use crate::time;
use crate::unreadable::Unreadable;
use crate::viewer::Viewer;
use crate::words::{Tone, count, inert, mark, message, run_page, short};

/// How the names of research workflows begin.
const NAME: &str = "Research: ";

/// The most workflows among which earlier research is looked for.
const MAX_LISTED: u32 = 200;

/// The most changes of a kind that are listed.
const MAX_CHANGES: usize = 200;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// The id of the other workflow.
    with: String,
}

/// Other research of the viewer's tenant, the last changed first.
pub(super) async fn others(
    dashboard: &Dashboard,
    viewer: &Viewer,
    workflow: &WorkflowDetails,
) -> Result<Vec<WorkflowSummary>, Unreadable> {
    let Some(console) = &dashboard.parts.workflows else { return Ok(Vec::new()) };
    let query = WorkflowQuery {
        state: Some(WorkflowState::Ended),
        limit: Some(MAX_LISTED),
        ..WorkflowQuery::default()
    };
    let list = console.list(&viewer.caller(), query).await;
    let list = list.map_err(|error| Unreadable::log("The earlier research runs", &error))?;
    let mut others = list.workflows;
    let this = &workflow.workflow;
    others.retain(|other| {
        other.workflow_id != this.workflow_id
            && other.tenant == this.tenant
            && other.outcome.as_deref() == Some("complete")
            && other.name.starts_with(NAME)
    });
    Ok(others)
}

/// The form that chooses another run.
pub(super) fn form(
    run: &str,
    others: &Result<Vec<WorkflowSummary>, Unreadable>,
    chosen: &str,
) -> Markup {
    let others = match others {
        Ok(others) => others,
        Err(unread) => return unread.show(),
    };
    html! {
        @if others.is_empty() {
            p.soft { "There is no other research to compare with." }
        } @else {
            form.secret method="get" action=(compare_page(run)) {
                label { "Compare the mind map with that of"
                    select name="with" { @for other in others {
                        option value=(other.workflow_id) selected[other.workflow_id == chosen] {
                            (short(other.name.strip_prefix(NAME).unwrap_or(&other.name), 80)) " · " (time::exact(other.updated_unix_ms)) " · " (short(&other.workflow_id, 9))
                        }
                    } }
                }
                button type="submit" { "Compare" }
            }
        }
    }
}

/// The comparison of a run with another one.
pub(crate) async fn page(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    Query(params): Query<Params>,
    viewer: Viewer,
) -> PageResult {
    viewer.require(scope::RUNS_READ)?;
    viewer.require(scope::TOOLS_CALL)?;
    let Some(console) = &dashboard.parts.workflows else {
        return Err(viewer.missing("Workflows are not available in this process."));
    };
    let workflow = console.show(&viewer.caller(), &id).await;
    let workflow = workflow.map_err(|error| viewer.unavailable(&error))?;
    if !is_research(&workflow) {
        return Err(viewer.missing("This run is not research."));
    }
    let others = others(&dashboard, &viewer, &workflow).await;
    let this = &workflow.workflow;
    let changes = match params.with.as_str() {
        "" => html! {},
        other => {
            let input = json!({"a": other, "b": this.workflow_id});
            let principal = Arc::clone(viewer.principal());
            let call = Request::new("research.diff", input, principal, Door::Dashboard);
            match dashboard.parts.strip.call(call).await.result {
                Ok(answer) => changes(&answer, &labels(&dashboard, &viewer, &this.run_id).await),
                Err(failure) => html! { p.fault role="alert" { (message(&failure.message)) } },
            }
        }
    };
    let title = this.name.strip_prefix(NAME).unwrap_or(&this.name);
    let back = html! { a href=(run_page(&this.run_id)) { "Back to the report" } };
    let body = html! {
        (heading(html! { (inert(title)) }, html! { "Compared with earlier research" }, back))
        (form(&this.run_id, &others, &params.with))
        (changes)
    };
    Page::new("Compare research", Section::Runs, body).show(&viewer)
}

/// What the nodes of a run's mind map are called, by their ids.
async fn labels(dashboard: &Dashboard, viewer: &Viewer, run: &str) -> HashMap<String, String> {
    if !viewer.may(scope::FILES_READ) {
        return HashMap::new();
    }
    let run = dashboard.parts.strip.runs().show(viewer.tenant().as_deref(), run).await;
    // Without their names, the nodes are shown by their ids.
    let Ok(run) = run else { return HashMap::new() };
    let mut artifacts = Artifacts::find(dashboard, viewer, &run.run.artifacts).await;
    let Some(map) = artifacts.text(dashboard, viewer, "map.json").await else {
        return HashMap::new();
    };
    // may fail: anyone may store a file of this name in a run of their own.
    let map: Value = serde_json::from_str(&map).unwrap_or_default();
    let nodes = map["nodes"].as_array().into_iter().flatten();
    let named = nodes.filter_map(|node| {
        Some((node["id"].as_str()?.to_owned(), node["label"].as_str()?.to_owned()))
    });
    named.collect()
}

fn changes(answer: &Value, labels: &HashMap<String, String>) -> Markup {
    let list = |name: &str| answer[name].as_array().map(Vec::as_slice).unwrap_or_default();
    let (added, removed, moved) = (list("added"), list("removed"), list("moved"));
    html! {
        p {
            (count(added.len(), "node added", "nodes added")) " · "
            (count(removed.len(), "node removed", "nodes removed")) " · "
            (count(moved.len(), "node moved", "nodes moved"))
        }
        @if let Some(svg) = answer["svg"].as_str() { (drawing(svg, "Mind map with the changes marked")) }
        (nodes("Added", Tone::Good, added, labels))
        (nodes("Removed", Tone::Bad, removed, labels))
        (nodes("Moved", Tone::Doubtful, moved, labels))
        (renamed(list("renamed")))
    }
}

/// The nodes with another label, before and after.
fn renamed(nodes: &[Value]) -> Markup {
    let text = |node: &Value, side: &str| short(node[side].as_str().unwrap_or_default(), 200);
    html! {
        @if !nodes.is_empty() {
            h2 { "Renamed" }
            ul.rows { @for node in nodes.iter().take(MAX_CHANGES) {
                li { div.row {
                    span.row-name.wrap { (text(node, "from")) " → " (text(node, "to")) }
                    span.row-end { (mark(Tone::Doubtful, "renamed")) }
                } }
            } }
        }
    }
}

fn nodes(title: &str, tone: Tone, nodes: &[Value], labels: &HashMap<String, String>) -> Markup {
    html! {
        @if !nodes.is_empty() {
            h2 { (title) }
            ul.rows { @for node in nodes.iter().take(MAX_CHANGES) {
                li { div.row {
                    span.row-name.wrap {
                        (short(label(node, labels), 200))
                        @if let (Some(from), Some(to)) = (node["from_label"].as_str(), node["to_label"].as_str()) {
                            br; span.soft.small { (short(from, 100)) " → " (short(to, 100)) }
                        }
                    }
                    span.row-end { (mark(tone, &title.to_lowercase())) }
                } }
            } }
        }
    }
}

/// What a node is called, else its id.
fn label<'a>(node: &'a Value, labels: &'a HashMap<String, String>) -> &'a str {
    let id = node["id"].as_str().or(node.as_str()).unwrap_or_default();
    node["label"].as_str().or(labels.get(id).map(String::as_str)).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_listed_and_drawn() {
        let answer = json!({"added": [{"id": "q1", "label": "Who <pays>?"}], "removed": ["q0"],
            "moved": [{"id": "q2", "from": "a", "to": "b"}], "svg": "<svg/>"});
        let labels = HashMap::from([("q2".to_owned(), "Who moved?".to_owned())]);
        let shown = changes(&answer, &labels).into_string();
        for part in [
            "1 node added",
            "1 node removed",
            "1 node moved",
            "Who &lt;pays&gt;?",
            "q0",
            "Who moved?",
            "%3Csvg",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(form("run_1", &Ok(Vec::new()), "").into_string().contains("no other research"));
    }
}
