//! Errors of the database driver, and what they mean for a caller.

use super::dialect;
use crate::StoreError;

/// An error of the database driver.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct SqlError(#[from] sqlx::Error);

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let code = error.as_database_error().and_then(|error| error.code());
        let lost = match &error {
            sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::PoolTimedOut => true,
            _ => code.is_some_and(|code| dialect::LOST.contains(&&*code)),
        };
        if lost { Self::Unreachable(SqlError(error)) } else { Self::Database(SqlError(error)) }
    }
}

impl StoreError {
    /// Whether the database rolled a transaction back because of another one, so that it can be repeated.
    pub(crate) fn is_conflict(&self) -> bool {
        let Self::Database(SqlError(error)) = self else { return false };
        let code = error.as_database_error().and_then(|error| error.code());
        code.is_some_and(|code| dialect::CONFLICTS.contains(&&*code))
    }

    pub(crate) fn is_unique_violation(&self) -> bool {
        let Self::Database(SqlError(error)) = self else { return false };
        error.as_database_error().is_some_and(|error| error.is_unique_violation())
    }
}
