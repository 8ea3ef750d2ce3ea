//! The list of approvals.

use approvals::{ApprovalFilter, ApprovalState};
use axum::extract::{Query, State};
use maud::html;
use serde::Deserialize;

use super::query::{approvals_for, list, pending_after};
use super::row::row;
use crate::layout::{Page, PageResult, Section, heading};
use crate::state::Dashboard;
use crate::unreadable::damaged_rows;
use crate::viewer::Viewer;
use crate::words::{count, empty, in_url};

/// How many decided approvals are shown.
const MAX_DECIDED: u32 = 30;

/// Which page of the pending approvals to show.
#[derive(Deserialize)]
pub(crate) struct Params {
    /// The time and id of the last approval on the previous page.
    after: Option<String>,
}

impl Params {
    fn position(&self) -> Option<(u64, String)> {
        let (created, id) = self.after.as_deref()?.split_once('_')?;
        Some((created.parse().ok()?, id.to_owned()))
    }
}

pub(crate) async fn page(
    State(dashboard): State<Dashboard>,
    Query(params): Query<Params>,
    viewer: Viewer,
) -> PageResult {
    let approvals = approvals_for(&dashboard, &viewer)?;
    let after = params.position();
    let first = after.is_none();
    let pending = pending_after(approvals, viewer.tenant(), after).await;
    let pending = pending.map_err(|unread| unread.page(&viewer))?;
    // Paged, so that a caller with many pending calls does not hide those of others.
    let next = pending.next.map(|(created, id)| format!("?after={created}_{}", in_url(&id)));
    let (pending, damaged) = (pending.rows, pending.damaged);
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
            limit: MAX_DECIDED,
            ..ApprovalFilter::default()
        };
        let found = list(approvals, &filter).await;
        decided.extend(found.map_err(|unread| unread.page(&viewer))?.rows);
    }
    decided.sort_by_key(|row| std::cmp::Reverse(row.decided_unix_ms));
    decided.truncate(MAX_DECIDED as usize);
    let actions = html! { a href="/dashboard/rules" { "Standing rules" } };
    let body = html! {
        (heading(html! { "Approvals" }, html! { span #waiting-count data-swap { (count(pending.len(), "pending approval", "pending approvals")) @if next.is_some() || !first { " on this page" } } }, actions))
        div #waiting data-swap {
            (damaged_rows("approval", &damaged))
            @if pending.is_empty() {
                (empty("No pending approvals", html! {
                    p { "When an agent calls a tool whose skill has " code { "auto_approve: false" } ", the call waits here for your decision." }
                    p { "This page updates automatically." }
                }))
            } @else {
                ul.rows data-steps { @for one in &pending { (row(one, &viewer)) } }
                p.hint.after.keyboard { kbd { "j" } " " kbd { "k" } " select, " kbd { "Enter" } " opens, " kbd { "a" } " approves and " kbd { "r" } " rejects after a second press." }
            }
            @if !first { p { a href="/dashboard/approvals" { "Oldest" } } }
            @if let Some(next) = &next { p { a #later href=(next) { "Newer" } } }
        }
        h2 { "Recently decided" }
        div #decided data-swap {
            @if decided.is_empty() { p.soft { "None yet." } } @else {
                ul.rows { @for one in &decided { (row(one, &viewer)) } }
            }
        }
        // Without scripts, the browser reloads the page.
        noscript { meta http-equiv="refresh" content="10"; }
    };
    Page { live: "approvals", ..Page::new("Approvals", Section::Approvals, body) }.show(&viewer)
}
