//! One tool: its description, its rules, and a form to try it.

use std::borrow::Cow;
use std::sync::Arc;

use auth::scope;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use proto::Annotations;
use proto::diff::Change;
use serde::Deserialize;
use serde_json::Value;
use strip::agents::ApprovalRule;
use strip::catalog::Entry;

use crate::diff::changed_parts;
use crate::form::{Draft, Faults, Form};
use crate::layout::{Page, PageResult, Section, csrf, error_page, heading};
use crate::posted::{PostedForm, see_other};
use crate::research;
use crate::service::QuarantinedTool;
use crate::snippet::snippet;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::{in_url, inert, json, message, size, tool_page};
use crate::{calls, curl, time, tries};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    /// The trace of an earlier call whose input fills the form.
    again: String,
    /// A research run whose input fills the form.
    run: String,
}

pub(super) async fn page(
    State(dashboard): State<Dashboard>,
    Path(name): Path<String>,
    Query(params): Query<Params>,
    viewer: Viewer,
) -> PageResult {
    viewer.require(scope::TOOLS_READ)?;
    let entry = match resolve(&dashboard, &viewer, &name) {
        Ok(entry) => entry,
        Err(message) => return absent(&dashboard, &viewer, &name, &message).await,
    };
    let form = Form::of(&entry.descriptor.input_schema);
    let earlier = match earlier_input(&dashboard, &viewer, &entry, &params.again).await? {
        Some(input) => Some(input),
        None => {
            research::input_of_run(&dashboard, &viewer, &name, &params.run).await?.map(Arc::new)
        }
    };
    let draft = match earlier {
        Some(input) => Draft::of_value(&form, &input),
        None => Draft::fresh(&form),
    };
    show(&dashboard, &viewer, &entry, &form, &Attempt::of(&draft))
}

/// The input of an earlier try of this session, or of a call whose input is stored.
async fn earlier_input(
    dashboard: &Dashboard,
    viewer: &Viewer,
    entry: &Entry,
    trace: &str,
) -> Result<Option<Arc<Value>>, Response> {
    if let Some(input) = tries::input(dashboard, trace, viewer) {
        return Ok(Some(input));
    }
    let tool = entry.descriptor.id.as_str();
    Ok(calls::stored_input(dashboard, viewer, tool, trace).await?.map(Arc::new))
}

/// What was entered into the form, and what is wrong with it.
struct Attempt<'a> {
    draft: &'a Draft,
    faults: Cow<'a, Faults>,
    /// Whether the call is shown as a `curl` command.
    as_curl: bool,
}

impl<'a> Attempt<'a> {
    fn of(draft: &'a Draft) -> Self {
        Self { draft, faults: Cow::Owned(Faults::default()), as_curl: false }
    }

    fn faulty(draft: &'a Draft, faults: &'a Faults) -> Self {
        Self { draft, faults: Cow::Borrowed(faults), as_curl: false }
    }

    fn status(&self) -> StatusCode {
        if self.faults.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY }
    }
}

fn resolve(dashboard: &Dashboard, viewer: &Viewer, name: &str) -> Result<Arc<Entry>, String> {
    let view = dashboard.parts.strip.view(viewer.principal());
    view.tools().resolve(name).map(Arc::clone).map_err(|failure| failure.message)
}

/// A tool that is not served: it is in quarantine, or does not exist.
async fn absent(dashboard: &Dashboard, viewer: &Viewer, name: &str, message: &str) -> PageResult {
    let snapshot = dashboard.parts.strip.catalog().snapshot();
    let (Some(held), Some(service)) = (snapshot.waiting(name), &dashboard.parts.service) else {
        return Err(viewer.missing(message));
    };
    let id = held.id.to_string();
    let quarantined = service.quarantined(&id).await;
    let below = html! { "In quarantine: " (inert(&held.reason())) };
    let body = html! {
        (heading(html! { code { (inert(&id)) } }, below, html! {}))
        @match &quarantined {
            Ok(tool) => {
                (differences(&tool.changes, tool.left_out))
                @if viewer.is_operator() { (trust_form(viewer, &id, tool)) }
                @else { p.soft { "Only an operator of this gateway can trust it." } }
            }
            Err(why) => p.fault { (inert(why)) },
        }
    };
    Page { live: "catalog", ..Page::new(&id, Section::Catalog, body) }.show(viewer)
}

fn trust_form(viewer: &Viewer, id: &str, tool: &QuarantinedTool) -> Markup {
    html! {
        form.decide method="post" action="/dashboard/trust" {
            (csrf(viewer))
            input type="hidden" name="tool" value=(id);
            input type="hidden" name="definition" value=(tool.definition);
            p { "Trust this definition of the tool. If it changes again, it returns to quarantine." }
            button.primary type="submit" { "Trust this definition" }
        }
    }
}

