//! The files of a call as a reviewer sees them.

use std::sync::Arc;

use files::{FileRecord, Files, hex};
use proto::{Code, Failure, FileId, Principal};
use serde_json::{Value, json};

use crate::Job;
use crate::approval::ShownFile;

/// The most files that a reviewer sees.
const MAX_SHOWN: usize = 32;

/// A file as a reviewer sees it, under the id that the arguments use.
pub(super) fn show(id: &str, record: &FileRecord) -> ShownFile {
    let (name, sha256) = (record.name.clone(), hex(&record.sha256));
    ShownFile { id: id.to_owned(), name, size: record.size, sha256 }
}

/// Adds the files of this caller that the arguments contain anywhere else.
pub(crate) async fn shown_files(
    files: &Files,
    principal: &Principal,
    input: &Value,
    mut shown: Vec<ShownFile>,
) -> Result<Arc<[ShownFile]>, Failure> {
    let ids = file_ids(input);
    if ids.len() > MAX_SHOWN {
        let message = format!(
            "the call must be approved and names {} files; a reviewer sees at most {MAX_SHOWN}",
            ids.len()
        );
        return Err(Failure::new(Code::InvalidInput, message)
            .details(json!({"files": ids.len(), "limit": MAX_SHOWN})));
    }
    for id in ids {
        if shown.iter().any(|file| file.id == id) {
            continue;
        }
        match files.find(principal, id).await {
            Ok(file) => shown.push(show(id, &file)),
            // It is refused when the call runs; the reviewer still sees its id.
            Err(missing) if missing.code == Code::NotFound => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(shown.into())
}

/// Checks that the tool gets the bytes that a reviewer saw, if there was one.
pub(super) fn check_as_shown(
    job: &Job,
    id: &str,
    record: Option<&FileRecord>,
) -> Result<(), Failure> {
    let Some(shown) = &job.shown_files else { return Ok(()) };
    let approved = shown.iter().find(|file| file.id == id).map(|file| file.sha256.as_str());
    let given = record.map(|record| hex(&record.sha256));
    if approved == given.as_deref() {
        return Ok(());
    }
    let message = "a file differs from the one that was approved, so the call was not run; call again to request approval";
    Err(Failure::new(Code::Denied, message).retryable(true).details(json!({"file": id})))
}

/// The distinct file ids in the arguments.
fn file_ids(input: &Value) -> Vec<&str> {
    let (mut found, mut seen) = (Vec::new(), std::collections::HashSet::new());
    let mut open = vec![input];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) if text.parse::<FileId>().is_ok() && seen.insert(text) => {
                found.push(text.as_str());
            }
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(map) => open.extend(map.values().rev()),
            _ => {}
        }
    }
    found
}
