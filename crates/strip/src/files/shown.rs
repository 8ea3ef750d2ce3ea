//! What a reviewer is shown of the files that a call names.

use std::sync::Arc;

use proto::{Code, FileId, Principal};
use serde_json::{Value, json};
use store::FileRecord;

use super::{Files, hex};
use crate::approval::ShownFile;
use crate::{Failure, Job};

/// More files than this nobody looks through.
const MAX_SHOWN: usize = 32;

impl ShownFile {
    /// A file under the name by which the arguments know it.
    pub(super) fn of(id: &str, record: &FileRecord) -> Self {
        let (name, sha256) = (record.name.clone(), hex(&record.sha256));
        Self { id: id.to_owned(), name, size: record.size, sha256 }
    }
}

impl Files {
    /// Adds the files of this caller that a call's arguments name anywhere else.
    pub(crate) async fn shown(
        &self,
        principal: &Principal,
        input: &Value,
        mut shown: Vec<ShownFile>,
    ) -> Result<Arc<[ShownFile]>, Failure> {
        let named = named(input);
        if named.len() > MAX_SHOWN {
            let message = format!(
                "the call must be approved and names {} files; a person is shown {MAX_SHOWN} at most",
                named.len()
            );
            return Err(Failure::new(Code::InvalidInput, message)
                .details(json!({"files": named.len(), "limit": MAX_SHOWN})));
        }
        for id in named {
            if shown.iter().any(|file| file.id == id) {
                continue;
            }
            // One that is not there is refused when the call runs; the reviewer still sees its id.
            let Ok(file) = self.find(principal, id).await else { continue };
            shown.push(ShownFile::of(id, &file));
        }
        Ok(shown.into())
    }
}

/// Whether a tool is about to get the very bytes that a person was shown, if one was.
pub(super) fn as_shown(job: &Job, id: &str, record: Option<&FileRecord>) -> Result<(), Failure> {
    let Some(shown) = &job.shown_files else { return Ok(()) };
    let seen = shown.iter().find(|file| file.id == id).map(|file| file.sha256.as_str());
    let given = record.map(|record| hex(&record.sha256));
    if seen == given.as_deref() {
        return Ok(());
    }
    let message = "a file is another one than a person approved, so the call was not run; call again to ask anew";
    Err(Failure::new(Code::Denied, message).retryable(true).details(json!({"file": id})))
}

/// Every id of a file in the arguments, once.
fn named(input: &Value) -> Vec<&str> {
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
