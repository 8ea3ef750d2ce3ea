//! Failures of tools that run a process.

use egress::process::RunError;
use proto::{Blame, Code, Failure};

use crate::contract;

/// The failure for a process that gave no result.
pub(super) fn run_failure(error: RunError) -> Failure {
    if error.is_exhausted() {
        let message = "the gateway has no free file descriptors or processes at present; try again";
        return Failure::new(Code::Unavailable, message).blame(Blame::Gateway).caused_by(error);
    }
    match error {
        RunError::NotFound { .. }
        | RunError::Tier(_)
        | RunError::Exposed { .. }
        | RunError::Sandbox { .. }
        | RunError::Exec { .. } => Failure::new(Code::Unsupported, error.to_string()),
        RunError::Changed { .. } => code_changed().caused_by(error),
        // Most likely the disk is full, which may pass.
        RunError::Scratch(_) => {
            Failure::new(Code::Unavailable, "there is no room for the tool's private folder")
                .caused_by(error)
        }
        RunError::TimedOut { .. } => Failure::new(Code::Timeout, error.to_string()),
        RunError::Cancelled { .. } => Failure::new(Code::Unavailable, "the call was cancelled"),
        RunError::FolderFull { .. } => contract::unreadable(error.to_string()),
        RunError::TooMuchOutput { size, limit, .. } => contract::too_large(size, limit),
        RunError::WorkingFolder { .. }
        | RunError::Launcher(_)
        | RunError::NoLauncher
        | RunError::Pipe(_) => Failure::new(Code::Internal, "the tool could not be started")
            .blame(Blame::Gateway)
            .caused_by(error),
    }
}

/// The code on disk is not the code that was approved.
pub(super) fn code_changed() -> Failure {
    Failure::new(
        Code::Denied,
        "the tool's code changed after the call was approved, so it was not run; call again to ask for a new approval",
    )
    .retryable(true)
}
