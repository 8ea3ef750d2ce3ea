//! The page of one server.

use auth::scope;
use axum::extract::{Path, Query, State};
use maud::{Markup, html};
use operations::calls::{CallQuery, CallSummary};
use operations::servers::{ServerDetail, ServerName, ServerSummary, ServerSwitch, lacks_program};
use serde::Deserialize;

use super::state::{advice, server_page, state_mark};
use crate::calls::{Shown, table};
use crate::confirm::ConfirmForm;
use crate::layout::{Page, PageResult, Section, csrf, heading};
use crate::log::log_lines;
use crate::snippet::copy_button;
use crate::state::Dashboard;
use crate::time;
use crate::viewer::Viewer;
use crate::words::{Tone, count, in_url, inert, mark, message, short, tool_page};

/// How many of its failed calls are listed.
const FAILED_CALLS: u32 = 5;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// The change that was just made.
    did: String,
}

pub(crate) async fn page(
    State(dashboard): State<Dashboard>,
    Path(name): Path<String>,
    Query(params): Query<Params>,
    viewer: Viewer,
) -> PageResult {
    viewer.require(scope::METRICS_READ)?;
    let (console, caller) = (&dashboard.parts.console, viewer.caller());
    let server = match console.server(&caller, ServerName { name: name.clone() }).await {
        Ok(server) => server,
        Err(error) => return Err(viewer.unavailable(&error)),
    };
    let query = CallQuery {
        server: Some(name.clone()),
        code: Some("failed".to_owned()),
        limit: Some(FAILED_CALLS),
        ..CallQuery::default()
    };
    let failed = if viewer.may(scope::TOOLS_READ) {
        console.calls(&caller, query).await.map(|page| page.calls)
    } else {
        Ok(Vec::new())
    };
    let summary = &server.summary;
    let below = html! { span #server-state data-swap { (state_mark(summary.state)) " · " (described(summary)) } };
    let actions = html! { div.actions #server-actions data-swap { (switches(&viewer, summary)) } };
    let body = html! {
        (heading(html! { (inert(&name)) }, below, actions))
        @if let Some(text) = done(&params.did) { p.notice role="status" { (text) } }
        div #server-problem data-swap { (problem(summary, &viewer)) }
        div.figures #server-figures data-swap { (figures(&server)) }
        (log(&server))
        @match &failed {
            Ok(failed) if failed.is_empty() => {},
            Ok(failed) => (failures(failed, &viewer, &name)),
            Err(error) => { h2 { "Failed calls" } p.fault role="alert" { (message(&error.message)) } },
        }
        div #server-parts data-swap { (processes(&server, &viewer)) (replicas(summary)) }
        div #server-tools data-swap { (tools(&server)) }
    };
    Page { poll: 3, live: "catalog", ..Page::new(&name, Section::Servers, body) }.show(&viewer)
}

fn done(did: &str) -> Option<String> {
    match ServerSwitch::named(did) {
        Some(switch) => Some(switch.notice()),
        None if did == "add" => {
            Some("The server was added to the config file and is being started.".to_owned())
        }
        None => None,
    }
}

fn described(server: &ServerSummary) -> Markup {
    let text = |key: &str| server.server.as_ref().and_then(|info| info[key].as_str());
    html! {
        (inert(&server.kind))
        @if let Some(era) = &server.era { " · " (inert(era)) " protocol" }
        @if let Some(name) = text("name") { " · " (short(name, 60)) }
        @if let Some(version) = text("version") { " " (short(version, 30)) }
    }
}

/// The buttons of an operator.
fn switches(viewer: &Viewer, server: &ServerSummary) -> Markup {
    let (page, is_off) = (server_page(&server.name), server.state.ended_by().is_some());
    let fitting: Vec<_> = ServerSwitch::ALL.iter().filter(|switch| switch.fits(server)).collect();
    html! {
        @if viewer.may(scope::ADMIN) {
            form.switches method="post" action=(page) {
                (csrf(viewer))
                @for switch in fitting.iter().filter(|switch| switch.question().is_none()) {
                    button.primary[is_off] type="submit" name="do" value=(switch.as_str()) { (switch.label()) }
                }
            }
            @for switch in &fitting {
                @if let Some(question) = switch.question() {
                    (ConfirmForm { label: switch.label(), question, action: &page, fields: &[("do", switch.as_str())] }.show(viewer))
                }
            }
        } @else { span.soft { "Only an operator can restart it." } }
    }
}

fn problem(server: &ServerSummary, viewer: &Viewer) -> Markup {
    let broken = server.state.is_broken() || server.reason.is_some();
    let text = server.reason.as_ref().or(server.last_error.as_ref().filter(|_| broken));
    html! {
        @if let Some(text) = text.filter(|_| broken && !server.disabled) {
            div.fault role="alert" {
                p.prose { (message(text)) }
                @if let Some(at) = server.last_error_unix_ms { p.small { (time::ago(at, viewer.now_ms)) @if let Some(wait) = server.retry_in_ms { " · next try in " (time::span(wait.saturating_mul(1_000))) } } }
            }
        } @else if let Some(error) = &server.last_error {
            p.soft { "Last error" @if let Some(at) = server.last_error_unix_ms { " (" (time::ago(at, viewer.now_ms)) ")" } ": " (message(error)) }
        }
        p.hint { (advice(server)) }
    }
}

fn figures(server: &ServerDetail) -> Markup {
    let (summary, calls) = (&server.summary, &server.calls);
    let ms = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), time::ms);
    html! {
        dl.stats {
            div { dt { "Calls (1 h)" } dd { (calls.count) } }
            div { dt { "Failed" } dd class=[(calls.errors > 0).then_some("bad")] { (calls.errors) } }
            div { dt { "p50" } dd { (ms(calls.p50_ms)) } }
            div { dt { "p95" } dd { (ms(calls.p95_ms)) } }
            div { dt { @if lacks_program(summary) { "Failed starts" } @else { "Restarts" } } dd class=[(summary.restarts > 0).then_some("warn")] { (summary.restarts) } }
            div { dt { "Processes" } dd { (server.processes.len()) } }
            div { dt { "Sessions" } dd { (summary.sessions) } }
            div { dt { "Tools" } dd { (summary.tools) } }
        }
    }
}

