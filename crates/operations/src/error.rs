use std::time::Duration;

use proto::{Code, Failure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Why an operation failed, the same over REST, the sockets and in commands.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct OperationError {
    pub code: Code,
    pub message: String,
    pub retryable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Whether the request lost against an earlier one (409 over HTTP, whatever the code).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conflict: bool,
    #[serde(skip)]
    pub retry_after: Option<Duration>,
    /// Whether it is the failure of a call, which has its audit row.
    #[serde(skip)]
    pub recorded: bool,
}

impl OperationError {
    /// An error with its code's usual retry advice.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            retryable: code.retryable(),
            details: None,
            conflict: false,
            retry_after: None,
            recorded: false,
        }
    }

    /// The failure of a call, which has its audit row.
    pub fn of_call(failure: Failure) -> Self {
        Self { recorded: true, ..Self::from(failure) }
    }

    /// The input is not acceptable.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidInput, message)
    }

    /// The named thing does not exist for this caller.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Code::NotFound, message)
    }

    /// An earlier request has settled the matter already.
    pub fn conflict(message: impl Into<String>, details: Value) -> Self {
        Self { conflict: true, details: Some(details), ..Self::new(Code::Denied, message) }
    }
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
