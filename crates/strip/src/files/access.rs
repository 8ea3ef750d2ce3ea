//! Which files a call may name and store. Calling tools alone opens no files of other people of the tenant.

use ::operations::scope::{FILES_READ, FILES_WRITE};
use files::{FileRecord, Files};
use proto::{Code, Failure, Principal};
use serde_json::json;

/// The file of an id that a caller gives: a file of its own, or with the scope to read files any of its tenant.
pub async fn find_readable(
    files: &Files,
    principal: &Principal,
    id: &str,
) -> Result<FileRecord, Failure> {
    let file = files.find(principal, id).await?;
    if file.owner == principal.subject || principal.holds(FILES_READ) {
        return Ok(file);
    }
    let message = format!(
        "`{}` belongs to another caller: reading it needs the scope `{FILES_READ}`",
        file.id
    );
    Err(missing(message, FILES_READ))
}

/// Checks that a caller may store files.
pub fn check_storing(principal: &Principal) -> Result<(), Failure> {
    if principal.holds(FILES_WRITE) {
        return Ok(());
    }
    Err(missing(format!("storing a file needs the scope `{FILES_WRITE}`"), FILES_WRITE))
}

fn missing(message: String, scope: &str) -> Failure {
    Failure::new(Code::Denied, message).details(json!({"scope": scope}))
}