/// What its processes wrote, with the notes of the gateway between.
fn log(server: &ServerDetail) -> Markup {
    let lines = &server.stderr;
    let title = if server.summary.transport == "stdio" { "Standard error" } else { "Log" };
    html! {
        div.section-head { h2 #log-title { (title) } @if !lines.is_empty() { (copy_button("log", "the log")) } }
        @if lines.is_empty() {
            p.soft #log data-swap { "Nothing has been written yet." }
        } @else {
            pre.code.log #log data-swap data-tail tabindex="0" role="log" aria-labelledby="log-title" { (log_lines(lines)) }
        }
    }
}

fn failures(failed: &[CallSummary], viewer: &Viewer, name: &str) -> Markup {
    html! {
        div.section-head {
            h2 { "Failed calls" }
            a href=(format!("/dashboard/calls?server={}&outcome=failed", in_url(name))) { "All failed calls" }
        }
        div #server-failures data-swap { (table(failed, viewer, Shown::Plain)) }
    }
}

fn processes(server: &ServerDetail, viewer: &Viewer) -> Markup {
    html! {
        @if !server.processes.is_empty() {
            h2 { "Processes" }
            dl.facts {
                @for process in &server.processes {
                    div { dt { "pid " (process.pid) } dd { "started " (time::ago(process.started_unix_ms, viewer.now_ms)) } }
                }
            }
        }
    }
}

fn replicas(server: &ServerSummary) -> Markup {
    html! {
        @if !server.replicas.is_empty() {
            h2 { "Addresses" }
            ul.rows {
                @for replica in &server.replicas {
                    li { div.row {
                        span.row-name { code { (inert(&replica.url)) } }
                        span.row-more {
                            (count(replica.outstanding, "call", "calls")) " under way"
                            @if let Some(error) = replica.last_error.as_ref().filter(|_| !replica.admitted) { " · " (short(error, 140)) }
                        }
                        @if replica.admitted { (mark(Tone::Good, "in use")) } @else { (mark(Tone::Bad, "not in use")) }
                    } }
                }
            }
        }
    }
}

fn tools(server: &ServerDetail) -> Markup {
    let summary = &server.summary;
    html! {
        h2 { "Tools" }
        @if server.offered.is_empty() && summary.quarantined.is_empty() && summary.faults.is_empty() {
            p.soft { "No tools are offered." }
        } @else {
            ul.rows {
                @for held in &summary.quarantined {
                    li { a.row href=(tool_page(&held.tool)) {
                        span.row-name { code { (inert(&held.tool)) } }
                        span.row-more { (short(&held.reason, 140)) }
                        (mark(Tone::Doubtful, "in quarantine"))
                    } }
                }
                @for fault in &summary.faults {
                    li { div.row {
                        span.row-name { code { (inert(&fault.tool)) } }
                        span.row-more { (short(&fault.reason, 140)) }
                        (mark(Tone::Bad, "not served"))
                    } }
                }
                @for tool in &server.offered {
                    li { a.row href=(tool_page(&tool.id)) {
                        span.row-name { code { (inert(&tool.id)) } }
                        span.row-more { (message(&short(&tool.description, 140))) }
                    } }
                }
            }
        }
    }
}
