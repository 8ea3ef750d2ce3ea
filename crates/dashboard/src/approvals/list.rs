use axum::extract::{Query, State};
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use strip::{ApprovalFilter, ApprovalRow, ApprovalState};

use super::{MAX_WAITING, desk, listed, place, waiting_after};
use crate::layout::{Page, Room, heading};
use crate::state::Dashboard;
use crate::time;
use crate::viewer::Viewer;
use crate::words::{Tone, count, empty, in_url, mark, short};

/// How many that are decided are shown.
const LATELY: u32 = 30;

/// Which page of what waits is meant.
#[derive(Deserialize)]
pub(crate) struct Wanted {
    /// The last that the page before shows: when it was made, and its id.
    after: Option<String>,
}

impl Wanted {
    fn place(&self) -> Option<(u64, String)> {
        let (created, id) = self.after.as_deref()?.split_once('_')?;
        Some((created.parse().ok()?, id.to_owned()))
    }
}

pub(crate) async fn page(
    State(board): State<Dashboard>,
    Query(wanted): Query<Wanted>,
    viewer: Viewer,
) -> Response {
    let approvals = match desk(&board, &viewer) {
        Ok(approvals) => approvals,
        Err(refusal) => return refusal,
    };
    let after = wanted.place();
    let first = after.is_none();
    let pending = waiting_after(approvals, viewer.tenant(), after).await;
    // A caller who sends many does not hide what others sent after them.
    let next = pending.last().filter(|_| pending.len() == MAX_WAITING as usize);
    let next = next.map(|row| format!("?after={}_{}", row.created_unix_ms, in_url(&row.id)));
    let mut decided = Vec::new();
    for state in [
        ApprovalState::Consumed,
        ApprovalState::Approved,
        ApprovalState::Rejected,
        ApprovalState::Expired,
        ApprovalState::Cancelled,
    ] {
        let filter = ApprovalFilter {
            tenant: viewer.tenant(),
            state: Some(state),
            limit: LATELY,
            ..ApprovalFilter::default()
        };
        decided.extend(listed(approvals, &filter).await);
    }
    decided.sort_by_key(|row| std::cmp::Reverse(row.decided_unix_ms));
    decided.truncate(LATELY as usize);
    let actions = html! { a href="/dashboard/rules" { "Standing rules" } };
    let body = html! {
        (heading(html! { "Approvals" }, html! { span #waiting-count data-swap { (count(pending.len(), "call waits", "calls wait")) " for a person" @if next.is_some() || !first { " on this page" } } }, actions))
        div #waiting data-swap {
            @if pending.is_empty() {
                (empty("Nothing waits", html! {
                    p { "When an agent calls a tool whose skill says " code { "auto_approve: false" } ", the call waits here until you decide." }
                    p { "This page tells you at once." }
                }))
            } @else {
                ul.rows { @for one in &pending { (row(one, &viewer)) } }
            }
            @if !first { p { a href="/dashboard/approvals" { "The oldest" } } }
            @if let Some(next) = &next { p { a #later href=(next) { "Those that came later" } } }
        }
        h2 { "Decided lately" }
        div #decided data-swap {
            @if decided.is_empty() { p.soft { "Nothing yet." } } @else {
                ul.rows { @for one in &decided { (row(one, &viewer)) } }
            }
        }
        // Without script, the page looks again by itself.
        noscript { meta http-equiv="refresh" content="10"; }
    };
    Page { live: "approvals", ..Page::new("Approvals", Room::Approvals, body) }.show(&viewer)
}

/// A confirmation as a line of a list.
pub(crate) fn row(row: &ApprovalRow, viewer: &Viewer) -> Markup {
    let arguments = row.arguments.as_deref();
    let arguments =
        arguments.map_or_else(|| format!("{} bytes", row.arguments_bytes), |text| short(text, 160));
    html! {
        li {
            a.row href=(place(&row.id)) data-approval=(row.id) {
                span.row-name { code { (short(&row.tool, 60)) } }
                span.row-more {
                    @if let Some(agent) = &row.agent { (short(agent, 40)) " for " }
                    (short(&row.owner, 40)) " · " code { (arguments) }
                }
                span.row-end {
                    @if row.state == ApprovalState::Pending {
                        (time::left(row.deadline_unix_ms, viewer.now_ms))
                    } @else {
                        (state(row.state)) " "
                        @if let Some(at) = row.decided_unix_ms { span.soft { (time::ago(at, viewer.now_ms)) } }
                    }
                }
            }
        }
    }
}

/// How far a confirmation has come, in a word.
pub(super) fn state(state: ApprovalState) -> Markup {
    let (tone, word) = match state {
        ApprovalState::Pending => (Tone::Doubtful, "waits"),
        ApprovalState::Approved => (Tone::Good, "approved"),
        ApprovalState::Consumed => (Tone::Good, "approved, ran"),
        ApprovalState::Rejected => (Tone::Bad, "rejected"),
        ApprovalState::Expired => (Tone::Quiet, "expired"),
        ApprovalState::Cancelled => (Tone::Quiet, "cancelled"),
    };
    mark(tone, word)
}
