//! Requests to a server that are no tool calls: audit ▸ rate ▸ size-in ▸ deadline[ ⟨server⟩ ▸ size-out ].

use std::pin::pin;
use std::sync::Arc;

use proto::{Code, canonical};
use serde_json::Value;

use crate::client::{Client, Thinking};
use crate::guard::arguments::Arguments;
use crate::guard::deadline;
use crate::guard::idempotency::{Decision, Unanswered};
use crate::servers::Server;
use crate::stop::Stop;
use crate::strip::Guards;
use crate::{Failure, Job, Output, Request};

/// The largest result of such a request: a resource may be a whole document.
const MAX_RESULT_BYTES: usize = 8 * 1024 * 1024;

impl Guards {
    /// Takes one request of a caller to a server and its result back.
    pub(crate) async fn pass_on(
        &self,
        server: &Arc<dyn Server>,
        method: &str,
        mut call: Request,
    ) -> Result<Output, Failure> {
        call.tool = format!("{}:{method}", server.name());
        let arguments = Arguments::of(&call.input);
        let row = self.audit.open(&call, &arguments, None);
        let allowed = if self.audit.failing().is_some() {
            Err(self.unaccountable())
        } else {
            self.rate().check(&call.principal, None).and_then(|()| self.fits(&call.input))
        };
        let cancel = call.cancel.clone();
        let (mut result, decision) = match allowed {
            Err(refusal) => (Err(refusal), Decision::Refused),
            Ok(()) => match self.handed_on(server, method, call).await {
                Ok(output) => (Ok(output), Decision::Ran),
                Err(Unanswered::Refused(failure) | Unanswered::Failed(failure)) => {
                    (Err(failure), Decision::Failed)
                }
            },
        };
        if result.is_err() && cancel.is_cancelled() {
            if !self.stop.is_stopping() {
                // Its row says that the caller left.
                drop(row);
                return result;
            }
            result = Err(Stop::failure(false));
        }
        let written = row.close(decision, result.as_ref().err(), false).await;
        let output = result?;
        written.map(|()| output)
    }

    fn fits(&self, input: &Value) -> Result<(), Failure> {
        let (size, limit) = (canonical::len(input), self.limits().max_input_bytes);
        if size <= limit {
            return Ok(());
        }
        let message = format!("the request has {size} bytes; {limit} are allowed");
        Err(Failure::new(Code::InvalidInput, message))
    }

    async fn handed_on(
        &self,
        server: &Arc<dyn Server>,
        method: &str,
        mut request: Request,
    ) -> Result<Output, Unanswered> {
        let limit = server.timeout().unwrap_or(self.limits().timeout);
        let (timeout, cancel) = (request.timeout, request.cancel.clone());
        let thinking = request.client.take().map(Thinking::new);
        request.client = thinking.clone().map(|thinking| thinking as Arc<dyn Client>);
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
            let bound = deadline::bound(limit, thinking.as_deref(), work.as_mut());
            bound.await.map_err(Unanswered::Failed)
        });
        deadline::patient(timeout, &cancel, bound).await
    }
}
