//! Calls that people try from the dashboard. They run in the background, so that a reload does not repeat them and a call
//! that waits for approval does not block the browser.

mod table;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;
use strip::{Door, Request};
use tokio::sync::watch;

use crate::approvals::pending_approvals;
use crate::layout::{Page, PageResult, Section, csrf, heading};
use crate::posted::{PostedForm, see_other};
use crate::snippet::snippet;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::{Tone, approval_page, inert, json, mark, tool_page};
use crate::{curl, images, time};
use table::{Ended, Try};

pub(crate) use table::Tries;

/// How long to wait for the answer before the redirect; most calls have ended by then.
const ANSWER_WAIT: Duration = Duration::from_millis(1_500);

/// Starts a call in the name of the viewer, waits a moment for it, and redirects to the page of its answer.
pub(super) async fn begin(
    dashboard: &Dashboard,
    viewer: &Viewer,
    tool: &str,
    input: Value,
) -> Response {
    let mut call = Request::new(tool, input, Arc::clone(viewer.principal()), Door::Dashboard);
    call.cancel = dashboard.parts.shutdown.child_token();
    let one = Arc::new(Try {
        session: Arc::clone(&viewer.session),
        tool: tool.to_owned(),
        input: Arc::clone(&call.input),
        trace: call.trace,
        began_ms: viewer.now_ms,
        cancel: call.cancel.clone(),
        ended: watch::Sender::new(None),
    });
    dashboard.tries.add(&one);
    let (strip, trying) = (Arc::clone(&dashboard.parts.strip), Arc::clone(&one));
    tokio::spawn(async move {
        let began = tokio::time::Instant::now();
        let answer = strip.call(call).await;
        let took_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let failure = answer.result.as_ref().err();
        let ended = Ended {
            ok: failure.is_none(),
            code: failure.map_or("OK", |failure| failure.code.as_str()),
            message: failure.map(|failure| failure.message.clone()),
            took_us,
            images: images::of_answer(&answer).into(),
            // cannot fail: the keys of all maps in an envelope are texts.
            envelope: Arc::new(serde_json::to_value(answer.envelope()).unwrap_or_default()),
        };
        trying.ended.send_replace(Some(ended));
    });
    let mut ended = one.ended.subscribe();
    let _ = tokio::time::timeout(ANSWER_WAIT, ended.wait_for(Option::is_some)).await;
    see_other(&format!("/dashboard/tries/{}", one.trace))
}

pub(super) async fn page(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    viewer: Viewer,
) -> PageResult {
    let Some(one) = dashboard.tries.find(&id, &viewer.session) else {
        return Err(viewer.missing("This try has expired or belongs to another session. The audit trail still lists the call."));
    };
    let ended = one.ended.borrow().clone();
    let again = html! { a.button href=(format!("{}?again={}", tool_page(&one.tool), one.trace)) { "Try again" } };
    let below = html! { "Tried " (time::ago(one.began_ms, viewer.now_ms)) " · trace " code { (one.trace) } };
    let running = ended.is_none();
    let needs_key = dashboard.parts.access.is_guarded();
    let pending = if running {
        waiting(&dashboard, &one, &viewer).await
    } else {
        html! {}
    };
    let body = html! {
        (heading(html! { a.plain href=(tool_page(&one.tool)) { code { (inert(&one.tool)) } } }, below, again))
        div #answer data-swap {
            @match &ended {
                Some(ended) => (shown(ended, &one)),
                None => (pending),
            }
        }
        details.block {
            summary { "Input" }
            (snippet("input", &json(&one.input), "the input"))
        }
        details.block {
            summary { "As curl" }
            (snippet("curl", &curl::command(&viewer.base_url, &one.tool, &one.input, needs_key), "the curl command"))
        }
    };
    let page = Page::new("Try", Section::Catalog, body);
    Page { poll: u32::from(running), live: if running { "approvals" } else { "" }, ..page }
        .show(&viewer)
}

fn shown(ended: &Ended, one: &Try) -> Markup {
    html! {
        div.verdict {
            @if ended.ok { (mark(Tone::Good, "OK")) } @else { (mark(Tone::Bad, ended.code)) }
            span.soft { (time::span(ended.took_us)) }
            a href=(format!("/dashboard/calls/{}", one.trace)) { "Trace" }
        }
        @if let Some(message) = &ended.message { p.fault { (inert(message)) } }
        (images::gallery(&ended.images))
        h2 { "Answer" }
        @if ended.images.is_empty() { (snippet("envelope", &json(&ended.envelope), "the answer")) }
        @else { (snippet("envelope", &json(&images::without_data(&ended.envelope)), "the answer")) }
    }
}

async fn waiting(dashboard: &Dashboard, one: &Try, viewer: &Viewer) -> Markup {
    let trace = one.trace.to_string();
    let pending = pending_approvals(dashboard, viewer.tenant()).await;
    let unread = pending.as_ref().err();
    let pending = pending.as_deref().unwrap_or_default().iter().find(|row| row.trace == trace);
    html! {
        @if let Some(unread) = unread { (unread.show()) }
        div.verdict {
            @if let Some(approval) = pending {
                (mark(Tone::Doubtful, "waiting for approval"))
                a.button href=(approval_page(&approval.id)) { "Decide" }
                (time::left(approval.deadline_unix_ms, viewer.now_ms))
            } @else {
                (mark(Tone::Quiet, "running"))
                span.soft { "The answer will appear here." }
            }
            form method="post" action=(format!("/dashboard/tries/{}", one.trace)) {
                (csrf(viewer))
                button.link type="submit" { "Cancel" }
            }
        }
    }
}

pub(super) async fn cancel(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> Response {
    if let Some(one) = dashboard.tries.find(&id, posted.session()) {
        one.cancel.cancel();
        let mut ended = one.ended.subscribe();
        let _ = tokio::time::timeout(ANSWER_WAIT, ended.wait_for(Option::is_some)).await;
        return see_other(&format!("/dashboard/tries/{}", one.trace));
    }
    posted.viewer.missing("This try has expired.")
}

/// The input of an earlier try of the same session.
pub(super) fn input(dashboard: &Dashboard, id: &str, viewer: &Viewer) -> Option<Arc<Value>> {
    dashboard.tries.find(id, &viewer.session).map(|one| Arc::clone(&one.input))
}
