//! What goes wrong with files, in words for whoever named them.

use proto::Code;
use serde_json::json;
use store::{FileRecord, StoreError};

use super::FileRules;
use crate::Failure;

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

/// The record is there and its bytes are not: it went away a moment ago, or the storage lost it.
pub(super) fn unreadable(record: &FileRecord, error: StoreError) -> Failure {
    match error {
        StoreError::NoObject(_) => not_found(record.id.as_str()).caused_by(error),
        error => broken(error),
    }
}

pub(super) fn broken(error: StoreError) -> Failure {
    tracing::error!(%error, "files cannot be stored or read");
    Failure::new(Code::Unavailable, "the file storage cannot be reached now").caused_by(error)
}
