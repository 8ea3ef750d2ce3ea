//! Keys of callers and of servers that register themselves: the list, a form to make one, and revoking. A key is shown
//! once, on the page that answers the form.

use auth::key_operations::{
    AddKey, AddKeyInput, KeyList, KeyView, ListKeys, RevokeKey, RevokeKeyInput,
};
use auth::scope;
use axum::extract::{Query, State};
use maud::{Markup, html};
use operations::{NoInput, OperationError};
use serde::Deserialize;

use crate::confirm::ConfirmForm;
use crate::layout::{Page, PageResult, Section, csrf, heading};
use crate::paths::KEYS;
use crate::posted::{PostedForm, see_other};
use crate::snippet::snippet;
use crate::state::Dashboard;
use crate::time;
use crate::unreadable::damaged_rows;
use crate::viewer::Viewer;
use crate::words::{Tone, count, empty, inert, mark, short};

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// The lifetimes of the form, in days; 0 for no end.
const LIFETIMES: [(u64, &str); 5] =
    [(90, "90 days"), (1, "1 day"), (30, "30 days"), (365, "1 year"), (0, "until it is revoked")];

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    /// The change that was just made.
    did: String,
}

pub(super) async fn page(
    State(dashboard): State<Dashboard>,
    Query(params): Query<Params>,
    viewer: Viewer,
) -> PageResult {
    viewer.require(scope::ADMIN)?;
    let notice = html! {
        @if params.did == "revoke" { p.notice role="status" { "The key is revoked. Requests with it are refused." } }
    };
    show(&dashboard, &viewer, notice).await
}

async fn show(dashboard: &Dashboard, viewer: &Viewer, notice: Markup) -> PageResult {
    let keys = dashboard.run::<ListKeys>(viewer, &NoInput {}).await;
    let KeyList { mut keys, damaged } =
        keys.map_err(|error| viewer.failed("Keys cannot be listed", &error))?;
    // Newest first, and those that are no longer valid last.
    keys.sort_by_key(|key| (!is_valid(key, viewer), std::cmp::Reverse(key.created_unix_ms)));
    let valid = keys.iter().filter(|key| is_valid(key, viewer)).count();
    let below = html! { (count(valid, "valid key", "valid keys")) };
    let body = html! {
        (heading(html! { "Keys" }, below, html! {}))
        (notice)
        @if !dashboard.parts.access.is_guarded() {
            p.notice { "Keys of callers have no effect until " code { "auth:" } " is in the config: the gateway serves this machine's user and asks for none." }
        }
        @for row in &damaged {
            (damaged_rows("key", std::slice::from_ref(row)))
            (revoke(&row.id, &row.id, viewer))
        }
        @if keys.is_empty() {
            (empty("No keys", html! {
                p { "Callers without an identity provider send a key: " code { "Authorization: Bearer ps_…" } "." }
            }))
        } @else {
            ul.rows { @for key in &keys { (row(key, viewer)) } }
        }
        h2 { "Make a key" }
        (form(viewer))
    };
    Page::new("Keys", Section::Keys, body).show(viewer)
}

fn is_valid(key: &KeyView, viewer: &Viewer) -> bool {
    let expired = key.expires_unix_ms.is_some_and(|expires| expires <= viewer.now_ms);
    key.revoked_unix_ms.is_none() && !expired
}

/// The button that revokes a key by its id: a revoked key may have the same name.
fn revoke(name: &str, id: &str, viewer: &Viewer) -> Markup {
    let question = format!("Requests with the key {name} are refused at once.");
    let form = ConfirmForm {
        label: "Revoke",
        question: &question,
        action: KEYS,
        fields: &[("do", "revoke"), ("key", id)],
    };
    form.show(viewer)
}

fn row(key: &KeyView, viewer: &Viewer) -> Markup {
    html! {
        li {
            div.row.acting {
                span.row-name { (inert(&key.name)) " " code.soft { (inert(&key.id)) } }
                span.row-more.whole {
                    (validity(key, viewer))
                    " · " @if let Some(at) = key.used_unix_ms { "used " (time::ago(at, viewer.now_ms)) } @else { "never used" }
                    " · " (short(&key.tenant, 60)) "/" (short(&key.subject, 80))
                    @if let Some(agent) = &key.agent { " as " (short(agent, 60)) }
                    " · " code { (inert(&key.scopes.join(" "))) }
                }
                div.row-actions { @if is_valid(key, viewer) { (revoke(&key.name, &key.id, viewer)) } }
            }
        }
    }
}

