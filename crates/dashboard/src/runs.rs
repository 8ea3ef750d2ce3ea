//! Runs: the list, the calls of one run as a graph, and its questions.

pub(super) mod graph;
mod links;
mod params;
mod question;
mod workflow;

use std::collections::HashMap;

use auth::scope;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use operations::OperationError;
use operations::workflows::{WorkflowDetails, WorkflowSummary};
use runs::{RunCall, RunDetails, RunFilter, RunSummary};

use crate::layout::{Page, PageResult, Section, heading};
use crate::posted::{PostedForm, see_other};
use crate::research;
use crate::state::Dashboard;
use crate::time;
use crate::unreadable::damaged_rows;
use crate::viewer::Viewer;
use crate::words::{Tone, count, empty, inert, mark, message, outcome, short};

use links::run_page;
use params::Params;
use question::Refused;
pub(super) use workflow::{again, drawing, start_again, steer};

/// How many runs are listed.
const MAX_RUNS: u32 = 100;

/// How often the page of a workflow that has not ended is redrawn, in seconds.
const WORKFLOW_POLL: u32 = 2;

/// How many runs wait for an answer; none if they could not be read.
pub(super) async fn asking(dashboard: &Dashboard, viewer: &Viewer) -> Option<usize> {
    if !viewer.may(scope::RUNS_READ) {
        return Some(0);
    }
    let state = Some("waiting".to_owned());
    let filter =
        RunFilter { tenant: viewer.tenant(), state, limit: Some(MAX_RUNS), ..RunFilter::default() };
    // The conversion logs the cause.
    let runs = dashboard.parts.strip.runs().list(&filter).await.map_err(OperationError::from);
    runs.ok().map(|runs| runs.rows.len())
}

pub(super) async fn page(State(dashboard): State<Dashboard>, viewer: Viewer) -> PageResult {
    viewer.require(scope::RUNS_READ)?;
    let filter =
        RunFilter { tenant: viewer.tenant(), limit: Some(MAX_RUNS), ..RunFilter::default() };
    let runs = match dashboard.parts.strip.runs().list(&filter).await {
        Ok(listed) => listed,
        Err(failure) => return Err(viewer.failed("Listing failed", &failure.into())),
    };
    let (runs, damaged) = (runs.rows, runs.damaged);
    let paused = workflow::paused_runs(&dashboard, &viewer).await;
    let unread = paused.as_ref().err();
    let none = HashMap::new();
    let paused = paused.as_ref().unwrap_or(&none);
    let quarantined = paused.values().filter(|row| workflow::is_quarantined_row(row)).count();
    let asking = runs.iter().filter(|run| run.state == "waiting").count();
    let below = html! {
        span #asking data-swap {
            (count(asking, "open question", "open questions"))
            @if quarantined > 0 { " · " (count(quarantined, "quarantined workflow", "quarantined workflows")) }
        }
    };
    let body = html! {
        (heading(html! { "Runs" }, below, html! { a.button href=(crate::paths::NEW_WORKFLOW) { "New workflow" } }))
        div #runs data-swap {
            @if let Some(unread) = unread { (unread.show()) }
            (damaged_rows("run", &damaged))
            @if runs.is_empty() {
                (empty("No runs yet", html! {
                    p { "Describe a task and let the gateway " a href=(crate::paths::NEW_WORKFLOW) { "plan a workflow" } ", or run a file with " code { "powerstrip workflows run FILE" } "." }
                    p { "A run groups calls. Name it in " code { "_meta.run_id" } " or the header " code { "Powerstrip-Run" } ", or send a batch to " code { "/v1/calls" } "." }
                }))
            } @else { ul.rows { @for run in &runs { (row(run, paused.get(&run.id), &viewer)) } } }
        }
    };
    Page { live: "runs", ..Page::new("Runs", Section::Runs, body) }.show(&viewer)
}