/// The changed parts of a tool's definition, with invisible characters shown.
fn differences(changes: &[Change], left_out: usize) -> Markup {
    html! {
        h2 { "Changes" }
        @if changes.is_empty() { p.soft { "No changes: the tool is new." } }
        (changed_parts(changes, left_out))
    }
}

pub(super) async fn trust(State(dashboard): State<Dashboard>, posted: PostedForm) -> PageResult {
    let viewer = &posted.viewer;
    viewer.require(scope::ADMIN)?;
    let Some(service) = &dashboard.parts.service else {
        return Err(viewer.missing("This gateway has no quarantine."));
    };
    let (tool, definition) = (posted.text("tool"), posted.text("definition"));
    match service.trust(tool, definition).await {
        Ok(()) => Ok(see_other(&tool_page(tool))),
        Err(why) => Err(error_page(viewer, StatusCode::CONFLICT, "Trust failed", &why)),
    }
}

/// Handles the form: runs the call, or changes the form itself.
pub(super) async fn attempt(
    State(dashboard): State<Dashboard>,
    Path(name): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let viewer = &posted.viewer;
    viewer.require(scope::TOOLS_CALL)?;
    let entry = match resolve(&dashboard, viewer, &name) {
        Ok(entry) => entry,
        Err(message) => return Err(viewer.missing(&message)),
    };
    let form = Form::of(&entry.descriptor.input_schema);
    let mut draft = Draft::of_fields(posted.fields());
    let action = posted.text("do");
    let again = |attempt: &Attempt<'_>| show(&dashboard, viewer, &entry, &form, attempt);
    if draft.change(&form, action) {
        return again(&Attempt::of(&draft));
    }
    let (value, mut faults) = draft.value(&form);
    let value = match action {
        "raw" | "form" | "curl" => {
            // Text that cannot be parsed stays as it was typed.
            if faults.is_unreadable() {
                return again(&Attempt::faulty(&draft, &faults));
            }
            let changed = match action {
                "raw" => Draft::raw(&value.unwrap_or_default()),
                "form" => Draft::of_value(&form, &value.unwrap_or_default()),
                _ => draft,
            };
            return again(&Attempt { as_curl: action == "curl", ..Attempt::of(&changed) });
        }
        _ => value,
    };
    let Some(value) = value.filter(|_| !faults.is_unreadable()) else {
        return again(&Attempt::faulty(&draft, &faults));
    };
    faults.add_violations(entry.input.violations(&value));
    if !faults.is_empty() {
        return again(&Attempt::faulty(&draft, &faults));
    }
    Ok(tries::begin(&dashboard, viewer, entry.descriptor.id.as_str(), value).await)
}

fn show(
    dashboard: &Dashboard,
    viewer: &Viewer,
    entry: &Entry,
    form: &Form<'_>,
    attempt: &Attempt<'_>,
) -> PageResult {
    let descriptor = &entry.descriptor;
    let id = descriptor.id.as_str();
    let below = html! {
        @if let Some(title) = &descriptor.title { (inert(title)) " · " }
        "version " (descriptor.version)
        @if let Some(major) = entry.superseded_by { " · replaced by major " (major) }
    };
    let body = html! {
        (heading(html! { code { (inert(id)) } }, below, html! { a href=(format!("/dashboard/calls?tool={}", in_url(id))) { "Calls" } a href="/dashboard/catalog" { "All tools" } }))
        p.prose { (message(&descriptor.description)) }
        div.columns {
            section aria-labelledby="try-it" {
                h2 #try-it { "Try it" }
                @if viewer.may(scope::TOOLS_CALL) {
                    (try_form(dashboard, viewer, entry, form, attempt))
                } @else {
                    p.soft { "You need the scope " code { (scope::TOOLS_CALL) } "." }
                }
            }
            section aria-labelledby="about" {
                h2 #about { "About" }
                (about(dashboard, entry))
            }
        }
        details.block {
            summary { "Input schema" }
            (snippet("input-schema", &json(&descriptor.input_schema), "the input schema"))
        }
        @if let Some(output) = &descriptor.output_schema {
            details.block { summary { "Output schema" } (snippet("output-schema", &json(output), "the output schema")) }
        }
    };
    Page::new(id, Section::Catalog, body).show_as(viewer, attempt.status())
}

