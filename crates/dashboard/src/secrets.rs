//! My secrets: the viewer's own values of secrets that servers take from each person. No page shows a value.

use auth::scope;
use axum::extract::State;
use http::StatusCode;
use maud::{Markup, html};
use proto::Secret;

use crate::layout::{Page, PageResult, Section, csrf, error_page, heading};
use crate::paths::SECRETS;
use crate::posted::{PostedForm, see_other};
use crate::service::OwnSecret;
use crate::state::Dashboard;
use crate::time;
use crate::viewer::Viewer;
use crate::words::{Tone, count, empty, inert, mark};

pub(super) async fn page(State(dashboard): State<Dashboard>, viewer: Viewer) -> PageResult {
    viewer.require(scope::TOOLS_CALL)?;
    let Some(service) = &dashboard.parts.service else {
        return Err(viewer.missing("This gateway stores no secrets."));
    };
    let secrets = service.own_secrets(viewer.principal()).await.map_err(|why| {
        error_page(&viewer, StatusCode::SERVICE_UNAVAILABLE, "Secrets cannot be listed", &why)
    })?;
    let missing = secrets.iter().filter(|secret| secret.stored_unix_ms.is_none()).count();
    let below = match missing {
        0 => html! { "Used for your calls only; they cannot be read here" },
        missing => html! { (count(missing, "value is", "values are")) " missing" },
    };
    let body = html! {
        (heading(html! { "My secrets" }, below, html! {}))
        @if secrets.is_empty() {
            (empty("No server asks for a secret of yours", html! {
                p { "A server takes a value of each person where the config says " code { "{secret: NAME, per: person}" } "." }
            }))
        }
        @for secret in &secrets { (shown(secret, &viewer)) }
    };
    Page { section: None, ..Page::new("My secrets", Section::Settings, body) }.show(&viewer)
}

fn shown(secret: &OwnSecret, viewer: &Viewer) -> Markup {
    let id = format!("value-{}", secret.name);
    html! {
        article.rule {
            div.rule-head {
                h2 { code { (inert(&secret.name)) } }
                @match secret.stored_unix_ms {
                    Some(at) => { (mark(Tone::Good, "stored")) " " span.soft { (time::ago(at, viewer.now_ms)) } }
                    None => { (mark(Tone::Doubtful, "missing")) }
                }
            }
            p.soft {
                @if secret.servers.is_empty() { "No server uses it any more." }
                @else {
                    "For " @for (index, server) in secret.servers.iter().enumerate() {
                        @if index > 0 { ", " } code { (inert(server)) }
                    } "."
                }
            }
            @if !secret.servers.is_empty() {
                form.secret method="post" action=(SECRETS) {
                    (csrf(viewer))
                    input type="hidden" name="name" value=(secret.name);
                    input type="hidden" name="action" value="set";
                    label for=(id) { "Your value" input #(id) type="password" name="value" required autocomplete="off" spellcheck="false"; }
                    button type="submit" { @if secret.stored_unix_ms.is_some() { "Replace" } @else { "Store" } }
                }
            }
            @if secret.stored_unix_ms.is_some() {
                form method="post" action=(SECRETS) {
                    (csrf(viewer))
                    input type="hidden" name="name" value=(secret.name);
                    input type="hidden" name="action" value="remove";
                    button type="submit" { "Remove" }
                }
            }
        }
    }
}

/// Stores or removes a value.
pub(super) async fn change(State(dashboard): State<Dashboard>, posted: PostedForm) -> PageResult {
    let viewer = &posted.viewer;
    viewer.require(scope::TOOLS_CALL)?;
    let Some(service) = &dashboard.parts.service else {
        return Err(viewer.missing("This gateway stores no secrets."));
    };
    let (principal, name) = (viewer.principal(), posted.text("name"));
    let changed = match posted.text("action") {
        "remove" => service.remove_own_secret(principal, name).await,
        _ => service.set_own_secret(principal, name, Secret::new(posted.text("value"))).await,
    };
    match changed {
        Ok(()) => Ok(see_other(SECRETS)),
        Err(why) => Err(error_page(
            viewer,
            StatusCode::UNPROCESSABLE_ENTITY,
            "The secret is unchanged",
            &why,
        )),
    }
}
