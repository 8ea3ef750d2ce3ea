//! Calls that wait for a person: what is asked, all of it, and the decision.

mod list;
mod rules;
mod show;

use std::sync::Arc;

use auth::scope;
use axum::extract::{Path, State};
use axum::response::Response;
use http::StatusCode;
use strip::approval::{Approvals, Decider, Decision, Extent, Standing, Undecided, Verdict};
use strip::{ApprovalFilter, ApprovalRow, ApprovalState, Failure};

use crate::layout;
use crate::posted::{Posted, see_other};
use crate::state::Dashboard;
use crate::viewer::Viewer;

pub(super) use list::{page, row};
pub(super) use rules::{forget, rules};

const HOUR: u64 = 60 * 60;

/// How many that wait are ever shown at once.
const MAX_WAITING: u32 = 100;

/// How many of those that are decided are looked through for an earlier call of the same tool.
const LOOKED_THROUGH: u32 = 200;

/// The page of a confirmation.
pub(super) fn place(id: &str) -> String {
    format!("/dashboard/approvals/{}", super::words::in_url(id))
}

/// What waits and may be seen, the oldest first.
pub(super) async fn waiting(board: &Dashboard, tenant: Option<String>) -> Vec<ApprovalRow> {
    let Some(approvals) = board.parts.strip.approvals() else { return Vec::new() };
    waiting_after(approvals, tenant, None).await
}

/// A page of what waits and may be seen, the oldest first.
async fn waiting_after(
    approvals: &Approvals,
    tenant: Option<String>,
    after: Option<(u64, String)>,
) -> Vec<ApprovalRow> {
    let state = Some(ApprovalState::Pending);
    listed(approvals, &ApprovalFilter { tenant, state, after, limit: MAX_WAITING }).await
}

async fn listed(approvals: &Approvals, filter: &ApprovalFilter) -> Vec<ApprovalRow> {
    approvals.list(filter).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "confirmations cannot be listed");
        Vec::new()
    })
}

/// What the viewer may look at; otherwise the page that says so.
fn desk<'a>(board: &'a Dashboard, viewer: &Viewer) -> Result<&'a Arc<Approvals>, Response> {
    if !viewer.may(scope::APPROVALS_READ) {
        return Err(viewer.refused(scope::APPROVALS_READ));
    }
    let none = || viewer.missing("This process asks nobody for approval.");
    board.parts.strip.approvals().ok_or_else(none)
}

async fn found(approvals: &Approvals, viewer: &Viewer, id: &str) -> Result<ApprovalRow, Response> {
    let missing = || viewer.missing("There is no such confirmation, or it is not for you to see.");
    match approvals.get(viewer.tenant().as_deref(), id).await {
        Ok(row) => row.ok_or_else(missing),
        Err(error) => {
            tracing::warn!(%error, "a confirmation cannot be read");
            Err(missing())
        }
    }
}

pub(super) async fn one(
    State(board): State<Dashboard>,
    Path(id): Path<String>,
    viewer: Viewer,
) -> Response {
    let shown = async {
        let approvals = desk(&board, &viewer)?;
        let row = found(approvals, &viewer, &id).await?;
        let before = approved_before(approvals, &row).await;
        Ok(show::page(&board, &viewer, &row, before.as_ref(), None, StatusCode::OK).await)
    };
    shown.await.unwrap_or_else(|refusal| refusal)
}

/// The last call of the same tool in the same tenant that was approved.
async fn approved_before(approvals: &Approvals, row: &ApprovalRow) -> Option<ApprovalRow> {
    let mut latest: Option<ApprovalRow> = None;
    for state in [ApprovalState::Consumed, ApprovalState::Approved] {
        let filter = ApprovalFilter {
            tenant: Some(row.tenant.clone()),
            state: Some(state),
            limit: LOOKED_THROUGH,
            ..ApprovalFilter::default()
        };
        let earlier = listed(approvals, &filter).await.into_iter().filter(|other| {
            other.tool == row.tool
                && other.id != row.id
                && other.created_unix_ms <= row.created_unix_ms
        });
        latest = earlier.chain(latest).max_by_key(|other| other.created_unix_ms);
    }
    // A list leaves long arguments out.
    let latest = latest?;
    approvals.get(Some(&row.tenant), &latest.id).await.ok().flatten()
}

pub(super) async fn decide(
    State(board): State<Dashboard>,
    Path(id): Path<String>,
    posted: Posted,
) -> Response {
    let viewer = &posted.viewer;
    let decided = async {
        let approvals = desk(&board, viewer)?;
        if !viewer.may(scope::APPROVALS_DECIDE) {
            return Err(viewer.refused(scope::APPROVALS_DECIDE));
        }
        let decision = decision(&posted).ok_or_else(|| {
            layout::trouble(
                viewer,
                StatusCode::BAD_REQUEST,
                "Not decided",
                "The form says neither yes nor no.",
            )
        })?;
        let decider = Decider::Person(Arc::clone(viewer.principal()));
        match approvals.decide(&id, &decider, decision).await {
            Ok(row) => Ok(see_other(&place(&row.id))),
            Err(Undecided::Over(row)) => {
                let before = approved_before(approvals, &row).await;
                let late =
                    format!("Somebody, or the deadline, was faster: it is {} already.", row.state);
                let (row, status) = (&row, StatusCode::CONFLICT);
                Ok(show::page(&board, viewer, row, before.as_ref(), Some(&late), status).await)
            }
            Err(undecided) => Err(refused(viewer, &undecided)),
        }
    };
    decided.await.unwrap_or_else(|refusal| refusal)
}

fn refused(viewer: &Viewer, undecided: &Undecided) -> Response {
    let status = match undecided {
        Undecided::Unknown(_) => StatusCode::NOT_FOUND,
        Undecided::Agent | Undecided::OwnCall => StatusCode::FORBIDDEN,
        Undecided::Over(_) => StatusCode::CONFLICT,
        Undecided::Invalid(_) => StatusCode::BAD_REQUEST,
        Undecided::Store(error) => {
            tracing::warn!(%error, "a decision could not be kept");
            let failure =
                Failure::new(proto::Code::Unavailable, "It could not be written down; try again.");
            return layout::trouble(
                viewer,
                StatusCode::SERVICE_UNAVAILABLE,
                "Not decided",
                &failure.message,
            );
        }
    };
    layout::trouble(viewer, status, "Not decided", &undecided.to_string())
}

fn decision(posted: &Posted) -> Option<Decision> {
    let verdict = match posted.text("decision") {
        "approve" => Verdict::Approve,
        "reject" => Verdict::Reject,
        _ => return None,
    };
    let reason = Some(posted.text("reason").trim().to_owned()).filter(|text| !text.is_empty());
    // A choice that was made before somebody thought better of it does not stand.
    let standing = match verdict {
        Verdict::Approve => standing(posted.text("standing"))?,
        Verdict::Reject => None,
    };
    Some(Decision { decision: verdict, reason, standing })
}

/// How long an approval stands, by the word of the form; none for a word that is not of the form.
fn standing(word: &str) -> Option<Option<Standing>> {
    let rule = |arguments, run, hours| {
        Some(Some(Standing { arguments, run, seconds: Some(hours * HOUR) }))
    };
    match word {
        "" | "once" => Some(None),
        "these-hour" => rule(Extent::These, false, 1),
        "these-month" => rule(Extent::These, false, 30 * 24),
        "any-hour" => rule(Extent::Any, false, 1),
        "these-run" => rule(Extent::These, true, 24),
        "any-run" => rule(Extent::Any, true, 24),
        _ => None,
    }
}
