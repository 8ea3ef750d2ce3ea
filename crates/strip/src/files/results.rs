//! Stored parts of answers, as their callers read them again.

use ::files::FileRecord;
use ::operations::scope::FILES_READ;
use proto::{Code, Failure, clean};
use serde_json::json;

use super::access::find_readable;
use super::issued::fetch_reference;
use crate::{Job, Strip};

/// Reads a reference.
pub const READ_RESULT: &str = "powerstrip:read_result";

impl Strip {
    /// The stored part that a reference names: one of ours, or one of a server, which is fetched from it. What others of
    /// the tenant have stored needs the scope for reading files.
    pub async fn find_result(&self, job: &Job, id: &str) -> Result<FileRecord, Failure> {
        let (files, principal) = (self.files(), &job.request().principal);
        let record = match files.find(principal, id).await {
            Err(missing) if missing.code == Code::NotFound => {
                let resolver = &self.guards().executor.resolver;
                fetch_reference(files, resolver, job, id).await?.ok_or_else(|| {
                    let shown: String = clean::visible(id).chars().take(80).collect();
                    let message = format!(
                        "there is no reference `{shown}`, or it has expired; call the tool that gave it again"
                    );
                    Failure::new(Code::NotFound, message).details(json!({"ref_id": shown}))
                })?
            }
            found => found?,
        };
        if record.owner != principal.subject && !principal.holds(FILES_READ) {
            let message = format!(
                "`{}` belongs to another caller: reading it needs the scope `{FILES_READ}`",
                record.id
            );
            return Err(Failure::new(Code::Denied, message));
        }
        Ok(record)
    }

    /// The file that an id names: one of ours that the caller may read, or what a server stores under it, which is fetched.
    pub async fn find_content(&self, job: &Job, id: &str) -> Result<FileRecord, Failure> {
        let files = self.files();
        match find_readable(files, &job.request().principal, id).await {
            // It may be the id of a server for its own reference.
            Err(missing) if missing.code == Code::NotFound => {
                let resolver = &self.guards().executor.resolver;
                fetch_reference(files, resolver, job, id).await?.ok_or(missing)
            }
            found => found,
        }
    }
}
