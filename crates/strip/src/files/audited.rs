//! Operations on files outside of calls.

use std::sync::Arc;

use proto::{Failure, Principal, TraceId};
use serde_json::json;

use crate::{Door, Job, Request, Strip};

/// One operation on a file.
#[derive(Clone, Debug)]
pub struct FileUse<'a> {
    pub action: &'static str,
    /// The id that the caller gives; empty for a new file.
    pub id: &'a str,
    pub principal: Arc<Principal>,
    pub door: Door,
    pub trace: TraceId,
}

impl Strip {
    /// Runs an operation on a file and writes its audit row: `files/download:file_…`. The operation returns the file's id.
    pub async fn audited<T>(
        &self,
        file: FileUse<'_>,
        work: impl Future<Output = Result<(String, T), Failure>>,
    ) -> Result<T, Failure> {
        let name_of = |id: &str| format!("files/{}:{id}", file.action);
        let input = json!({"id": file.id});
        let mut request = Request::new(name_of(file.id), input, file.principal, file.door);
        request.trace = file.trace;
        self.guards().use_file(&Job::new(request), work, name_of).await
    }
}
