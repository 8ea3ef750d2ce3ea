//! Runs: which there are, what each has called, drawn in layers, and what it asks people.

mod graph;
mod question;

use auth::scope;
use axum::extract::{Path, State};
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use strip::runs::{RunFilter, Shown};

use crate::layout::{Page, Room, heading, trouble};
use crate::posted::{Posted, see_other};
use crate::state::Dashboard;
use crate::time;
use crate::viewer::Viewer;
use crate::words::{Tone, count, empty, in_url, inert, mark, outcome, short};

/// How many runs are listed.
const MAX_RUNS: u32 = 100;

/// A run with its calls and questions, as the strip shows it.
#[derive(Deserialize)]
struct Whole {
    id: String,
    name: Option<String>,
    kind: String,
    state: String,
    owner: String,
    agent: Option<String>,
    summary: Option<String>,
    artifacts: Vec<String>,
    created_unix_ms: u64,
    touched_unix_ms: u64,
    questions: Vec<Question>,
    calls: Vec<CallOf>,
}

/// A question of a run to a person.
#[derive(Deserialize)]
struct Question {
    slot_id: String,
    slot_type: String,
    prompt: String,
    options: Vec<String>,
    state: String,
    value: Option<Value>,
    answered_by: Option<String>,
    asked_unix_ms: u64,
}

/// A call of a run.
#[derive(Deserialize)]
struct CallOf {
    trace_id: String,
    tool: String,
    started_unix_ms: u64,
    ended_unix_ms: u64,
    outcome: String,
    made: Vec<String>,
    used: Vec<String>,
}

fn place(id: &str) -> String {
    format!("/dashboard/runs/{}", in_url(id))
}

/// How many runs wait for an answer.
pub(super) async fn asking(board: &Dashboard, viewer: &Viewer) -> usize {
    if !viewer.may(scope::RUNS_READ) {
        return 0;
    }
    let state = Some("waiting".to_owned());
    let filter = RunFilter { tenant: viewer.tenant(), state, limit: Some(MAX_RUNS), offset: 0 };
    board.parts.strip.runs().list(&filter).await.map_or(0, |runs| runs.len())
}

pub(super) async fn page(State(board): State<Dashboard>, viewer: Viewer) -> Response {
    if !viewer.may(scope::RUNS_READ) {
        return viewer.refused(scope::RUNS_READ);
    }
    let filter =
        RunFilter { tenant: viewer.tenant(), state: None, limit: Some(MAX_RUNS), offset: 0 };
    let runs = match board.parts.strip.runs().list(&filter).await {
        Ok(runs) => runs,
        Err(failure) => {
            return trouble(
                &viewer,
                StatusCode::SERVICE_UNAVAILABLE,
                "Not listed",
                &failure.message,
            );
        }
    };
    let asking = runs.iter().filter(|run| run.state == "waiting").count();
    let below =
        html! { span #asking data-swap { (count(asking, "run asks", "runs ask")) " a person" } };
    let body = html! {
        (heading(html! { "Runs" }, below, html! {}))
        div #runs data-swap {
            @if runs.is_empty() {
                (empty("No runs yet", html! {
                    p { "Calls that belong together are a run: name it by " code { "_meta.run_id" } ", by the header " code { "Powerstrip-Run" } ", or send them as a batch to " code { "/v1/calls" } "." }
                }))
            } @else { ul.rows { @for run in &runs { (row(run, &viewer)) } } }
        }
    };
    Page { live: "runs", ..Page::new("Runs", Room::Runs, body) }.show(&viewer)
}

fn row(run: &Shown, viewer: &Viewer) -> Markup {
    html! {
        li { a.row href=(place(&run.id)) {
            span.row-name { (short(run.name.as_deref().unwrap_or(&run.id), 60)) }
            span.row-more {
                @if let Some(agent) = &run.agent { (short(agent, 40)) " for " } (short(&run.owner, 40))
                " · " (count(usize::try_from(run.data_tools).unwrap_or(usize::MAX), "data tool", "data tools"))
                @if let Some(summary) = &run.summary { " · " (short(summary, 100)) }
            }
            span.row-end { (state(&run.state)) " " span.soft { (time::ago(run.touched_unix_ms, viewer.now_ms)) } }
        } }
    }
}

fn state(word: &str) -> Markup {
    match word {
        "waiting" => mark(Tone::Doubtful, "asks a person"),
        "completed" => mark(Tone::Good, "completed"),
        "expired" => mark(Tone::Quiet, "over"),
        _ => mark(Tone::Quiet, "open"),
    }
}

