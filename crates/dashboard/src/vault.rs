//! Secrets of the gateway: which there are and whether the config uses them, and forms to store, remove and prune them.
//! No page shows a value.

use auth::scope;
use auth::secrets::operations::{
    ListSecrets, RemoveSecret, SecretInput, SecretText, SecretView, SetSecret, SetSecretInput,
};
use axum::extract::{Query, State};
use axum::response::Response;
use maud::{Markup, html};
use operations::{NoInput, OperationError};
use proto::Secret;
use serde::Deserialize;

use crate::confirm::ConfirmForm;
use crate::layout::{Page, PageResult, Section, csrf, heading};
use crate::paths::{SECRETS, VAULT};
use crate::posted::{PostedForm, see_other};
use crate::state::Dashboard;
use crate::time;
use crate::viewer::Viewer;
use crate::words::{Tone, count, empty, in_url, inert, mark, message};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    /// A secret to store, named by a link of another page.
    name: String,
    /// The change that was just made.
    did: String,
}

pub(super) async fn page(
    State(dashboard): State<Dashboard>,
    Query(params): Query<Params>,
    viewer: Viewer,
) -> PageResult {
    viewer.require(scope::ADMIN)?;
    let secrets = list(&dashboard, &viewer).await?;
    let unused: Vec<_> = unused(&secrets).collect();
    let missing = secrets.iter().filter(|secret| !secret.is_stored()).count();
    let below = html! {
        (count(secrets.len(), "secret", "secrets"))
        @if missing > 0 { " · " span.warn { (missing) " missing" } }
        @if !unused.is_empty() { " · " (unused.len()) " unused" }
    };
    let question = format!(
        "Removes {} that the config does not use.",
        count(unused.len(), "secret", "secrets")
    );
    let prune = ConfirmForm {
        label: "Remove unused",
        question: &question,
        action: VAULT,
        fields: &[("do", "prune")],
    };
    let actions = html! {
        a href=(SECRETS) { "My secrets" }
        @if !unused.is_empty() { (prune.show(&viewer)) }
    };
    let body = html! {
        (heading(html! { "Secrets" }, below, actions))
        @if let Some(text) = done(&params.did) { p.notice role="status" { (text) } }
        (form(&viewer, &params.name))
        @if secrets.is_empty() {
            (empty("No secrets", html! {
                p { "The config uses a stored secret as " code { "{secret: NAME}" } ". A value is encrypted and never shown again." }
            }))
        } @else {
            ul.rows { @for secret in &secrets { (row(secret, &viewer)) } }
        }
    };
    Page::new("Secrets", Section::Secrets, body).show(&viewer)
}

fn done(did: &str) -> Option<&'static str> {
    match did {
        "set" => Some("The secret is stored. Servers that use it start again."),
        "remove" => Some("The secret is removed."),
        "prune" => Some("The unused secrets are removed."),
        _ => None,
    }
}

async fn list(dashboard: &Dashboard, viewer: &Viewer) -> Result<Vec<SecretView>, Response> {
    let listed = dashboard.run::<ListSecrets>(viewer, &NoInput {}).await;
    listed.map_err(|error| viewer.failed("Secrets cannot be listed", &error))
}

fn unused(secrets: &[SecretView]) -> impl Iterator<Item = &SecretView> {
    secrets.iter().filter(|secret| !secret.used && secret.is_stored())
}

fn form(viewer: &Viewer, name: &str) -> Markup {
    html! {
        form.secret.panel method="post" action=(VAULT) {
            (csrf(viewer))
            input type="hidden" name="do" value="set";
            label for="secret-name" { "Name"
                input #secret-name name="name" value=(name) required maxlength="64" autocomplete="off" spellcheck="false" autocapitalize="off"; }
            label for="secret-value" { "Value"
                input #secret-value type="password" name="value" required autocomplete="off" spellcheck="false"; }
            button.primary type="submit" { "Store" }
            p.hint { "A secret of the same name is replaced. The value is encrypted, and no page shows it again." }
        }
    }
}

fn row(secret: &SecretView, viewer: &Viewer) -> Markup {
    let name = &secret.name;
    let question = match (&secret.unknown, secret.used) {
        (Some(why), _) => format!("The config may use {name}: {why}."),
        (None, true) => format!("The config uses {name}: what needs it stops working."),
        (None, false) => format!("Removes {name}. Its value cannot be restored."),
    };
    let remove = ConfirmForm {
        label: "Remove",
        question: &question,
        action: VAULT,
        fields: &[("do", "remove"), ("name", name)],
    };
    html! {
        li {
            div.row.acting {
                span.row-name { code { (inert(name)) } }
                span.row-more {
                    (state(secret))
                    @if let Some(at) = secret.stored_unix_ms { " " (time::ago(at, viewer.now_ms)) }
                    " · " (usage(secret))
                }
                div.row-actions {
                    a href=(format!("{VAULT}?name={}#secret-value", in_url(name))) {
                        @if secret.is_stored() { "Replace" } @else { "Store" }
                    }
                    @if secret.is_stored() { (remove.show(viewer)) }
                }
            }
        }
    }
}

fn usage(secret: &SecretView) -> Markup {
    match (&secret.unknown, secret.used) {
        (Some(why), _) => {
            html! { span.warn { "unknown whether the config uses it: " (message(why)) } }
        }
        (None, true) => html! { "used by the config" },
        (None, false) => html! { span.warn { "unused" } },
    }
}

fn state(secret: &SecretView) -> Markup {
    match (secret.stored_unix_ms, secret.readable) {
        _ if secret.damaged.is_some() => mark(Tone::Bad, "damaged"),
        (None, _) => mark(Tone::Bad, "missing"),
        (Some(_), false) => mark(Tone::Bad, "sealed with another key"),
        (Some(_), true) => mark(Tone::Good, "stored"),
    }
}

/// Stores a secret, or removes one or all unused ones.
pub(super) async fn change(State(dashboard): State<Dashboard>, posted: PostedForm) -> PageResult {
    let viewer = &posted.viewer;
    viewer.require(scope::ADMIN)?;
    let (name, action) = (posted.text("name").to_owned(), posted.text("do"));
    let changed = match action {
        "set" => set(&dashboard, &posted, name).await,
        "remove" => remove(&dashboard, viewer, name).await,
        "prune" => prune(&dashboard, viewer).await?,
        _ => return Err(viewer.missing("A secret can be stored and removed here.")),
    };
    match changed {
        Ok(()) => Ok(see_other(&format!("{VAULT}?did={action}"))),
        Err(error) => Err(viewer.failed("The secrets are unchanged", &error)),
    }
}

async fn set(
    dashboard: &Dashboard,
    posted: &PostedForm,
    name: String,
) -> Result<(), OperationError> {
    if posted.text("value").is_empty() {
        return Err(OperationError::invalid("The value is empty."));
    }
    let input = SetSecretInput { name, value: SecretText(Secret::new(posted.text("value"))) };
    dashboard.run::<SetSecret>(&posted.viewer, &input).await.map(drop)
}

async fn remove(
    dashboard: &Dashboard,
    viewer: &Viewer,
    name: String,
) -> Result<(), OperationError> {
    dashboard.run::<RemoveSecret>(viewer, &SecretInput { name }).await.map(drop)
}

async fn prune(
    dashboard: &Dashboard,
    viewer: &Viewer,
) -> Result<Result<(), OperationError>, Response> {
    for secret in unused(&list(dashboard, viewer).await?) {
        if let Err(error) = remove(dashboard, viewer, secret.name.clone()).await {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}
