use std::time::Duration;

use prompts::template::MAX_DEPTH;
use proto::{Code, Failure};
use serde_json::json;
use store::StoreError;

use crate::approval::Damage;

/// Why a gated call does not run.
#[derive(Debug)]
pub(crate) enum ApprovalError {
    NotSetUp,
    /// A reviewer could not be shown the arguments.
    TooDeep,
    Rejected {
        id: String,
        reason: Option<String>,
    },
    Expired {
        id: String,
        timeout: Duration,
    },
    Cancelled {
        id: String,
        reason: Option<String>,
    },
    /// The tool is not what the reviewer saw.
    ToolChanged,
    CallerLeft,
    /// The caller lost its access while the call waited, for this reason.
    CallerGone(String),
    ShuttingDown,
    Unreadable(StoreError),
    /// The files of the call cannot be written down for a reviewer.
    Unshowable(serde_json::Error),
    /// What is stored of the call cannot be shown to a reviewer.
    Damaged(Damage),
    /// What `approvals` refused.
    Refused(Failure),
}

impl From<Damage> for ApprovalError {
    fn from(damage: Damage) -> Self {
        Self::Damaged(damage)
    }
}

impl From<Failure> for ApprovalError {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}

impl From<ApprovalError> for Failure {
    fn from(error: ApprovalError) -> Self {
        let unavailable = |message: &str| Failure::new(Code::Unavailable, message);
        match error {
            ApprovalError::NotSetUp => Failure::new(
                Code::Denied,
                "the call must be approved, and approvals are not set up",
            ),
            ApprovalError::TooDeep => {
                let message = format!(
                    "the call must be approved, and an argument is nested deeper than the {MAX_DEPTH} levels that a reviewer can be shown"
                );
                Failure::new(Code::InvalidInput, message)
            }
            ApprovalError::Rejected { id, reason } => {
                let details = json!({"approval": id, "state": "rejected", "reason": reason});
                denied("a reviewer rejected the call", reason).details(details)
            }
            ApprovalError::Cancelled { id, reason } => {
                let details = json!({"approval": id, "state": "cancelled", "reason": reason});
                denied("the request for approval was cancelled", reason).details(details)
            }
            ApprovalError::Expired { id, timeout } => {
                let seconds = timeout.as_secs_f64();
                let message =
                    format!("no decision about the call within {seconds} s, so it was not run");
                Failure::new(Code::Denied, message)
                    .details(json!({"approval": id, "state": "expired"}))
            }
            ApprovalError::ToolChanged => {
                let message = "the tool changed while a person decided about the call, so it was not run; call again to ask again";
                Failure::new(Code::Denied, message).retryable(true)
            }
            ApprovalError::CallerGone(why) => {
                let message = format!(
                    "the caller lost its access while the call waited for approval ({why}), so it was not run"
                );
                Failure::new(Code::Denied, message)
            }
            ApprovalError::CallerLeft => {
                unavailable("the caller cancelled the call; nothing was run")
            }
            ApprovalError::ShuttingDown => unavailable(
                "the gateway is shutting down; the approval stays pending, call again to continue",
            ),
            ApprovalError::Unreadable(error) => {
                let failure = match error.damaged_column() {
                    Some(column) => Self::from(ApprovalError::Damaged(Damage::Row { column })),
                    None => unavailable("the approval cannot be read at present; nothing was run"),
                };
                failure.caused_by(error)
            }
            ApprovalError::Unshowable(error) => {
                let message = "the call cannot be shown to a reviewer, so it was not run";
                Failure::new(Code::Internal, message).caused_by(error)
            }
            ApprovalError::Damaged(damage) => Failure::new(Code::Internal, damage.to_string()),
            ApprovalError::Refused(failure) => failure,
        }
    }
}

fn denied(what: &str, reason: Option<String>) -> Failure {
    let message = match reason {
        Some(reason) => format!("{what}: {reason}"),
        None => what.to_owned(),
    };
    Failure::new(Code::Denied, message)
}