fn validity(key: &KeyView, viewer: &Viewer) -> Markup {
    if let Some(at) = key.revoked_unix_ms {
        return html! { (mark(Tone::Bad, "revoked")) " " (time::ago(at, viewer.now_ms)) };
    }
    match key.expires_unix_ms {
        None => mark(Tone::Good, "valid"),
        Some(expires) if expires <= viewer.now_ms => mark(Tone::Bad, "expired"),
        Some(expires) => {
            html! { (mark(Tone::Good, "valid")) " until " time datetime=(time::iso(expires)) { (time::exact(expires)) } }
        }
    }
}

fn form(viewer: &Viewer) -> Markup {
    let usual = [scope::TOOLS_READ, scope::TOOLS_CALL];
    html! {
        form.panel method="post" action=(KEYS) {
            (csrf(viewer))
            input type="hidden" name="do" value="add";
            div.filters {
                label for="key-name" { "Name" input #key-name name="name" required maxlength="64" autocomplete="off" spellcheck="false"; }
                label for="key-expires" { "Valid for"
                    select #key-expires name="days" {
                        @for (days, name) in LIFETIMES { option value=(days) { (name) } }
                    }
                }
                label for="key-tenant" { "Tenant" input #key-tenant name="tenant" placeholder="local" autocomplete="off"; }
                label for="key-subject" { "Subject" input #key-subject name="subject" placeholder="key:NAME" autocomplete="off"; }
                label for="key-agent" { "Agent" input #key-agent name="agent" placeholder="none" autocomplete="off"; }
            }
            fieldset.scopes {
                legend { "Scopes" }
                @for name in scope::of_keys() {
                    label.option { input type="checkbox" name="scope" value=(name) checked[usual.contains(&name)]; " " code { (name) } }
                }
            }
            label.option { input type="checkbox" name="registration" value="yes"; " For a server that registers itself; the key can do nothing else, and the scopes do not count" }
            div.buttons { button.primary type="submit" { "Make the key" } }
        }
    }
}

/// Makes or revokes a key.
pub(super) async fn change(State(dashboard): State<Dashboard>, posted: PostedForm) -> PageResult {
    let viewer = &posted.viewer;
    viewer.require(scope::ADMIN)?;
    match posted.text("do") {
        "add" => {
            let made = async { dashboard.run::<AddKey>(viewer, &input(&posted)?).await };
            let key = made.await.map_err(|error| viewer.failed("No key was made", &error))?;
            show(&dashboard, viewer, made_notice(&key)).await
        }
        "revoke" => {
            let input = RevokeKeyInput { key: posted.text("key").to_owned() };
            let revoked = dashboard.run::<RevokeKey>(viewer, &input).await;
            revoked.map_err(|error| viewer.failed("Not revoked", &error))?;
            Ok(see_other(&format!("{KEYS}?did=revoke")))
        }
        _ => Err(viewer.missing("A key can be made and revoked here.")),
    }
}

fn made_notice(key: &KeyView) -> Markup {
    html! {
        section.notice.made aria-labelledby="made" {
            h2 #made { "The key " (inert(&key.name)) }
            p { "Copy it now: it is not shown again, and the gateway stores only a hash of it." }
            (snippet("new-key", key.secret.as_deref().unwrap_or_default(), "the key"))
        }
    }
}

fn input(posted: &PostedForm) -> Result<AddKeyInput, OperationError> {
    let given = |name: &str| {
        let text = posted.text(name).trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let registration = posted.text("registration") == "yes";
    let scopes = posted.fields().iter().filter(|(name, _)| name == "scope" && !registration);
    let scopes: Vec<_> = scopes.map(|(_, scope)| scope.clone()).collect();
    // The operation would choose the usual scopes.
    if scopes.is_empty() && !registration {
        return Err(OperationError::invalid("Choose at least one scope."));
    }
    let days: u64 = posted.text("days").parse().map_err(|_| {
        OperationError::invalid("How long the key is valid is not a number of days.")
    })?;
    Ok(AddKeyInput {
        name: posted.text("name").trim().to_owned(),
        registration,
        tenant: given("tenant"),
        subject: given("subject"),
        agent: given("agent"),
        scopes,
        lifetime_ms: (days > 0).then(|| days.saturating_mul(DAY_MS)),
    })
}