fn try_form(
    dashboard: &Dashboard,
    viewer: &Viewer,
    entry: &Entry,
    form: &Form<'_>,
    Attempt { draft, faults, as_curl }: &Attempt<'_>,
) -> Markup {
    let id = entry.descriptor.id.as_str();
    let rule = dashboard.parts.strip.approval_rule(&entry.descriptor.id);
    html! {
        form.try #try data-swap method="post" action=(tool_page(id)) {
            (csrf(viewer))
            // Enter presses the first button of a form.
            button.hidden type="submit" name="do" value="run" tabindex="-1" aria-hidden="true" { "Run" }
            @if !faults.is_empty() {
                div.fault role="alert" {
                    p { "The input does not match the schema:" }
                    ul { @for text in faults.lines() { li { (text) } } }
                }
            }
            (form.show(draft, faults))
            @if let ApprovalRule::Asked { timeout } = rule {
                p.hint { "This call needs approval within " (time::uptime(timeout.as_secs())) "." }
            }
            div.buttons {
                button.primary type="submit" name="do" value="run" { "Run" }
                @if draft.is_raw() {
                    button type="submit" name="do" value="form" formnovalidate data-soft { "Edit as form" }
                } @else {
                    button type="submit" name="do" value="raw" formnovalidate data-soft { "Edit as JSON" }
                }
                button type="submit" name="do" value="curl" formnovalidate data-soft { "As curl" }
            }
            @if *as_curl {
                @let input = draft.value(form).0.unwrap_or_default();
                (snippet("curl", &curl::command(&viewer.base_url, id, &input, dashboard.parts.access.is_guarded()), "the curl command"))
            }
        }
    }
}

fn about(dashboard: &Dashboard, entry: &Entry) -> Markup {
    let descriptor = &entry.descriptor;
    let profiles = dashboard.parts.strip.agents();
    let skills: Vec<_> =
        profiles.skills.iter().filter(|(_, skill)| skill.holds(&descriptor.id)).collect();
    let agents: Vec<_> = profiles
        .agents
        .iter()
        .filter(|(_, agent)| agent.skills.iter().any(|name| skills.iter().any(|(s, _)| *s == name)))
        .map(|(name, _)| name.as_str())
        .collect();
    let names: Vec<_> = skills.iter().map(|(name, _)| name.as_str()).collect();
    html! {
        dl.facts {
            div { dt { "Source" } dd { @match descriptor.id.server().filter(|_| entry.source.starts_with("server ")) {
                Some(server) => a href=(format!("/dashboard/servers/{}", in_url(server))) { "server " (inert(server)) },
                None => (inert(&entry.source)),
            } } }
            div { dt { "MCP name" } dd { code { (inert(&entry.wire)) } } }
            div { dt { "Approval" } dd { @match dashboard.parts.strip.approval_rule(&descriptor.id) {
                ApprovalRule::Free => "not required",
                ApprovalRule::Asked { timeout } => { "required within " (time::uptime(timeout.as_secs())) }
            } } }
            div { dt { "Skills" } dd { @if names.is_empty() { span.soft { "none" } } @else { (names.join(", ")) } } }
            div { dt { "Agents" } dd { @if agents.is_empty() { span.soft { "none" } } @else { (agents.join(", ")) } } }
            div { dt { "Hints" } dd { (hints(&descriptor.annotations, descriptor.deterministic)) } }
            div { dt { "Limits" } dd {
                (time::uptime(entry.limits.timeout.as_secs())) " · in "
                (size(entry.limits.max_input_bytes as u64)) " · out " (size(entry.limits.max_output_bytes as u64))
            } }
            @if entry.hidden_characters > 0 {
                div { dt { "Hidden text" } dd.warn { (entry.hidden_characters) " invisible characters were removed from its definition" } }
            }
            div { dt { "Definition" } dd { code.digest title="SHA-256 of the definition that models see" { (entry.definition) } } }
        }
    }
}

fn hints(annotations: &Annotations, deterministic: bool) -> Markup {
    let hints: Vec<&str> = [
        (annotations.read_only_hint == Some(true), "read-only"),
        (annotations.destructive_hint == Some(true), "destructive"),
        (annotations.idempotent_hint == Some(true), "idempotent"),
        (annotations.open_world_hint == Some(true), "open world"),
        (deterministic, "deterministic"),
    ]
    .into_iter()
    .filter_map(|(set, name)| set.then_some(name))
    .collect();
    html! { @if hints.is_empty() { span.soft { "none" } } @else { (hints.join(", ")) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_have_names() {
        let annotations = Annotations { read_only_hint: Some(true), ..Annotations::default() };
        assert_eq!(hints(&annotations, true).into_string(), "read-only, deterministic");
        let none = hints(&Annotations::default(), false).into_string();
        assert!(none.contains("none"), "{none}");
    }
}
