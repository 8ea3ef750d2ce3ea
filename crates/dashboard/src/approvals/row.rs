//! An approval as a row of a list.

use approvals::{ApprovalRow, ApprovalState, stored_arguments};
use maud::{Markup, html};

use crate::time;
use crate::viewer::Viewer;
use crate::words::{Tone, approval_page, mark, short};

pub(crate) fn row(row: &ApprovalRow, viewer: &Viewer) -> Markup {
    let arguments = match &row.arguments {
        None => format!("{} bytes", row.arguments_bytes),
        Some(text) if stored_arguments(row).is_ok() => short(text, 160),
        Some(_) => "damaged arguments".to_owned(),
    };
    html! {
        li {
            a.row href=(approval_page(&row.id)) data-approval=(row.id) {
                span.row-name { code { (short(&row.tool, 60)) } }
                span.row-more {
                    @if let Some(agent) = &row.agent { (short(agent, 40)) " for " }
                    (short(&row.owner, 40)) " · " code { (arguments) }
                    @if let Some(reason) = &row.request_reason { " · " (short(reason, 120)) }
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

/// The state of an approval.
pub(super) fn state(state: ApprovalState) -> Markup {
    let (tone, word) = match state {
        ApprovalState::Pending => (Tone::Doubtful, "pending"),
        ApprovalState::Approved => (Tone::Good, "approved"),
        ApprovalState::Consumed => (Tone::Good, "approved, ran"),
        ApprovalState::Rejected => (Tone::Bad, "rejected"),
        ApprovalState::Expired => (Tone::Quiet, "expired"),
        ApprovalState::Cancelled => (Tone::Quiet, "cancelled"),
    };
    mark(tone, word)
}
