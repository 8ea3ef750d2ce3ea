//! The operations of this crate, and how their errors relate to failures of calls.

use std::sync::Arc;

use ::operations::{OperationError, Table};

use crate::{Failure, Strip, approval};

/// All operations that work on a strip.
pub fn table(strip: &Arc<Strip>) -> Table {
    approval::operations::table(strip)
}

impl From<Failure> for OperationError {
    fn from(failure: Failure) -> Self {
        if let Some(cause) = &failure.source {
            tracing::warn!(%cause, "{}", failure.message);
        }
        Self {
            retryable: failure.retryable,
            details: failure.details,
            retry_after: failure.retry_after,
            ..Self::new(failure.code, failure.message)
        }
    }
}

impl From<OperationError> for Failure {
    fn from(error: OperationError) -> Self {
        Self {
            details: error.details,
            retry_after: error.retry_after,
            ..Self::new(error.code, error.message).retryable(error.retryable)
        }
    }
}
