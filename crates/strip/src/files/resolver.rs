//! Fetches from servers what they store under the references that they issued, with a row in the audit trail.

use std::sync::Arc;

use proto::{Failure, Principal};

use crate::agents::Views;
use crate::guard::arguments::Arguments;
use crate::guard::audit::{Audit, Decision};
use crate::servers::Servers;
use crate::{Catalog, Job, Output, Request};

/// Fetches files of servers for callers that may use these servers.
pub(crate) struct FileResolver {
    pub(crate) servers: Arc<Servers>,
    pub(crate) views: Arc<Views>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) audit: Arc<Audit>,
}

impl FileResolver {
    /// Whether a caller sees anything of a server.
    pub(super) fn can_reach(&self, principal: &Principal, server: &str) -> bool {
        self.views.of(principal, self.catalog.snapshot()).meets_server(server)
    }

    /// Reads a resource of a server; none if the server is gone.
    pub(super) async fn read(
        &self,
        server: &str,
        request: Request,
    ) -> Option<Result<Output, Failure>> {
        let connected = self.servers.get(server)?;
        let job = Job::named(request, format!("{server}:resources/read"));
        let row = self.audit.open(&job, &Arguments::of(&job.input), None);
        let read = connected.read_resource(&job).await;
        let decision = if read.is_ok() { Decision::Ran } else { Decision::Failed };
        let written = row.close(decision, read.as_ref().err(), None, false).await;
        Some(read.and_then(|output| written.map(|()| output)))
    }
}
