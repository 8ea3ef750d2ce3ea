//! Requests to a server that are not tool calls, under a deadline: ⟨server⟩ ▸ size-out.

use std::pin::pin;
use std::sync::Arc;

use async_trait::async_trait;
use proto::{Code, Failure, Principal};

use crate::client::{Client, ToolClient};
use crate::files::GuardedServers;
use crate::guard::idempotency::CallError;
use crate::guard::{deadline, size};
use crate::guards::Guards;
use crate::servers::{Server, ServerRequest};
use crate::{Job, Output, Request};

impl Guards {
    /// Whether a caller may ask a server for something. A file that it was given a reference to may come from a server of
    /// which it has one tool; anything else needs the whole server.
    pub(crate) fn may_ask(
        &self,
        principal: &Principal,
        server: &str,
        asked: ServerRequest<'_>,
    ) -> bool {
        let view = self.view(principal);
        match asked {
            ServerRequest::OfClient(_) => view.holds_server(server),
            ServerRequest::File => view.meets_server(server),
        }
    }

    pub(crate) async fn send(
        &self,
        server: &Arc<dyn Server>,
        asked: ServerRequest<'_>,
        job: &Job,
    ) -> Result<Output, CallError> {
        let limit = server.timeout().unwrap_or(self.limits().timeout);
        let mut sent = job.clone();
        let client = sent.client.take().map(|client| Arc::new(ToolClient::new(client)));
        sent.client = client.clone().map(|client| client as Arc<dyn Client>);
        let mut work = pin!(async {
            match asked {
                ServerRequest::OfClient(method) => {
                    let output = server.request(method, &sent).await?;
                    size::check_result(&output)?;
                    Ok(output)
                }
                // The limits of files apply to what is stored of it.
                ServerRequest::File => server.read_resource(&sent).await,
            }
        });
        let bound = pin!(async {
            let bound = deadline::bound(limit, client.as_deref(), work.as_mut());
            bound.await.map_err(CallError::Failed)
        });
        deadline::wait(job.timeout, job.cancel(), || false, bound).await
    }
}

#[async_trait]
impl GuardedServers for Guards {
    fn can_reach(&self, principal: &Principal, server: &str) -> bool {
        self.may_ask(principal, server, ServerRequest::File)
    }

    async fn read_resource(
        &self,
        server: &str,
        request: Request,
    ) -> Option<Result<Output, Failure>> {
        let connected = self.servers.get(server)?;
        self.forward(Some(&connected), ServerRequest::File, request).await.transpose()
    }
}

/// The failure in the audit row of a request that no server of its caller can answer.
pub(crate) fn not_offered() -> Failure {
    let message = "no server that this caller may use offers what was asked for";
    Failure::new(Code::NotFound, message)
}
