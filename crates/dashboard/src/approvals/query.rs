//! Queries of approvals.

use std::sync::Arc;

use approvals::{ApprovalFilter, ApprovalRow, ApprovalState, Approvals, Listed};
use auth::scope;
use axum::response::Response;
use http::StatusCode;

use crate::layout::error_page;
use crate::state::Dashboard;
use crate::unreadable::Unreadable;
use crate::viewer::Viewer;

/// How many pending approvals are shown at once.
pub(super) const MAX_PENDING: u32 = 100;

/// How many decided approvals are searched for an earlier call of the same tool.
const MAX_SEARCHED: u32 = 200;

/// The pending approvals of a tenant, or of all tenants; the oldest first.
pub(crate) async fn pending_approvals(
    dashboard: &Dashboard,
    tenant: Option<String>,
) -> Result<Vec<ApprovalRow>, Unreadable> {
    let Some(approvals) = dashboard.parts.strip.approvals() else { return Ok(Vec::new()) };
    Ok(pending_after(approvals, tenant, None).await?.rows)
}

/// One page of the pending approvals; the oldest first.
pub(super) async fn pending_after(
    approvals: &Approvals,
    tenant: Option<String>,
    after: Option<(u64, String)>,
) -> Result<Listed<ApprovalRow>, Unreadable> {
    let state = Some(ApprovalState::Pending);
    list(approvals, &ApprovalFilter { tenant, state, after, limit: MAX_PENDING }).await
}

pub(super) async fn list(
    approvals: &Approvals,
    filter: &ApprovalFilter,
) -> Result<Listed<ApprovalRow>, Unreadable> {
    approvals.list(filter).await.map_err(|error| Unreadable::log("The approvals", &error))
}

/// The approvals, if the viewer may see them; otherwise the page to answer with.
pub(super) fn approvals_for<'a>(
    dashboard: &'a Dashboard,
    viewer: &Viewer,
) -> Result<&'a Arc<Approvals>, Response> {
    viewer.require(scope::APPROVALS_READ)?;
    let none = || viewer.missing("This gateway has no approvals.");
    dashboard.parts.strip.approvals().ok_or_else(none)
}

pub(super) async fn find(
    approvals: &Approvals,
    viewer: &Viewer,
    id: &str,
) -> Result<ApprovalRow, Response> {
    let missing = || viewer.missing("This approval does not exist, or you may not see it.");
    match approvals.get(viewer.tenant().as_deref(), id).await {
        Ok(row) => row.ok_or_else(missing),
        Err(error) if error.damaged_column().is_some() => {
            tracing::warn!(%error, approval = id, "an approval cannot be read");
            let text = format!(
                "The stored approval {id} is damaged, so it is unknown what would be approved. Reject it with powerstrip approvals reject {id}."
            );
            Err(error_page(viewer, StatusCode::INTERNAL_SERVER_ERROR, "Not available", &text))
        }
        Err(error) => Err(Unreadable::log("The approvals", &error).page(viewer)),
    }
}

/// The last approved call of the same tool in the same tenant.
pub(super) async fn approved_before(
    approvals: &Approvals,
    row: &ApprovalRow,
) -> Result<Option<ApprovalRow>, Unreadable> {
    let mut latest: Option<ApprovalRow> = None;
    for state in [ApprovalState::Consumed, ApprovalState::Approved] {
        let filter = ApprovalFilter {
            tenant: Some(row.tenant.clone()),
            state: Some(state),
            limit: MAX_SEARCHED,
            ..ApprovalFilter::default()
        };
        let earlier = list(approvals, &filter).await?.rows.into_iter().filter(|other| {
            other.tool == row.tool
                && other.id != row.id
                && other.created_unix_ms <= row.created_unix_ms
        });
        latest = earlier.chain(latest).max_by_key(|other| other.created_unix_ms);
    }
    // Lists omit long arguments.
    let Some(latest) = latest else { return Ok(None) };
    let whole = approvals.get(Some(&row.tenant), &latest.id).await;
    whole.map_err(|error| Unreadable::log("The approvals", &error))
}
