//! The prompts of the registry, with a form to render them.

use auth::scope;
use axum::extract::{Path, State};
use http::StatusCode;
use maud::{Markup, html};
use prompts::Prompt;
use proto::PromptRef;
use serde_json::Value;

use crate::form::{Draft, Faults, Form};
use crate::layout::{Page, PageResult, Section, csrf, heading};
use crate::posted::PostedForm;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::{count, empty, in_url, inert, json, short};

fn prompt_page(prompt: &Prompt) -> String {
    format!(
        "/dashboard/prompts/{}/{}/{}",
        in_url(&prompt.domain),
        in_url(&prompt.name),
        prompt.major
    )
}

pub(super) async fn list(State(dashboard): State<Dashboard>, viewer: Viewer) -> PageResult {
    viewer.require(scope::TOOLS_READ)?;
    let registry = dashboard.parts.strip.prompts().snapshot();
    let prompts = registry.prompts();
    let body = html! {
        (heading(html! { "Prompts" }, html! { (count(prompts.len(), "prompt", "prompts")) " in the registry" }, html! {}))
        @if prompts.is_empty() {
            (empty("No prompts yet", html! {
                p { "A prompt is a template and a spec in the prompts folder, pinned by its digest." }
                pre { code { "powerstrip new prompt support/greeting" } }
            }))
        } @else {
            ul.rows {
                @for prompt in prompts {
                    li { a.row href=(prompt_page(prompt)) {
                        span.row-name { code { (inert(&prompt.wire_name())) } }
                        span.row-more { (short(&prompt.description, 140)) }
                        span.tags { span.tag { "v" (prompt.major) } }
                    } }
                }
            }
        }
    };
    Page::new("Prompts", Section::Prompts, body).show(&viewer)
}

type Parts = Path<(String, String, String)>;

fn with_prompt(
    dashboard: &Dashboard,
    viewer: &Viewer,
    Path((domain, name, major)): Parts,
    then: impl FnOnce(&Prompt) -> PageResult,
) -> PageResult {
    let Ok(major) = major.parse() else {
        return Err(viewer.missing("The version of a prompt is a number."));
    };
    let registry = dashboard.parts.strip.prompts().snapshot();
    match registry.get(&PromptRef { domain, name, major: Some(major) }) {
        Ok(prompt) => then(prompt),
        Err(error) => Err(viewer.missing(&error.to_string())),
    }
}

/// The schema of a prompt's arguments; without one, it takes none.
fn schema(prompt: &Prompt) -> Value {
    let none = || serde_json::json!({"type": "object", "additionalProperties": false});
    prompt.spec.get("inputSchema").cloned().unwrap_or_else(none)
}

pub(super) async fn page(
    State(dashboard): State<Dashboard>,
    parts: Parts,
    viewer: Viewer,
) -> PageResult {
    viewer.require(scope::TOOLS_READ)?;
    with_prompt(&dashboard, &viewer, parts, |prompt| {
        let schema = schema(prompt);
        let form = Form::of(&schema);
        let fields = form.show(&Draft::fresh(&form), &Faults::default());
        show(&viewer, prompt, fields, html! {}, StatusCode::OK)
    })
}

pub(super) async fn render(
    State(dashboard): State<Dashboard>,
    parts: Parts,
    posted: PostedForm,
) -> PageResult {
    let viewer = &posted.viewer;
    viewer.require(scope::TOOLS_READ)?;
    with_prompt(&dashboard, viewer, parts, |prompt| {
        let schema = schema(prompt);
        let form = Form::of(&schema);
        let mut draft = Draft::of_fields(posted.fields());
        if draft.change(&form, posted.text("do")) {
            let fields = form.show(&draft, &Faults::default());
            return show(viewer, prompt, fields, html! {}, StatusCode::OK);
        }
        let (value, faults) = draft.value(&form);
        let invalid = StatusCode::UNPROCESSABLE_ENTITY;
        let (rendered, status) = match value.filter(|_| !faults.is_unreadable()) {
            None => (html! {}, invalid),
            Some(value) => match strip::run_blocking(usize::MAX, || prompt.render(&value)) {
                Ok(text) => (
                    html! { h2 { "Rendered" } pre.code #rendered tabindex="0" { (inert(&text)) } },
                    StatusCode::OK,
                ),
                Err(error) => {
                    (html! { p.fault role="alert" { (inert(&error.to_string())) } }, invalid)
                }
            },
        };
        show(viewer, prompt, form.show(&draft, &faults), rendered, status)
    })
}

fn show(
    viewer: &Viewer,
    prompt: &Prompt,
    fields: Markup,
    rendered: Markup,
    status: StatusCode,
) -> PageResult {
    let name = prompt.wire_name();
    let below = html! { "version " (prompt.major) @if let Some(title) = &prompt.title { " · " (inert(title)) } };
    let body = html! {
        (heading(html! { code { (inert(&name)) } }, below, html! { a href="/dashboard/prompts" { "All prompts" } }))
        p.prose { (inert(&prompt.description)) }
        div.columns {
            section aria-labelledby="render" {
                h2 #render { "Render" }
                form.try #try data-swap method="post" action=(prompt_page(prompt)) {
                    (csrf(viewer))
                    button.hidden type="submit" name="do" value="run" tabindex="-1" aria-hidden="true" { "Render" }
                    (fields)
                    div.buttons { button.primary type="submit" name="do" value="run" { "Render" } }
                }
                (rendered)
            }
            section aria-labelledby="body" {
                h2 #body { "Template" }
                pre.code tabindex="0" { (inert(&prompt.body)) }
            }
        }
        details.block { summary { "Spec" } pre.code tabindex="0" { (json(&prompt.spec)) } }
    };
    Page::new(&name, Section::Prompts, body).show_as(viewer, status)
}
