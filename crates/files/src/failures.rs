//! Failures of file operations.

use proto::{Blame, Code, Failure};
use serde_json::json;
use store::{FileRecord, StoreError};

use super::rules::FileRules;

pub(super) fn not_found(id: &str) -> Failure {
    let shown: String = proto::clean::visible(id).chars().take(80).collect();
    let message = format!("there is no file `{shown}`; it may have expired, or was never yours");
    Failure::new(Code::NotFound, message)
}

pub(super) fn too_large(rules: &FileRules) -> Failure {
    let message = format!("the file is larger than {} bytes", rules.max_bytes);
    Failure::new(Code::InvalidInput, message).details(json!({"limit": rules.max_bytes}))
}

pub(super) fn over_quota(rules: &FileRules) -> Failure {
    let quota = rules.quota.unwrap_or(u64::MAX);
    let message = format!("all files together may have {quota} bytes; delete some first");
    Failure::new(Code::InvalidInput, message).details(json!({"quota": quota}))
}

/// The bytes of a file cannot be opened. A missing object means that the file was deleted just now.
pub(super) fn unreadable(record: &FileRecord, error: StoreError) -> Failure {
    match error {
        StoreError::NoObject(_) => not_found(record.id.as_str()).caused_by(error),
        error => storage_failed(error),
    }
}

/// The record of a file or upload cannot be read. Of a damaged one, trying again does not help.
pub(super) fn record_unreadable(what: &str, id: &str, error: StoreError) -> Failure {
    let Some(column) = error.damaged_column() else { return storage_failed(error) };
    tracing::error!(%error, id, "a stored {what} is damaged");
    let message =
        format!("what is stored of the {what} `{id}` is damaged: its {column} cannot be read");
    Failure::new(Code::Internal, message).blame(Blame::Gateway).caused_by(error)
}

pub(super) fn storage_failed(error: StoreError) -> Failure {
    tracing::error!(%error, "files cannot be stored or read");
    Failure::new(Code::Unavailable, "the file storage cannot be reached now").caused_by(error)
}
