//! Requests to a server that are not tool calls, under a deadline: ⟨server⟩ ▸ size-out.

use std::pin::pin;
use std::sync::Arc;

use crate::client::{Client, ToolClient};
use crate::guard::idempotency::CallError;
use crate::guard::{deadline, size};
use crate::guards::Guards;
use crate::servers::Server;
use crate::{Job, Output};

impl Guards {
    pub(crate) async fn send(
        &self,
        server: &Arc<dyn Server>,
        method: &str,
        job: &Job,
    ) -> Result<Output, CallError> {
        let limit = server.timeout().unwrap_or(self.limits().timeout);
        let mut sent = job.clone();
        let client = sent.client.take().map(|client| Arc::new(ToolClient::new(client)));
        sent.client = client.clone().map(|client| client as Arc<dyn Client>);
        let mut work = pin!(async {
            let output = server.request(method, &sent).await?;
            size::check_result(&output)?;
            Ok(output)
        });
        let bound = pin!(async {
            let bound = deadline::bound(limit, client.as_deref(), work.as_mut());
            bound.await.map_err(CallError::Failed)
        });
        deadline::wait(job.timeout, job.cancel(), || false, bound).await
    }
}
