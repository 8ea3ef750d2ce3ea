//! Servers that lend what they keep: to whom, and with a row in the audit trail.

use std::sync::Arc;

use proto::Principal;

use crate::agents::Views;
use crate::guard::arguments::Arguments;
use crate::guard::audit::{Audit, Decision};
use crate::servers::Servers;
use crate::{Catalog, Failure, Job, Output, Request};

/// The servers, and what each caller may have of them.
pub(crate) struct Lenders {
    pub(crate) servers: Arc<Servers>,
    pub(crate) views: Arc<Views>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) audit: Arc<Audit>,
}

impl Lenders {
    /// Whether a caller has anything to do with a server. What a server gave it, and only that, can then be fetched.
    pub(super) fn reaches(&self, principal: &Principal, server: &str) -> bool {
        self.views.of(principal, self.catalog.snapshot()).meets_server(server)
    }

    /// What a server keeps under a URI; none if the server is gone.
    pub(super) async fn lend(
        &self,
        server: &str,
        mut request: Request,
    ) -> Option<Result<Output, Failure>> {
        let lender = self.servers.get(server)?;
        request.tool = format!("{server}:resources/read");
        let row = self.audit.open(&request, &Arguments::of(&request.input), None);
        let lent = lender.read_resource(&Job::new(request)).await;
        let decision = if lent.is_ok() { Decision::Ran } else { Decision::Failed };
        let written = row.close(decision, lent.as_ref().err(), false).await;
        Some(lent.and_then(|output| written.map(|()| output)))
    }
}
