//! Plans for `execute_dag` and `replan`. The model of the caller's client may plan, and its person gives what is missing.

mod caller_model;
mod missing;

use std::sync::Arc;

use approvals::question;
use dag::Proposal;
use proto::{Failure, Principal};
use serde_json::{Map, Value, json};
use strip::{AskMode, Client, Output, Reply};

use super::ToolCall;
use crate::planner::PlanRequest;
use caller_model::CallerModel;

/// The name of the form that asks for missing arguments.
const FORM: &str = "powerstrip.plan.missing";

/// A plan, or what the caller is asked first.
pub(super) enum Planned {
    Proposal {
        proposal: Box<Proposal>,
        /// A person has seen it and wants it to run.
        accepted: bool,
    },
    /// The caller answers with its next request.
    Question(Output),
}

/// The outcome of a form.
enum Filled {
    Given(Map<String, Value>),
    /// Its person closed it, or its client cannot show it.
    Closed,
    Question(Output),
}

impl ToolCall<'_> {
    /// Plans for the owner of a workflow, who is the caller unless an operator acts.
    pub(super) async fn plan(
        &self,
        owner: &Arc<Principal>,
        request: PlanRequest,
    ) -> Result<Planned, Failure> {
        let model =
            self.job.client.as_ref().and_then(|client| {
                CallerModel::of(client, self.job.resume.as_deref()).map(Arc::new)
            });
        let intent = request.intent.clone();
        let client = model.clone().map(|model| model as _);
        let mut proposal = self.workflows.propose(owner, PlanRequest { client, ..request }).await?;
        if let Some(question) = model.as_ref().and_then(|model| model.unanswered()) {
            return Ok(Planned::Question(round(caller_model::NAME, &question)));
        }
        // The answer to a second question would come without the one to the first.
        let may_ask = model.is_none_or(|model| !model.answered_by_round());
        let form = if may_ask { missing::form(&intent, &proposal) } else { None };
        let accepted = match form {
            None => false,
            Some(form) => match self.fill_in(form).await {
                Filled::Given(values) => {
                    missing::fill(&mut proposal, &values);
                    true
                }
                Filled::Closed => false,
                Filled::Question(question) => return Ok(Planned::Question(question)),
            },
        };
        Ok(Planned::Proposal { proposal: Box::new(proposal), accepted })
    }

    async fn fill_in(&self, form: Value) -> Filled {
        let Some(client) = self.job.client.as_ref().filter(|_| self.can_ask()) else {
            return Filled::Closed;
        };
        let answer = match ask(client, self.job.resume.as_deref(), FORM, form).await {
            Asked::Answer(answer) => answer,
            Asked::Nothing => return Filled::Closed,
            Asked::Later(question) => return Filled::Question(round(FORM, &question)),
        };
        match (answer["action"].as_str(), &answer["content"]) {
            (Some("accept"), Value::Object(values)) => Filled::Given(values.clone()),
            _ => Filled::Closed,
        }
    }
}

enum Asked {
    Answer(Value),
    Nothing,
    /// The question that the client answers with its next request.
    Later(Value),
}

/// Has the caller's client answer a form.
async fn ask(
    client: &Arc<dyn Client>,
    resume: Option<&strip::Resume>,
    name: &str,
    params: Value,
) -> Asked {
    match client.ask_mode() {
        AskMode::Direct => {
            client.ask(question::METHOD, params).await.map_or(Asked::Nothing, Asked::Answer)
        }
        AskMode::Rounds => match resume.and_then(|resume| resume.responses.get(name)) {
            Some(answer) => Asked::Answer(answer.clone()),
            None => Asked::Later(json!({"method": question::METHOD, "params": params})),
        },
    }
}

/// An answer that asks one question.
fn round(name: &str, question: &Value) -> Output {
    let native = json!({"resultType": "input_required", "inputRequests": {name: question}});
    let reply = Reply::NeedsInput;
    Output { native: Some(Arc::new(native)), reply, ..Output::new(json!({"asked": name})) }
}
