//! One tool: what it says of itself, who has it, what must happen before it runs, and a form to try it.

use std::sync::Arc;

use auth::scope;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use proto::Annotations;
use serde::Deserialize;
use strip::agents::ApprovalRule;
use strip::catalog::{Change, Entry};

use crate::form::{Draft, Faults, Form};
use crate::layout::{Page, Room, csrf, heading};
use crate::posted::{Posted, see_other};
use crate::service::QuarantinedTool;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::{inert, json, size, tool_page};
use crate::{time, tries};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    /// An earlier try whose input to begin with.
    again: String,
}

pub(super) async fn page(
    State(board): State<Dashboard>,
    Path(name): Path<String>,
    Query(wanted): Query<Wanted>,
    viewer: Viewer,
) -> Response {
    if !viewer.may(scope::TOOLS_READ) {
        return viewer.refused(scope::TOOLS_READ);
    }
    let entry = match resolve(&board, &viewer, &name) {
        Ok(entry) => entry,
        Err(message) => return absent(&board, &viewer, &name, &message).await,
    };
    let form = Form::of(&entry.descriptor.input_schema);
    let draft = match tries::input(&board, &wanted.again, &viewer) {
        Some(input) => Draft::of_value(&form, &input),
        None => Draft::fresh(&form),
    };
    show(&board, &viewer, &entry, &form, &draft, &Faults::default(), StatusCode::OK)
}

fn resolve(board: &Dashboard, viewer: &Viewer, name: &str) -> Result<Arc<Entry>, String> {
    let view = board.parts.strip.view(viewer.principal());
    view.tools().resolve(name).map(Arc::clone).map_err(|failure| failure.message)
}

/// A tool that is not served: quarantined, or not there at all.
async fn absent(board: &Dashboard, viewer: &Viewer, name: &str, message: &str) -> Response {
    let snapshot = board.parts.strip.catalog().snapshot();
    let (Some(waiting), Some(service)) = (snapshot.waiting(name), &board.parts.service) else {
        return viewer.missing(message);
    };
    let id = waiting.id.to_string();
    let held = service.quarantined(&id).await;
    let below = html! { "In quarantine: " (inert(&waiting.reason())) };
    let body = html! {
        (heading(html! { code { (inert(&id)) } }, below, html! {}))
        @match &held {
            Ok(held) => {
                (differences(&held.changes, held.left_out))
                @if viewer.is_operator() { (trust_form(viewer, &id, held)) }
                @else { p.soft { "Only who runs this gateway can trust it." } }
            }
            Err(why) => p.fault { (inert(why)) },
        }
    };
    Page { live: "catalog", ..Page::new(&id, Room::Catalog, body) }.show(viewer)
}

fn trust_form(viewer: &Viewer, id: &str, held: &QuarantinedTool) -> Markup {
    html! {
        form.decide method="post" action="/dashboard/trust" {
            (csrf(viewer))
            input type="hidden" name="tool" value=(id);
            input type="hidden" name="definition" value=(held.definition);
            p { "Trust the tool as it is shown here. If it changes again, it is held back again." }
            button.primary type="submit" { "Trust this definition" }
        }
    }
}

/// What differs, part by part, with everything invisible written out.
fn differences(changes: &[Change], left_out: usize) -> Markup {
    html! {
        h2 { "What has changed" }
        @if changes.is_empty() { p.soft { "Nothing that can be shown: the tool is new." } }
        (changed_parts(changes, left_out))
    }
}

/// Differences one below the other, before and after.
pub(super) fn changed_parts(changes: &[Change], left_out: usize) -> Markup {
    html! {
        div.diff {
            @for change in changes {
                div.change {
                    p.at { code { (change.at) } }
                    @if let Some(before) = &change.before { pre.before { (before) } }
                    @if let Some(after) = &change.after { pre.after { (after) } }
                }
            }
        }
        @if left_out > 0 { p.soft { "And " (left_out) " changes more." } }
    }
}

