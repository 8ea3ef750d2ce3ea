//! Calls that people try from the dashboard: they go on in the background, so that a reload repeats nothing and a call
//! that waits for approval keeps nobody's browser busy.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use auth::Session;
use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use proto::TraceId;
use serde_json::Value;
use strip::{Door, Request};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::layout::{Page, Room, csrf, heading};
use crate::posted::{Posted, see_other};
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::{Tone, inert, json, mark, tool_page};
use crate::{approvals, time};

/// The oldest are forgotten first.
const MAX_TRIES: usize = 100;

/// Most calls are over by then, and the next page shows the answer at once.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// One call that somebody tried.
pub(super) struct Try {
    session: Arc<Session>,
    tool: String,
    input: Arc<Value>,
    trace: TraceId,
    began_ms: u64,
    cancel: CancellationToken,
    ended: watch::Sender<Option<Ended>>,
}

/// How it ended.
#[derive(Clone)]
struct Ended {
    ok: bool,
    code: &'static str,
    message: Option<String>,
    envelope: Arc<Value>,
    took_us: u64,
}

/// The latest tries of everybody.
#[derive(Default)]
pub(super) struct Tries(Mutex<VecDeque<Arc<Try>>>);

impl Tries {
    fn list(&self) -> MutexGuard<'_, VecDeque<Arc<Try>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, new: &Arc<Try>) {
        let mut list = self.list();
        list.push_back(Arc::clone(new));
        while list.len() > MAX_TRIES {
            list.pop_front();
        }
    }

    fn find(&self, id: &str, session: &Arc<Session>) -> Option<Arc<Try>> {
        let list = self.list();
        let own =
            |one: &&Arc<Try>| Arc::ptr_eq(&one.session, session) && one.trace.to_string() == id;
        list.iter().find(own).cloned()
    }

    /// Forgets what belongs to a session that has ended; calls under way are cancelled.
    pub(super) fn forget(&self, session: &Arc<Session>) {
        self.list().retain(|one| {
            let own = Arc::ptr_eq(&one.session, session);
            if own {
                one.cancel.cancel();
            }
            !own
        });
    }
}

/// Begins a call as the person of a session, waits a moment for it, and says where its answer is shown.
pub(super) async fn begin(
    board: &Dashboard,
    viewer: &Viewer,
    tool: &str,
    input: Value,
) -> Response {
    let mut call = Request::new(tool, input, Arc::clone(viewer.principal()), Door::Dashboard);
    call.cancel = board.parts.shutdown.child_token();
    let one = Arc::new(Try {
        session: Arc::clone(&viewer.session),
        tool: tool.to_owned(),
        input: Arc::clone(&call.input),
        trace: call.trace,
        began_ms: viewer.now_ms,
        cancel: call.cancel.clone(),
        ended: watch::Sender::new(None),
    });
    board.tries.keep(&one);
    let (strip, trying) = (Arc::clone(&board.parts.strip), Arc::clone(&one));
    tokio::spawn(async move {
        let began = tokio::time::Instant::now();
        let answer = strip.call(call).await;
        let took_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let failure = answer.result.as_ref().err();
        let ended = Ended {
            ok: failure.is_none(),
            code: failure.map_or("OK", |failure| failure.code.as_str()),
            message: failure.map(|failure| failure.message.clone()),
            // An envelope always serialises.
            envelope: Arc::new(serde_json::to_value(answer.envelope()).unwrap_or_default()),
            took_us,
        };
        trying.ended.send_replace(Some(ended));
    });
    let mut ended = one.ended.subscribe();
    let _ = tokio::time::timeout(PATIENCE, ended.wait_for(Option::is_some)).await;
    see_other(&format!("/dashboard/tries/{}", one.trace))
}

pub(super) async fn page(
    State(board): State<Dashboard>,
    Path(id): Path<String>,
    viewer: Viewer,
) -> Response {
    let Some(one) = board.tries.find(&id, &viewer.session) else {
        return viewer.missing("This try is forgotten, or was somebody else's. The audit trail keeps that it happened.");
    };
    let ended = one.ended.borrow().clone();
    let again = html! { a.button href=(format!("{}?again={}", tool_page(&one.tool), one.trace)) { "Try again" } };
    let below = html! { "Tried " (time::ago(one.began_ms, viewer.now_ms)) " · trace " code { (one.trace) } };
    let running = ended.is_none();
    let pending = if running {
        waiting(&board, &one, &viewer).await
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
            pre.code tabindex="0" { (json(&one.input)) }
        }
    };
    let page = Page::new("Try", Room::Catalog, body);
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
        h2 { "Answer" }
        pre.code tabindex="0" { (json(&ended.envelope)) }
    }
}

async fn waiting(board: &Dashboard, one: &Try, viewer: &Viewer) -> Markup {
    let trace = one.trace.to_string();
    let asked = approvals::waiting(board, viewer.tenant()).await;
    let asked = asked.iter().find(|row| row.trace == trace);
    html! {
        div.verdict {
            @if let Some(asked) = asked {
                (mark(Tone::Doubtful, "waits for approval"))
                a.button href=(approvals::place(&asked.id)) { "Decide" }
                (time::left(asked.deadline_unix_ms, viewer.now_ms))
            } @else {
                (mark(Tone::Quiet, "running"))
                span.soft { "This page shows the answer when it is there." }
            }
            form method="post" action=(format!("/dashboard/tries/{}", one.trace)) {
                (csrf(viewer))
                button.link type="submit" { "Cancel" }
            }
        }
    }
}

pub(super) async fn cancel(
    State(board): State<Dashboard>,
    Path(id): Path<String>,
    posted: Posted,
) -> Response {
    if let Some(one) = board.tries.find(&id, posted.session()) {
        one.cancel.cancel();
        let mut ended = one.ended.subscribe();
        let _ = tokio::time::timeout(PATIENCE, ended.wait_for(Option::is_some)).await;
        return see_other(&format!("/dashboard/tries/{}", one.trace));
    }
    posted.viewer.missing("This try is forgotten.")
}

/// The input of an earlier try of the same session.
pub(super) fn input(board: &Dashboard, id: &str, viewer: &Viewer) -> Option<Arc<Value>> {
    board.tries.find(id, &viewer.session).map(|one| Arc::clone(&one.input))
}
