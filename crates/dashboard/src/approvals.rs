//! Approvals: the list, one approval in full, and the decision.

mod list;
mod query;
mod row;
mod rules;
mod show;

use std::sync::Arc;

use approvals::{DecideError, Decider, Decision, Extent, Standing, Verdict};
use auth::scope;
use axum::extract::{Path, State};
use axum::response::Response;
use http::StatusCode;

use crate::layout::{PageResult, error_page};
use crate::posted::{PostedForm, see_other};
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::approval_page;
use query::{approvals_for, approved_before, find};

pub(super) use list::page;
pub(super) use query::pending_approvals;
pub(super) use row::row;
pub(super) use rules::{delete, rules};

const HOUR: u64 = 60 * 60;

pub(super) async fn one(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    viewer: Viewer,
) -> PageResult {
    let approvals = approvals_for(&dashboard, &viewer)?;
    let row = find(approvals, &viewer, &id).await?;
    let before = approved_before(approvals, &row).await;
    show::page(&dashboard, &viewer, &row, &before, None, StatusCode::OK).await
}

pub(super) async fn decide(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let viewer = &posted.viewer;
    let approvals = approvals_for(&dashboard, viewer)?;
    viewer.require(scope::APPROVALS_DECIDE)?;
    let no_decision = || {
        let text = "The form has no decision.";
        error_page(viewer, StatusCode::BAD_REQUEST, "Decision failed", text)
    };
    let decision = decision(&posted).ok_or_else(no_decision)?;
    let decider = Decider::Person(Arc::clone(viewer.principal()));
    match approvals.decide(&id, &decider, decision).await {
        Ok(row) => Ok(see_other(&approval_page(&row.id))),
        Err(DecideError::Over(row)) => {
            let before = approved_before(approvals, &row).await;
            let late = format!("Already decided: the approval is {}.", row.state);
            let (row, status) = (&row, StatusCode::CONFLICT);
            show::page(&dashboard, viewer, row, &before, Some(&late), status).await
        }
        Err(undecided) => Err(refuse(viewer, &undecided)),
    }
}

fn refuse(viewer: &Viewer, undecided: &DecideError) -> Response {
    let status = match undecided {
        DecideError::Unknown(_) => StatusCode::NOT_FOUND,
        DecideError::Agent | DecideError::OwnCall => StatusCode::FORBIDDEN,
        DecideError::Over(_) => StatusCode::CONFLICT,
        DecideError::Invalid(_) | DecideError::Damaged(_) => StatusCode::BAD_REQUEST,
        DecideError::Store(error) => {
            tracing::warn!(%error, "cannot store a decision");
            let text = "The decision could not be stored. Try again.";
            return error_page(viewer, StatusCode::SERVICE_UNAVAILABLE, "Decision failed", text);
        }
    };
    error_page(viewer, status, "Decision failed", &undecided.to_string())
}

fn decision(posted: &PostedForm) -> Option<Decision> {
    let verdict = match posted.text("decision") {
        "approve" => Verdict::Approve,
        "reject" => Verdict::Reject,
        _ => return None,
    };
    let reason = Some(posted.text("reason").trim().to_owned()).filter(|text| !text.is_empty());
    // A rejection has no standing rule, whatever was selected.
    let standing = match verdict {
        Verdict::Approve => standing(posted.text("standing"))?,
        Verdict::Reject => None,
    };
    Some(Decision { decision: verdict, reason, standing })
}

/// The standing rule for a value of the form; `None` for an unknown value.
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
