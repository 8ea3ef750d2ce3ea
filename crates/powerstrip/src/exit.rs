//! How commands end other than by success.

use std::process::ExitCode;

/// The exit code of a command that failed.
pub(crate) const FAILED: ExitCode = ExitCode::FAILURE;

/// Flags or arguments that do not fit together.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);