fn row(run: &RunSummary, paused: Option<&WorkflowSummary>, viewer: &Viewer) -> Markup {
    html! {
        li { a.row href=(run_page(&run.id)) {
            span.row-name { (short(run.name.as_deref().unwrap_or(&run.id), 60)) }
            span.row-more {
                @if let Some(agent) = &run.agent { (short(agent, 40)) " for " } (short(&run.owner, 40))
                " · " (count(usize::try_from(run.data_tools).unwrap_or(usize::MAX), "data tool", "data tools"))
                @if let Some(summary) = &run.summary { " · " (short(summary, 100)) }
            }
            span.row-end { @if let Some(paused) = paused { (workflow::state(paused, paused.waits_for())) } @else { (state(run)) } " " span.soft { (time::ago(run.touched_unix_ms, viewer.now_ms)) } }
        } }
    }
}

fn state(run: &RunSummary) -> Markup {
    match run.state.as_str() {
        "waiting" => mark(Tone::Doubtful, "waiting for an answer"),
        "completed" => mark(Tone::Good, "completed"),
        "failed" => mark(Tone::Bad, "failed"),
        "rejected" => mark(Tone::Bad, "rejected"),
        "aborted" => mark(Tone::Quiet, "aborted"),
        "expired" => mark(Tone::Quiet, "expired"),
        _ if run.kind == workflow::KIND => mark(Tone::Quiet, "running"),
        _ => mark(Tone::Quiet, "open"),
    }
}

async fn load(dashboard: &Dashboard, viewer: &Viewer, id: &str) -> Result<RunDetails, Response> {
    let run = dashboard.parts.strip.runs().show(viewer.tenant().as_deref(), id).await;
    run.map_err(|failure| viewer.cannot_show(failure))
}

pub(super) async fn one(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    Query(params): Query<Params>,
    viewer: Viewer,
) -> PageResult {
    viewer.require(scope::RUNS_READ)?;
    let run = load(&dashboard, &viewer, &id).await?;
    let workflow = workflow::load(&dashboard, &viewer, &run.run.kind, &run.run.id).await;
    let fault = workflow.as_ref().err().map(|error| error.message.clone());
    let workflow = workflow.ok().flatten();
    let research = match &workflow {
        Some(workflow) => research::show(&dashboard, &viewer, &run, workflow).await,
        None => None,
    };
    let workflow = workflow.as_ref();
    let research = research.as_ref();
    // A research lists its files itself.
    let artifacts = match research {
        Some(_) => html! {},
        None => research::artifacts(&dashboard, &viewer, &run.run.artifacts).await,
    };
    let shown = Shown { run: &run, workflow, fault, research, artifacts, params, refused: None };
    shown.show(&viewer, StatusCode::OK)
}

/// Answers a question of the run.
pub(super) async fn answer(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let viewer = &posted.viewer;
    viewer.require(scope::RUNS_ANSWER)?;
    let run = load(&dashboard, viewer, &id).await?;
    let slot = posted.text("slot");
    let Some(question) = run.questions.iter().find(|question| question.slot_id == slot) else {
        return Err(viewer.missing("The run has no such question."));
    };
    let value = question::value(question, &posted);
    let (tenant, by) = (viewer.tenant(), viewer.principal());
    let runs = dashboard.parts.strip.runs();
    match runs.answer(by, tenant.as_deref(), (&run.run.id, slot), &value).await {
        Ok(_) => Ok(see_other(&run_page(&run.run.id))),
        Err(failure) => {
            let refused = Refused {
                slot: slot.to_owned(),
                text: posted.text("answer").to_owned(),
                reason: failure.message,
            };
            let artifacts = research::artifacts(&dashboard, viewer, &run.run.artifacts).await;
            let shown = Shown {
                run: &run,
                workflow: None,
                fault: None,
                research: None,
                artifacts,
                params: Params::default(),
                refused: Some(&refused),
            };
            shown.show(viewer, StatusCode::UNPROCESSABLE_ENTITY)
        }
    }
}

/// What the page of a run shows.
struct Shown<'a> {
    run: &'a RunDetails,
    workflow: Option<&'a WorkflowDetails>,
    /// Why its workflow cannot be shown.
    fault: Option<String>,
    /// What a research run has made.
    research: Option<&'a Markup>,
    /// The files that it has stored.
    artifacts: Markup,
    params: Params,
    refused: Option<&'a Refused>,
}

