//! The review of a new server: all that it will run, send and set, a test, and the button that adds it.

use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use operations::install::{ServerPreview, ServerTrial};

use super::add::{installer, posted_secrets, secret_field};
use super::drafts::Draft;
use super::state::server_page;
use crate::layout::{Page, PageResult, Section, csrf, heading};
use crate::log::log_lines;
use crate::paths::ADD_SERVER;
use crate::posted::{PostedForm, see_other};
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::{Tone, count, inert, mark, message, short};

/// The address of a draft's review.
pub(super) fn review_page(id: &str) -> String {
    format!("{ADD_SERVER}/{id}")
}

fn find(dashboard: &Dashboard, viewer: &Viewer, id: &str) -> Result<Draft, Response> {
    let draft = dashboard.drafts.find(&viewer.session, id, viewer.now_ms);
    draft.ok_or_else(|| {
        viewer.missing("This form has expired or belongs to another session. Fill it in again.")
    })
}

pub(crate) async fn review(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    viewer: Viewer,
) -> PageResult {
    let installer = installer(&dashboard, &viewer)?;
    let mut draft = find(&dashboard, &viewer, &id)?;
    let preview = installer.preview(&draft.new).await;
    let preview = preview.map_err(|error| viewer.failed("The server cannot be added", &error))?;
    draft.agreed.clone_from(&preview.lines);
    dashboard.drafts.update(draft.clone());
    show(&viewer, &draft, &preview)
}

fn show(viewer: &Viewer, draft: &Draft, preview: &ServerPreview) -> PageResult {
    let title = format!("Add {}", draft.new.name);
    let below = match &preview.registry_name {
        Some(listed) => {
            html! { "As the registry describes " code { (inert(listed)) } ": others wrote this entry" }
        }
        None => html! { "All that it will run, send and set" },
    };
    let actions = html! { a href=(ADD_SERVER) { "Start over" } };
    let body = html! {
        (heading(html! { (inert(&title)) }, below, actions))
        pre.code #preview tabindex="0" { (inert(&preview.lines.join("\n"))) }
        (secrets(preview))
        @if let Some(trial) = &draft.trial { (tried(trial)) }
        form.panel.review method="post" action=(review_page(&draft.id)) autocomplete="off" {
            (csrf(viewer))
            @for (name, what) in &preview.missing { (secret_field(name, what)) }
            @if let Some(address) = preview.private_address.as_ref().filter(|_| preview.registry_name.is_some()) {
                label.option {
                    input type="checkbox" name="allow_private" value="yes" checked[draft.new.allow_private];
                    " Its URL leads to the private address " code { (inert(address)) } ", and that is mine"
                }
            }
            p.hint { "The test starts the server once and stops it. Adding writes it to the config file and starts it." }
            div.buttons {
                button type="submit" name="do" value="test" { "Test" }
                button.primary type="submit" name="do" value="add" { "Add" }
            }
        }
    };
    Page::new(&title, Section::Servers, body).show(viewer)
}

fn secrets(preview: &ServerPreview) -> Markup {
    html! {
        @if !preview.stores.is_empty() || !preview.receives.is_empty() {
            ul.plain.after {
                @for name in &preview.stores { li { "Stores the secret " code { (inert(name)) } " in the vault" } }
                @for name in &preview.receives { li { "Receives the secret " code { (inert(name)) } ", which is in the vault" } }
            }
        }
    }
}

fn tried(trial: &ServerTrial) -> Markup {
    html! {
        section #trial aria-labelledby="trial-title" {
            div.section-head { h2 #trial-title { "Test" } }
            @match &trial.error {
                Some(error) => {
                    div.fault role="alert" {
                        p.prose { (message(error)) }
                        @if let Some(fix) = &trial.fix { p.prose { (message(fix)) } }
                    }
                    @if !trial.log.is_empty() {
                        pre.code.log #log tabindex="0" role="log" aria-label="What it wrote" { (log_lines(&trial.log)) }
                    }
                }
                None => {
                    p { (mark(Tone::Good, "It works")) " · " (count(trial.tools.len(), "tool", "tools")) }
                    ul.rows.after {
                        @for tool in &trial.tools {
                            li { div.row {
                                span.row-name { code { (inert(&tool.id)) } }
                                span.row-more { (message(&short(&tool.description, 140))) }
                            } }
                        }
                    }
                }
            }
        }
    }
}

/// Tests the server or adds it.
pub(crate) async fn act(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let viewer = &posted.viewer;
    let installer = installer(&dashboard, viewer)?;
    let mut draft = find(&dashboard, viewer, &id)?;
    draft.new.secrets.extend(posted_secrets(&posted));
    draft.new.allow_private = posted.text("allow_private") == "yes";
    dashboard.drafts.update(draft.clone());
    let caller = viewer.caller();
    match posted.text("do") {
        "test" => {
            let trial = installer.try_out(&caller, &draft.new, &draft.agreed).await;
            let trial = trial.map_err(|error| viewer.failed("Not tested", &error))?;
            draft.trial = Some(trial);
            dashboard.drafts.update(draft);
            Ok(see_other(&review_page(&id)))
        }
        "add" => {
            let added = installer.add(&caller, &draft.new, &draft.agreed).await;
            added.map_err(|error| viewer.failed("Not added", &error))?;
            dashboard.drafts.remove(&id);
            Ok(see_other(&format!("{}?did=add", server_page(&draft.new.name))))
        }
        _ => Err(viewer.missing("A server can be tested and added here.")),
    }
}
