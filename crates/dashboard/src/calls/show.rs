//! The calls of one trace: when they ran, why they failed, and a way to try them again.

use auth::scope;
use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use operations::calls::{CallRecord, CallSummary, CallTrace};
use proto::Code;
use serde_json::Value;

use super::log::{self, CallLog};
use super::table::{caller, message};
use crate::layout::{Page, PageResult, Section, heading};
use crate::snippet::snippet;
use crate::state::Dashboard;
use crate::unreadable::damaged_calls;
use crate::viewer::Viewer;
use crate::words::{blame, inert, json, outcome, short, tool_page};
use crate::{chart, curl, time, tries, words};

pub(crate) async fn page(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    viewer: Viewer,
) -> PageResult {
    viewer.require(scope::TOOLS_READ)?;
    let none =
        "This trace does not exist or is not yours. A call is listed shortly after it has ended.";
    let (console, caller) = (&dashboard.parts.console, viewer.caller());
    let found = console.call(&caller, CallTrace { trace: id.clone() }).await;
    let (calls, damaged) = match found {
        Ok(details) if !details.calls.is_empty() => (details.calls, details.damaged),
        Err(error) if error.code != Code::NotFound => {
            return Err(viewer.failed("Not available", &error));
        }
        _ => return Err(viewer.missing(none)),
    };
    let summaries: Vec<CallSummary> = calls.iter().map(|call| call.summary.clone()).collect();
    let mut logs = Vec::with_capacity(summaries.len());
    for summary in &summaries {
        logs.push(log::read(&dashboard, &viewer, summary).await);
    }
    let title = short(&summaries[0].tool, 80);
    let below = html! { (outcome(&summaries[0].outcome())) " · trace " code { (inert(&id)) } };
    let body = html! {
        (heading(html! { code { (title) } }, below, html! { a href="/dashboard/calls" { "All calls" } }))
        (damaged_calls(&damaged))
        @for (call, log) in calls.iter().zip(&logs) { (failure(&viewer, call, log.as_ref())) }
        (chart::timeline(&summaries))
        @for call in &calls { (facts(&dashboard, call, &viewer)) }
    };
    Page::new("Call", Section::Calls, body).show(&viewer)
}

/// Why a call failed, what its server wrote meanwhile, and a link to try it again.
fn failure(viewer: &Viewer, call: &CallRecord, log: Option<&CallLog>) -> Markup {
    let summary = &call.summary;
    if summary.is_ok() {
        return html! {};
    }
    html! {
        div.fault.cause role="alert" {
            p { strong { (inert(&summary.code)) } @if let Some(by) = &summary.blame { " · " (blame(by)) } }
            @if let Some(text) = message(summary, viewer) { p.prose { (words::message(&text)) } }
            @else if !viewer.may(scope::AUDIT_READ) { p { "You need the scope " code { (scope::AUDIT_READ) } " to read its message." } }
        }
        @if let Some(log) = log { (log.show(summary.number)) }
    }
}

fn facts(dashboard: &Dashboard, call: &CallRecord, viewer: &Viewer) -> Markup {
    let summary = &call.summary;
    html! {
        dl.facts {
            div { dt { @if summary.is_call() { "Tool" } @else { "What" } } dd { (tool_name(summary)) " " span.soft { (inert(&summary.version)) } } }
            div { dt { "Outcome" } dd { (outcome(&summary.outcome())) @if let Some(by) = &summary.blame { span.soft { " · " (blame(by)) } } } }
            div { dt { "Decision" } dd { (inert(&summary.decision)) } }
            div { dt { "Caller" } dd { (caller(summary, viewer)) } }
            div { dt { "Door" } dd { (inert(&summary.door)) } }
            div { dt { "Started" } dd { (time::ago(summary.at_unix_ms, viewer.now_ms)) " · " (time::exact(summary.at_unix_ms)) } }
            div { dt { "Took" } dd { (time::span(summary.duration_us)) } }
            div { dt { "Arguments" } dd { code.digest title="SHA-256 of the canonical arguments" { (inert(&call.arguments_digest)) } } }
            @if let Some(definition) = &call.definition_digest {
                div { dt { "Definition" } dd { code.digest title="SHA-256 of the tool's definition" { (inert(definition)) } } }
            }
        }
        @if summary.is_call() { (content(dashboard, call, viewer)) }
    }
}

/// The tool with a link to its page. A secret or key that was changed has none.
fn tool_name(summary: &CallSummary) -> Markup {
    let name = html! { code { (inert(&summary.tool)) } };
    html! { @if summary.is_call() { a href=(tool_page(&summary.tool)) { (name) } } @else { (name) } }
}

/// The stored arguments and result, and the link to try the call again.
fn content(dashboard: &Dashboard, call: &CallRecord, viewer: &Viewer) -> Markup {
    let summary = &call.summary;
    let (trace, number) = (summary.trace_id.to_string(), summary.number);
    let stored = call.arguments.as_ref().filter(|_| viewer.may(scope::AUDIT_READ));
    let own = tries::input(dashboard, &trace, viewer);
    let input = own.as_deref().or(stored.filter(|input| input.is_object()));
    let result = call.result.as_ref().filter(|_| viewer.may(scope::AUDIT_READ));
    let needs_key = dashboard.parts.access.is_guarded();
    html! {
        @if let Some(input) = input {
            div.buttons {
                @if viewer.may(scope::TOOLS_CALL) {
                    a.button.primary href=(format!("{}?again={trace}", tool_page(&summary.tool))) { "Try again with this input" }
                }
            }
            details.block open {
                summary { "Input" }
                (snippet(&format!("input-{number}"), &json(input), "the input"))
                @if own.is_none() { p.hint { "Secrets are masked: replace them before you try again." } }
            }
            details.block {
                summary { "As curl" }
                (snippet(&format!("curl-{number}"), &curl::command(&viewer.base_url, &summary.tool, input, needs_key), "the curl command"))
            }
        } @else if let Some(part) = stored {
            details.block open {
                summary { "Input (too long to be stored whole)" }
                (snippet(&format!("input-{number}"), &shown(part), "the input"))
            }
        } @else {
            p.hint.after {
                "The input of this call is not stored. To keep the inputs and results of calls, with secrets masked, set "
                code { "audit: { payloads: redacted }" } " in the config."
            }
        }
        @if let Some(result) = result {
            details.block {
                summary { "Result" @if call.truncated { " (shortened)" } }
                (snippet(&format!("result-{number}"), &shown(result), "the result"))
            }
        }
    }
}

/// Stored content: JSON, or the beginning of it as text.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => inert(text),
        value => json(value),
    }
}

/// The stored input of a call of this tool, for the form that tries it again.
pub(crate) async fn stored_input(
    dashboard: &Dashboard,
    viewer: &Viewer,
    tool: &str,
    trace: &str,
) -> Result<Option<Value>, Response> {
    if trace.is_empty() || !viewer.may(scope::AUDIT_READ) {
        return Ok(None);
    }
    let input = CallTrace { trace: trace.to_owned() };
    let details = match dashboard.parts.console.call(&viewer.caller(), input).await {
        Ok(details) => details,
        Err(error) if error.code == Code::NotFound => return Ok(None),
        Err(error) => return Err(viewer.failed("Not available", &error)),
    };
    let mut calls = details.calls.into_iter().filter(|call| call.summary.tool == tool);
    Ok(calls.find_map(|call| call.arguments).filter(Value::is_object))
}