pub(super) async fn trust(State(board): State<Dashboard>, posted: Posted) -> Response {
    let viewer = &posted.viewer;
    if !viewer.is_operator() {
        return viewer.refused(scope::ADMIN);
    }
    let Some(service) = &board.parts.service else {
        return viewer.missing("Nobody here can trust tools.");
    };
    let (tool, definition) = (posted.text("tool"), posted.text("definition"));
    match service.trust(tool, definition).await {
        Ok(()) => see_other(&tool_page(tool)),
        Err(why) => super::layout::trouble(viewer, StatusCode::CONFLICT, "Not trusted", &why),
    }
}

/// A form of the page: to run the call, or to change the form itself.
pub(super) async fn attempt(
    State(board): State<Dashboard>,
    Path(name): Path<String>,
    posted: Posted,
) -> Response {
    let viewer = &posted.viewer;
    if !viewer.may(scope::TOOLS_CALL) {
        return viewer.refused(scope::TOOLS_CALL);
    }
    let entry = match resolve(&board, viewer, &name) {
        Ok(entry) => entry,
        Err(message) => return viewer.missing(&message),
    };
    let form = Form::of(&entry.descriptor.input_schema);
    let mut draft = Draft::of_fields(posted.fields());
    let asked = posted.text("do");
    let again = |draft: &Draft, faults: &Faults, status| {
        show(&board, viewer, &entry, &form, draft, faults, status)
    };
    if draft.change(&form, asked) {
        return again(&draft, &Faults::default(), StatusCode::OK);
    }
    let (value, mut faults) = draft.value(&form);
    let value = match asked {
        "raw" | "form" => {
            // What cannot be read stays as it was typed.
            if faults.is_unreadable() {
                return again(&draft, &faults, StatusCode::UNPROCESSABLE_ENTITY);
            }
            let draft = match asked {
                "raw" => Draft::raw(&value.unwrap_or_default()),
                _ => Draft::of_value(&form, &value.unwrap_or_default()),
            };
            return again(&draft, &Faults::default(), StatusCode::OK);
        }
        _ => value,
    };
    let Some(value) = value.filter(|_| !faults.is_unreadable()) else {
        return again(&draft, &faults, StatusCode::UNPROCESSABLE_ENTITY);
    };
    faults.add_violations(entry.input.violations(&value));
    if !faults.is_empty() {
        return again(&draft, &faults, StatusCode::UNPROCESSABLE_ENTITY);
    }
    tries::begin(&board, viewer, entry.descriptor.id.as_str(), value).await
}

fn show(
    board: &Dashboard,
    viewer: &Viewer,
    entry: &Entry,
    form: &Form<'_>,
    draft: &Draft,
    faults: &Faults,
    status: StatusCode,
) -> Response {
    let descriptor = &entry.descriptor;
    let id = descriptor.id.as_str();
    let below = html! {
        @if let Some(title) = &descriptor.title { (inert(title)) " · " }
        "version " (descriptor.version)
        @if let Some(major) = entry.superseded_by { " · replaced by major " (major) }
    };
    let body = html! {
        (heading(html! { code { (inert(id)) } }, below, html! { a href="/dashboard/catalog" { "All tools" } }))
        p.prose { (inert(&descriptor.description)) }
        div.columns {
            section aria-labelledby="try-it" {
                h2 #try-it { "Try it" }
                @if viewer.may(scope::TOOLS_CALL) {
                    (try_form(board, viewer, entry, form, draft, faults))
                } @else {
                    p.soft { "To call tools you need the scope " code { (scope::TOOLS_CALL) } "." }
                }
            }
            section aria-labelledby="about" {
                h2 #about { "About it" }
                (about(board, entry))
            }
        }
        details.block {
            summary { "Input schema" }
            pre.code tabindex="0" { (json(&descriptor.input_schema)) }
        }
        @if let Some(output) = &descriptor.output_schema {
            details.block { summary { "Output schema" } pre.code tabindex="0" { (json(output)) } }
        }
    };
    Page::new(id, Room::Catalog, body).show_as(viewer, status)
}