async fn whole(board: &Dashboard, viewer: &Viewer, id: &str) -> Result<Whole, Response> {
    let shown = board.parts.strip.runs().show(viewer.tenant().as_deref(), id).await;
    let shown = shown.map_err(|failure| viewer.missing(&failure.message))?;
    serde_json::from_value(shown).map_err(|error| {
        tracing::error!(%error, "a run is told in another form than pages know");
        viewer.missing("The run cannot be shown.")
    })
}

pub(super) async fn one(
    State(board): State<Dashboard>,
    Path(id): Path<String>,
    viewer: Viewer,
) -> Response {
    if !viewer.may(scope::RUNS_READ) {
        return viewer.refused(scope::RUNS_READ);
    }
    match whole(&board, &viewer, &id).await {
        Ok(run) => show(&viewer, &run, None, StatusCode::OK),
        Err(refusal) => refusal,
    }
}

/// Answers a question of the run.
pub(super) async fn answer(
    State(board): State<Dashboard>,
    Path(id): Path<String>,
    posted: Posted,
) -> Response {
    let viewer = &posted.viewer;
    if !viewer.may(scope::RUNS_ANSWER) {
        return viewer.refused(scope::RUNS_ANSWER);
    }
    let run = match whole(&board, viewer, &id).await {
        Ok(run) => run,
        Err(refusal) => return refusal,
    };
    let slot = posted.text("slot");
    let Some(question) = run.questions.iter().find(|question| question.slot_id == slot) else {
        return viewer.missing("The run does not ask that.");
    };
    let value = question::value(question, &posted);
    let (tenant, by) = (viewer.tenant(), viewer.principal());
    let runs = board.parts.strip.runs();
    match runs.answer(by, tenant.as_deref(), (&run.id, slot), &value).await {
        Ok(_) => see_other(&place(&run.id)),
        Err(failure) => {
            show(viewer, &run, Some(&failure.message), StatusCode::UNPROCESSABLE_ENTITY)
        }
    }
}

fn show(viewer: &Viewer, run: &Whole, fault: Option<&str>, status: StatusCode) -> Response {
    let title = run.name.as_deref().unwrap_or(&run.id);
    let below = html! {
        span #state data-swap { (state(&run.state)) } " · "
        @if let Some(agent) = &run.agent { (inert(agent)) " for " } (inert(&run.owner))
        " · began " (time::ago(run.created_unix_ms, viewer.now_ms)) ", last call " (time::ago(run.touched_unix_ms, viewer.now_ms))
    };
    let version =
        run.questions.iter().map(|question| question.state.as_str()).collect::<Vec<_>>().join(" ");
    let body = html! {
        (heading(html! { (inert(title)) }, below, html! { a href="/dashboard/runs" { "All runs" } }))
        @if let Some(fault) = fault { p.fault role="alert" { (inert(fault)) } }
        @if let Some(summary) = &run.summary { blockquote { (inert(summary)) } }
        div #questions data-swap data-version=(version) {
            @for asked in &run.questions { (question::show(asked, &place(&run.id), viewer)) }
        }
        h2 { "Calls" }
        div #calls data-swap {
            @if run.calls.is_empty() { p.soft { "None has ended yet." } }
            @else {
                (graph::draw(&run.calls))
                (calls(&run.calls, viewer))
            }
        }
        @if !run.artifacts.is_empty() {
            h2 { "Artifacts" }
            ul.rows { @for id in &run.artifacts { li { a.row href=(format!("/dashboard/files/{}", in_url(id))) { code { (inert(id)) } } } } }
        }
        p.soft { "Kind: " (inert(&run.kind)) " · id " code { (inert(&run.id)) } }
    };
    Page { live: "runs", ..Page::new("Run", Room::Runs, body) }.show_as(viewer, status)
}

fn calls(calls: &[CallOf], viewer: &Viewer) -> Markup {
    html! {
        div.table { table {
            thead { tr { th scope="col" { "Tool" } th scope="col" { "Outcome" } th.number scope="col" { "Took" } th.number scope="col" { "When" } } }
            tbody { @for call in calls { tr {
                td { a href=(format!("/dashboard/calls/{}", in_url(&call.trace_id))) { code { (short(&call.tool, 60)) } } }
                td { (outcome(&call.outcome)) }
                td.number { (time::span(call.ended_unix_ms.saturating_sub(call.started_unix_ms).saturating_mul(1_000))) }
                td.number { (time::ago(call.started_unix_ms, viewer.now_ms)) }
            } } }
        } }
    }
}
