//! One request of a caller to a server, with all that is said until there is a result: the server may ask the caller
//! something first, in its own era's way, and the caller may be of the other era.

use proto::{Code, canonical};
use serde_json::{Map, Value, json};
use strip::{Asking, Client, Failure, Job, Unasked};

use crate::Era;
use crate::broken::{Broken, rpc_failure};
use crate::definition::HeaderParam;
use crate::parked::{Heard, Live, OwnedRequest};
use crate::questions;
use crate::rpc::{Answer, Answers, Ask, Given, Params};
use crate::seal::Purpose;
use crate::upstream::Shared;

/// More rounds of questions than this are no conversation.
const MAX_ROUNDS: usize = 10;

/// The extension that a caller must speak to be given a task.
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// A state that names a call which waits here, rather than one of the server's.
const PARKED: &str = "parked:";
const STATE: &str = "state:";
/// A state of ours for a server that asked without one of its own.
const ASKED: &str = "asked:";

/// What a caller wants of a server.
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: Params<'a>,
    pub(crate) header_params: &'a [HeaderParam],
    pub(crate) repeatable: bool,
}

/// What came of it.
pub(crate) enum Said {
    Result(Given),
    /// An `input_required` result for the caller.
    NeedsInput(Value),
    /// A `task` result for the caller.
    Task(Value),
}

impl Shared {
    pub(crate) async fn converse(
        &self,
        request: &Request<'_>,
        call: &Job,
    ) -> Result<Said, Failure> {
        let who = || self.config.holder_of(&call.request);
        let ask = Ask {
            method: request.method,
            params: request.params,
            idempotency_key: call.request.idempotency_key.as_deref(),
            header_params: request.header_params,
            repeatable: request.repeatable,
            own: false,
            client: call.request.client.as_ref(),
            answers: None,
            attached: call.attachments.as_ref(),
        };
        let Some(client) = &call.request.client else {
            let answer = self.link.ask(who().as_ref(), &ask).await;
            return self.result(answer).map(Said::Result);
        };
        let named = named(request, call);
        let purpose =
            Purpose { server: &self.name, principal: &call.request.principal, request: &named };
        let opened = call.request.resume.as_deref().and_then(|resume| resume.state.as_deref());
        let opened = opened.map(|state| self.desk.open(purpose, state)).transpose()?;
        let mut responses = call
            .request
            .resume
            .as_deref()
            .map(|resume| resume.responses.clone())
            .unwrap_or_default();
        if let Some(handle) = opened.as_deref().and_then(|state| state.strip_prefix(PARKED)) {
            let Some(mut live) = self.desk.parked.take(handle) else {
                return Err(Failure::new(Code::InvalidInput, "the call does not wait any more")
                    .details(json!({"server": self.name, "code": -32602})));
            };
            live.answer(client, responses);
            return self.listen(live, purpose).await;
        }
        let by_rounds = client.asking() == Asking::Rounds && questions::can_any(&**client);
        if by_rounds && self.link.era() == Some(Era::Legacy) {
            let owned = OwnedRequest::new(request, call, who());
            let Some(shared) = self.myself.upgrade() else {
                return Err(self.failed(Broken::lost("the server is not used any more")));
            };
            return self.listen(Live::begin(shared, owned, client), purpose).await;
        }
        let mut state = opened.and_then(|state| state.strip_prefix(STATE).map(str::to_owned));
        for round in 0..MAX_ROUNDS {
            let retried = round > 0 || call.request.resume.is_some();
            let answers = Answers { responses: &responses, state: state.as_deref() };
            let ask = Ask { answers: retried.then_some(answers), ..ask };
            let answer = self.link.ask(who().as_ref(), &ask).await;
            let raw = self.result(answer)?;
            let Some(mut interim) = interim(&raw) else { return Ok(Said::Result(raw)) };
            if interim["resultType"] == "task" {
                let speaks = client.capabilities().get("extensions").and_then(|e| e.get(TASKS));
                if speaks.is_none() || client.asking() == Asking::Direct {
                    return Err(self.uninvited("a task"));
                }
                self.desk.seal_task(&self.name, &call.request.principal, &mut interim);
                return Ok(Said::Task(interim));
            }
            let asked = interim["inputRequests"].as_object().cloned().unwrap_or_default();
            if asked.values().any(|one| !can_answer(&**client, one)) {
                return Err(self.uninvited("a question"));
            }
            let given = interim["requestState"].as_str().map(str::to_owned);
            if client.asking() == Asking::Rounds {
                // Also where the server gives none: by its state a call that goes on is told from one that begins.
                let kept =
                    given.map_or_else(|| ASKED.to_owned(), |given| format!("{STATE}{given}"));
                interim["requestState"] = self.desk.close(purpose, &kept).into();
                return Ok(Said::NeedsInput(interim));
            }
            responses =
                questions::ask_all(&**client, &asked).await.map_err(|why| self.unasked(&why))?;
            state = given;
        }
        let why = format!("it asked more than {MAX_ROUNDS} times");
        Err(self.failed(Broken::malformed(why)))
    }

    /// Waits until a call that was begun for a caller has a result or asks something.
    async fn listen(&self, mut live: Live, purpose: Purpose<'_>) -> Result<Said, Failure> {
        match live.hear().await {
            Heard::Answer(answer) => self.result(answer).map(Said::Result),
            Heard::Questions(asked) => {
                let Some(handle) = self.desk.parked.put(live, purpose.principal) else {
                    let message =
                        format!("too many calls to server `{}` wait for people", self.name);
                    return Err(Failure::new(Code::Unavailable, message));
                };
                let state = self.desk.close(purpose, &format!("{PARKED}{handle}"));
                Ok(Said::NeedsInput(json!({
                    "resultType": "input_required",
                    "inputRequests": asked,
                    "requestState": state,
                })))
            }
        }
    }

    fn result(&self, answer: Result<Answer, Broken>) -> Result<Given, Failure> {
        answer
            .map_err(|broken| self.failed(broken))?
            .map_err(|error| rpc_failure(&self.name, error))
    }

    fn uninvited(&self, what: &str) -> Failure {
        self.failed(Broken::malformed(format!(
            "it answers with {what}, to which it was not invited"
        )))
    }

    fn unasked(&self, why: &Unasked) -> Failure {
        let message = format!("server `{}` asked the caller something: {why}", self.name);
        Failure::new(Code::Unsupported, message)
    }
}

/// What a state or a waiting call belongs to: the method and all of its parameters.
fn named(request: &Request<'_>, call: &Job) -> Vec<u8> {
    let params = match request.params {
        Params::None => Value::Null,
        // The caller's own words: the files in it have links that change, and marks.
        Params::Call { name, arguments } => {
            json!([name, call.caller_input.as_deref().unwrap_or(arguments)])
        }
        Params::Map(params) => {
            let bare = params.iter().filter(|(key, _)| *key != "_meta");
            Value::Object(bare.map(|(key, value)| (key.clone(), value.clone())).collect())
        }
    };
    canonical::bytes(&json!([request.method, params]))
}

/// A result that is none yet. Most results are not read for it.
fn interim(given: &Given) -> Option<Value> {
    let text = given.get();
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