fn try_form(
    board: &Dashboard,
    viewer: &Viewer,
    entry: &Entry,
    form: &Form<'_>,
    draft: &Draft,
    faults: &Faults,
) -> Markup {
    let rule = board.parts.strip.approval_rule(&entry.descriptor.id);
    html! {
        form.try #try data-swap method="post" action=(tool_page(entry.descriptor.id.as_str())) {
            (csrf(viewer))
            // The first button of a form is what Enter presses.
            button.hidden type="submit" name="do" value="run" tabindex="-1" aria-hidden="true" { "Run" }
            @if !faults.is_empty() {
                div.fault role="alert" {
                    p { "This does not fit the tool's schema:" }
                    ul { @for text in faults.lines() { li { (text) } } }
                }
            }
            (form.show(draft, faults))
            @if let ApprovalRule::Asked { timeout } = rule {
                p.hint { "A person must approve this call within " (time::uptime(timeout.as_secs())) ". It waits until then." }
            }
            div.buttons {
                button.primary type="submit" name="do" value="run" { "Run" }
                @if draft.is_raw() {
                    button type="submit" name="do" value="form" formnovalidate data-soft { "Edit as form" }
                } @else {
                    button type="submit" name="do" value="raw" formnovalidate data-soft { "Edit as JSON" }
                }
            }
        }
    }
}

fn about(board: &Dashboard, entry: &Entry) -> Markup {
    let descriptor = &entry.descriptor;
    let profiles = board.parts.strip.agents();
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
            div { dt { "From" } dd { (inert(&entry.source)) } }
            div { dt { "MCP name" } dd { code { (inert(&entry.wire)) } } }
            div { dt { "Approval" } dd { @match board.parts.strip.approval_rule(&descriptor.id) {
                ApprovalRule::Free => "runs at once",
                ApprovalRule::Asked { timeout } => { "a person must approve within " (time::uptime(timeout.as_secs())) }
            } } }
            div { dt { "Skills" } dd { @if names.is_empty() { span.soft { "none names it" } } @else { (names.join(", ")) } } }
            div { dt { "Agents" } dd { @if agents.is_empty() { span.soft { "none by a skill" } } @else { (agents.join(", ")) } } }
            div { dt { "Hints" } dd { (hints(&descriptor.annotations, descriptor.deterministic)) } }
            div { dt { "Limits" } dd {
                (time::uptime(entry.limits.timeout.as_secs())) " · in "
                (size(entry.limits.max_input_bytes as u64)) " · out " (size(entry.limits.max_output_bytes as u64))
            } }
            @if entry.hidden_characters > 0 {
                div { dt { "Hidden text" } dd.warn { (entry.hidden_characters) " invisible characters were removed from what it says" } }
            }
            div { dt { "Definition" } dd { code.sum title="SHA-256 of all that a model is shown" { (entry.definition) } } }
        }
    }
}

fn hints(annotations: &Annotations, deterministic: bool) -> Markup {
    let told: Vec<&str> = [
        (annotations.read_only_hint == Some(true), "read-only"),
        (annotations.destructive_hint == Some(true), "destructive"),
        (annotations.idempotent_hint == Some(true), "idempotent"),
        (annotations.open_world_hint == Some(true), "reaches outside"),
        (deterministic, "deterministic"),
    ]
    .into_iter()
    .filter_map(|(holds, word)| holds.then_some(word))
    .collect();
    html! { @if told.is_empty() { span.soft { "it gives none" } } @else { (told.join(", ")) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_told_in_words() {
        let annotations = Annotations { read_only_hint: Some(true), ..Annotations::default() };
        assert_eq!(hints(&annotations, true).into_string(), "read-only, deterministic");
        let none = hints(&Annotations::default(), false).into_string();
        assert!(none.contains("it gives none"), "{none}");
    }
}
