//! One request of a caller to a server until there is a result. The server may ask questions first, in the manner of its
//! own era, and the caller may be of the other era.

use proto::{Code, Failure, canonical};
use serde_json::{Map, Value, json};
use strip::{AskError, AskMode, Client, Job};

use crate::era::Era;
use crate::error::{AskResult, TransportError, rpc_failure};
use crate::questions;
use crate::rpc::{Answers, Params, RpcRequest, RpcResult};
use crate::server::Server;
use crate::suspended::{CallEvent, OwnedRequest, SuspendableCall};
use crate::tasks;
use crate::unanswerable;
use auth::request_state::Purpose;

/// The most rounds of questions in one call.
const MAX_ROUNDS: usize = 10;

/// Prefixes of a signed state: the handle of a suspended call, the server's own state, or no state.
const SUSPENDED: &str = "parked:";
const STATE: &str = "state:";
const ASKED: &str = "asked:";

/// The outcome of a request that did not fail.
pub(crate) enum ServerReply {
    Result(RpcResult),
    /// An `input_required` result for the caller.
    NeedsInput(Value),
    /// A `task` result for the caller.
    Task(Value),
}

impl Server {
    pub(crate) async fn converse(
        &self,
        request: RpcRequest<'_>,
        job: &Job,
    ) -> Result<ServerReply, Failure> {
        let caller = self.caller_of(job).await?;
        let caller = || caller.clone();
        let Some(client) = &job.client else {
            let answer = tasks::ask(&self.transport, caller().as_ref(), &request).await;
            return self.result(answer).map(ServerReply::Result);
        };
        let identity = identity(&request, job);
        let purpose =
            Purpose { server: &self.name, principal: &job.request().principal, request: &identity };
        let state = job.resume.as_deref().and_then(|resume| resume.state.as_deref());
        let state = state.map(|state| self.signer.verify(purpose, state)).transpose()?;
        let mut responses =
            job.resume.as_deref().map(|resume| resume.responses.clone()).unwrap_or_default();
        if let Some(handle) = state.as_deref().and_then(|state| state.strip_prefix(SUSPENDED)) {
            let Some(mut suspended) = self.suspended.take(handle) else {
                return Err(Failure::new(Code::InvalidInput, "the call does not wait any more")
                    .details(json!({"server": self.name, "code": -32602})));
            };
            suspended.answer(client, responses);
            return self.resume(suspended, purpose).await;
        }
        let by_rounds = client.ask_mode() == AskMode::Rounds && questions::can_any(&**client);
        if by_rounds && self.transport.era() == Some(Era::Legacy) {
            let owned = OwnedRequest::new(&request, caller());
            let begun = SuspendableCall::begin(&self.transport, owned, client);
            return self.resume(begun, purpose).await;
        }
        let mut state = state.and_then(|state| state.strip_prefix(STATE).map(str::to_owned));
        for round in 0..MAX_ROUNDS {
            let retried = round > 0 || job.resume.is_some();
            let answers = Answers { responses: &responses, state: state.as_deref() };
            let sent = RpcRequest { answers: retried.then_some(answers), ..request };
            let answer = tasks::ask(&self.transport, caller().as_ref(), &sent).await;
            let result = self.result(answer)?;
            let Some(mut interim) = interim(&result) else {
                return Ok(ServerReply::Result(result));
            };
            if interim["resultType"] == "task" {
                if !tasks::are_taken_by(&**client) {
                    return Err(self.unexpected("a task"));
                }
                self.signer.sign_task(&self.name, &job.request().principal, &mut interim);
                return Ok(ServerReply::Task(interim));
            }
            let asked = interim["inputRequests"].as_object().cloned().unwrap_or_default();
            if asked.values().any(|one| !can_answer(&**client, one)) {
                return Err(unanswerable::question(&self.name, None));
            }
            let next = interim["requestState"].as_str().map(str::to_owned);
            if client.ask_mode() == AskMode::Rounds {
                // Also where the server gives no state: the state distinguishes a resumed call from a new one.
                let next = next.map_or_else(|| ASKED.to_owned(), |next| format!("{STATE}{next}"));
                interim["requestState"] = self.signer.sign(purpose, &next).into();
                return Ok(ServerReply::NeedsInput(interim));
            }
            responses =
                questions::ask_all(&**client, &asked).await.map_err(|why| self.unasked(&why))?;
            state = next;
        }
        let why = format!("it asked more than {MAX_ROUNDS} times");
        Err(self.fail(TransportError::malformed(why)))
    }

    /// Waits until a suspendable call has a result, or suspends it while its client answers questions.
    async fn resume(
        &self,
        mut call: SuspendableCall,
        purpose: Purpose<'_>,
    ) -> Result<ServerReply, Failure> {
        match call.next_event().await {
            CallEvent::Answer(answer) => self.result(answer).map(ServerReply::Result),
            CallEvent::Questions(asked) => {
                let Some(handle) = self.suspended.put(call, purpose.principal) else {
                    let message =
                        format!("too many calls to server `{}` wait for people", self.name);
                    return Err(Failure::new(Code::Unavailable, message));
                };
                let state = self.signer.sign(purpose, &format!("{SUSPENDED}{handle}"));
                Ok(ServerReply::NeedsInput(json!({
                    "resultType": "input_required",
                    "inputRequests": asked,
                    "requestState": state,
                })))
            }
        }
    }

    fn result(&self, answer: AskResult) -> Result<RpcResult, Failure> {
        answer.map_err(|error| self.fail(error))?.map_err(|error| rpc_failure(&self.name, error))
    }

    fn unexpected(&self, what: &str) -> Failure {
        self.fail(TransportError::malformed(format!(
            "it answers with {what}, which the client did not declare support for"
        )))
    }

    fn unasked(&self, why: &AskError) -> Failure {
        match why {
            AskError::Unable => unanswerable::question(&self.name, None),
            why => {
                let message = format!("server `{}` asked the caller something: {why}", self.name);
                Failure::new(Code::Unsupported, message)
            }
        }
    }
}

/// What a state or a suspended call is bound to: the method and all of its parameters.
fn identity(request: &RpcRequest<'_>, job: &Job) -> Vec<u8> {
    let params = match request.params {
        Params::None => Value::Null,
        // The input as the caller wrote it: links and placeholders of files differ from call to call.
        Params::Call { name, arguments } => {
            json!([name, job.caller_input.as_deref().unwrap_or(arguments)])
        }
        Params::Map(params) => {
            let bare = params.iter().filter(|(key, _)| *key != "_meta");
            Value::Object(bare.map(|(key, value)| (key.clone(), value.clone())).collect())
        }
    };
    canonical::bytes(&json!([request.method, params]))
}

/// An interim result. Most results are not parsed for it.
fn interim(result: &RpcResult) -> Option<Value> {
    let text = result.get();
    if !text.contains("\"resultType\"") {
        return None;
    }
    let value: Map<String, Value> = serde_json::from_str(text).ok()?;
    let kind = value.get("resultType").and_then(Value::as_str);
    matches!(kind, Some("input_required" | "task")).then_some(Value::Object(value))
}

fn can_answer(client: &dyn Client, request: &Value) -> bool {
    request["method"].as_str().is_some_and(|method| questions::can(client, method))
}