impl Shown<'_> {
    fn show(&self, viewer: &Viewer, status: StatusCode) -> PageResult {
        let Self { run: details, workflow, fault, research, artifacts, params, refused } = self;
        let run = &details.run;
        let title = run.name.as_deref().unwrap_or(&run.id);
        let below = html! {
            span #state data-swap { @if let Some(details) = workflow { (workflow::state(&details.workflow, details.waits_for())) } @else { (state(run)) } } " · "
            @if let Some(agent) = &run.agent { (inert(agent)) " for " } (inert(&run.owner))
            " · started " (time::ago(run.created_unix_ms, viewer.now_ms)) ", last call " (time::ago(run.touched_unix_ms, viewer.now_ms))
        };
        let may_run_again = workflow.is_some() && viewer.may(scope::TOOLS_CALL);
        let is_research = workflow.is_some_and(research::is_research);
        let actions = html! {
            @if may_run_again && is_research { (research::again_link(&run.id)) }
            @else if may_run_again { a href=(format!("{}/again", run_page(&run.id))) { "Run again with changes" } }
            a href="/dashboard/runs" { "All runs" }
        };
        let version = details
            .questions
            .iter()
            .map(|question| question.state.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        // A report is printed without the calls that led to it.
        let behind = if research.is_some() { "screen-only" } else { "" };
        let body = html! {
            (heading(html! { (inert(title)) }, below, actions))
            @if let Some(refused) = refused { p.fault role="alert" { (message(&refused.reason)) } }
            @if let Some(fault) = fault { p.fault role="alert" { "The workflow of this run cannot be shown: " (message(fault)) } }
            @if let Some(workflow) = workflow { (workflow::head(workflow, params, *research, viewer)) }
            @if let Some(summary) = &run.summary { blockquote { (inert(summary)) } }
            div #questions data-swap data-version=(version) {
                @for open in &details.questions { (question::show(open, *refused, &run_page(&run.id), viewer)) }
            }
            div #artifacts data-swap { (artifacts) }
            div class=(behind) {
                @if let Some(workflow) = workflow { (workflow::show(workflow, &params.task, viewer)) }
                h2 { "Calls" }
                div #calls data-swap {
                    @if details.calls.is_empty() { p.soft { "No call has ended yet." } }
                    @else {
                        @if workflow.is_none() { (graph::draw(&details.calls)) }
                        (calls(&details.calls, viewer))
                    }
                }
                p.soft { "Kind: " (inert(&run.kind)) " · id " code { (inert(&run.id)) } }
            }
        };
        // A workflow pauses and goes on without a change of its run.
        let goes_on = workflow.is_some_and(|details| details.workflow.state != "ended");
        let poll = if goes_on { WORKFLOW_POLL } else { 0 };
        // A printed report has its own title.
        let page_title = if research.is_some() { title } else { "Run" };
        let page = Page::new(page_title, Section::Runs, body);
        // What ended research has made stays the same, and reading it again would add to the audit trail.
        let live = if research.is_some() && !goes_on { "" } else { "runs" };
        Page { live, poll, ..page }.show_as(viewer, status)
    }
}

fn calls(calls: &[RunCall], viewer: &Viewer) -> Markup {
    html! {
        div.table { table {
            thead { tr { th scope="col" { "Tool" } th scope="col" { "Outcome" } th.number scope="col" { "Took" } th.number scope="col" { "When" } } }
            tbody { @for call in calls { tr {
                td { a href=(format!("/dashboard/calls/{}", call.trace_id)) { code { (short(&call.tool, 60)) } } }
                td { (outcome(&call.outcome)) }
                td.number { (time::span(call.ended_unix_ms.saturating_sub(call.started_unix_ms).saturating_mul(1_000))) }
                td.number { (time::ago(call.started_unix_ms, viewer.now_ms)) }
            } } }
        } }
    }
}
