//! Operations on files outside of calls: each writes a row to the audit trail.

use std::sync::Arc;

use proto::{Failure, Principal, TraceId};
use serde_json::json;

use crate::guard::arguments::Arguments;
use crate::guard::audit::Decision;
use crate::guards::Guards;
use crate::{Door, Request, Strip};

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
        self.guards().audited(file, work).await
    }
}

impl Guards {
    async fn audited<T>(
        &self,
        file: FileUse<'_>,
        work: impl Future<Output = Result<(String, T), Failure>>,
    ) -> Result<T, Failure> {
        if self.audit.failing().is_some() {
            return Err(self.unaccountable());
        }
        let named = |id: &str| format!("files/{}:{id}", file.action);
        let mut call =
            Request::new(named(file.id), json!({"id": file.id}), file.principal.clone(), file.door);
        call.trace = file.trace;
        let mut row = self.audit.open(&call, &Arguments::of(&call.input), None);
        let result = work.await;
        let decision = match &result {
            Ok((id, _)) => {
                row.is_about(&named(id));
                Decision::Ran
            }
            Err(_) => Decision::Failed,
        };
        let written = row.close(decision, result.as_ref().err(), None, false).await;
        let (_, done) = result?;
        written.map(|()| done)
    }
}
