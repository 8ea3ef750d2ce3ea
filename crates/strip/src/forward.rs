//! Requests to a server that are not tool calls: audit ▸ rate ▸ size-in ▸ deadline[ ⟨server⟩ ▸ size-out ].

use std::pin::pin;
use std::sync::Arc;

use proto::{Code, Failure, canonical};
use serde_json::Value;

use crate::client::{Client, ToolClient};
use crate::guard::arguments::Arguments;
use crate::guard::audit::Decision;
use crate::guard::deadline;
use crate::guard::idempotency::CallError;
use crate::guards::Guards;
use crate::servers::Server;
use crate::stop::Stop;
use crate::{Job, Output, Request};

/// The largest result of such a request: a resource may be a whole document.
const MAX_RESULT_BYTES: usize = 8 * 1024 * 1024;

impl Guards {
    /// Sends one request of a caller to a server.
    pub(crate) async fn forward(
        &self,
        server: &Arc<dyn Server>,
        method: &str,
        mut request: Request,
    ) -> Result<Output, Failure> {
        request.tool = format!("{}:{method}", server.name());
        let arguments = Arguments::of(&request.input);
        let row = self.audit.open(&request, &arguments, None);
        let allowed = if self.audit.failing().is_some() {
            Err(self.unaccountable())
        } else {
            let allowed = self.rate().check(&request.principal, None);
            allowed.and_then(|()| self.check_size(&request.input))
        };
        let cancel = request.cancel.clone();
        let (mut result, decision) = match allowed {
            Err(refusal) => (Err(refusal), Decision::Refused),
            Ok(()) => match self.send(server, method, request).await {
                Ok(output) => (Ok(output), Decision::Ran),
                Err(CallError::Refused(failure) | CallError::Failed(failure)) => {
                    (Err(failure), Decision::Failed)
                }
            },
        };
        if result.is_err() && cancel.is_cancelled() {
            if !self.stop.is_stopping() {
                // A dropped row says that the caller left.
                drop(row);
                return result;
            }
            result = Err(Stop::failure(false));
        }
        let written = row.close(decision, result.as_ref().err(), None, false).await;
        let output = result?;
        written.map(|()| output)
    }

    fn check_size(&self, input: &Value) -> Result<(), Failure> {
        let (size, limit) = (canonical::len(input), self.limits().max_input_bytes);
        if size <= limit {
            return Ok(());
        }
        let message = format!("the request has {size} bytes; {limit} are allowed");
        Err(Failure::new(Code::InvalidInput, message))
    }

    async fn send(
        &self,
        server: &Arc<dyn Server>,
        method: &str,
        mut request: Request,
    ) -> Result<Output, CallError> {
        let limit = server.timeout().unwrap_or(self.limits().timeout);
        let (timeout, cancel) = (request.timeout, request.cancel.clone());
        let client = request.client.take().map(|client| Arc::new(ToolClient::new(client)));
        request.client = client.clone().map(|client| client as Arc<dyn Client>);
        let job = Job::new(request);
        let mut work = pin!(async {
            let output = server.request(method, &job).await?;
            let size = canonical::len(&output.data);
            if size > MAX_RESULT_BYTES {
                let message = format!("the result has more than {MAX_RESULT_BYTES} bytes");
                return Err(Failure::new(Code::Internal, message));
            }
            Ok(output)
        });
        let bound = pin!(async {
            let bound = deadline::bound(limit, client.as_deref(), work.as_mut());
            bound.await.map_err(CallError::Failed)
        });
        deadline::wait(timeout, &cancel, || false, bound).await
    }
}
