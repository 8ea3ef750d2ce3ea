//! Asks people: a question of a run, which the caller's client shows where it can, and which is answered through any door.

use std::sync::Arc;
use std::time::Duration;

use proto::{Blame, Code, Failure};
use runs::{NewQuestion, Run, RunOf, Runs};
use serde_json::{Value, json};
use store::QuestionRow;

use crate::approval::question;
use crate::typed::TypedOutput;
use crate::waiting::{self, WaitOptions};
use crate::{AskError, AskMode, Client, Job, Reply};

/// How often elicitation asks a person again whose answer does not fit.
const MAX_ROUNDS: usize = 5;

/// The name of a call's own question in `inputRequests`. One of another run is named by its slot, because a call may ask
/// several of those and must not take the answer to one for another's.
const OWN: &str = "answer";

/// A question that a call waits for.
pub struct Question<'a> {
    runs: &'a Runs,
    run: &'a Arc<Run>,
    job: &'a Job,
    row: QuestionRow,
    name: String,
}

/// The outcome of a question.
pub enum Asked {
    /// It was answered, declined or withdrawn.
    Settled(Box<QuestionRow>),
    Open(OpenQuestion),
}

/// A question without an answer yet.
#[derive(Debug)]
pub struct OpenQuestion {
    /// The request to a client that answers with its next call.
    request: Option<Arc<Value>>,
}

impl OpenQuestion {
    /// The output of a call that asks. Its data must have the `slot_id`, by which the task of a workflow is parked.
    pub fn output<T>(self, data: T) -> TypedOutput<T> {
        // Neither is recorded: the same call may get another answer.
        let reply = if self.request.is_some() { Reply::NeedsInput } else { Reply::Pending };
        TypedOutput { data, reply, native: self.request, references: Vec::new() }
    }
}

/// Whether the caller's client can show a question.
pub fn can_ask(job: &Job) -> bool {
    form_client(job).is_some()
}

fn form_client(job: &Job) -> Option<&Arc<dyn Client>> {
    let client = job.client.as_ref().filter(|_| job.request().park.is_none());
    client.filter(|client| question::can_show_forms(client.capabilities()))
}

/// The run that the guards have joined a call to.
pub fn run_of(job: &Job) -> Result<&Arc<Run>, Failure> {
    match &job.run {
        RunOf::Joined(run) => Ok(run),
        _ => Err(Failure::new(Code::Internal, "the call has no run").blame(Blame::Gateway)),
    }
}

/// The result of asking a client.
enum Elicited {
    Settled,
    Unfit(String),
    Nothing,
}

impl<'a> Question<'a> {
    /// Asks in the run of a call; a slot that was asked before keeps its question and answer.
    pub async fn ask(
        runs: &'a Runs,
        job: &'a Job,
        question: NewQuestion<'_>,
    ) -> Result<Self, Failure> {
        let run = run_of(job)?;
        let row = runs.ask(run, question).await?;
        Ok(Self { runs, run, job, row, name: OWN.to_owned() })
    }

    /// The question of another run, which the caller of this call may answer.
    pub fn of_run(runs: &'a Runs, run: &'a Arc<Run>, job: &'a Job, row: QuestionRow) -> Self {
        let name = row.slot_id.clone();
        Self { runs, run, job, row, name }
    }

    pub fn row(&self) -> &QuestionRow {
        &self.row
    }

    /// Waits for the answer, as long as a call waits. The task of a workflow does not wait.
    pub async fn wait(&self) -> Result<Asked, Failure> {
        let mut settlements = self.run.settlements();
        if let Some(settled) = self.settled() {
            return Ok(Asked::Settled(Box::new(settled)));
        }
        if self.job.request().park.is_some() {
            return Ok(self.outcome());
        }
        let asked = form_client(self.job);
        if let Some(client) = asked
            && client.ask_mode() == AskMode::Rounds
        {
            return self.ask_in_rounds().await;
        }
        let elicitation = async {
            match asked {
                Some(client) => self.elicit(&**client).await,
                None => std::future::pending().await,
            }
        };
        let settled = settlements.wait_for(|_| self.settled().is_some());
        let message = || format!("waiting for a person to answer `{}`", self.row.slot_id);
        let longest = self.longest_wait(asked.is_some());
        let wait = waiting::wait_for(self.job, longest, message, settled);
        tokio::select! {
            _ = wait => {}
            () = elicitation => {}
            () = self.runs.ending().cancelled() => {}
        }
        Ok(self.outcome())
    }

    fn longest_wait(&self, asks: bool) -> Duration {
        waiting::longest_wait(self.job, WaitOptions { asks, wait: None })
    }

    fn settled(&self) -> Option<QuestionRow> {
        self.run.settled_question(&self.row.slot_id)
    }

    fn outcome(&self) -> Asked {
        let settled = self.settled().map(Box::new);
        settled.map_or(Asked::Open(OpenQuestion { request: None }), Asked::Settled)
    }

    fn elicitation(&self, fault: Option<&str>) -> Value {
        let message = match fault {
            None => self.row.prompt.clone(),
            Some(fault) => format!("{}\n\n({fault})", self.row.prompt),
        };
        json!({
            "mode": "form",
            "message": message,
            "requestedSchema": {
                "type": "object",
                "properties": {"value": self.row.slot_type.schema(&self.row.options)},
                "required": ["value"],
            },
        })
    }

    /// Settles the question with a client's response to elicitation.
    async fn accept(&self, response: &Value) -> Result<Elicited, Failure> {
        let value = match response["action"].as_str() {
            Some("accept") => Some(response["content"].get("value").unwrap_or(&Value::Null)),
            Some("decline") => None,
            // The form was closed: another person may still answer elsewhere.
            _ => return Ok(Elicited::Nothing),
        };
        let by = &self.job.request().principal.subject;
        match self.runs.settle(self.run, &self.row.slot_id, value, by).await {
            Ok(_) => Ok(Elicited::Settled),
            Err(failure) if failure.code != Code::InvalidInput => Err(failure),
            // Another answer came first.
            Err(_) if self.settled().is_some() => Ok(Elicited::Settled),
            Err(failure) => Ok(Elicited::Unfit(failure.message)),
        }
    }

    /// Asks a client of MCP before 2026-07-28 by a request, again if the answer does not fit.
    async fn elicit(&self, client: &dyn Client) {
        let mut fault = None;
        for _ in 0..MAX_ROUNDS {
            let params = self.elicitation(fault.as_deref());
            match client.ask("elicitation/create", params).await {
                Ok(response) => match self.accept(&response).await {
                    Ok(Elicited::Settled) => return,
                    Ok(Elicited::Unfit(why)) => fault = Some(why),
                    Ok(Elicited::Nothing) | Err(_) => break,
                },
                Err(AskError::Unable | AskError::Silent | AskError::Refused { .. }) => break,
            }
        }
        // Other people may still answer, for as long as a caller without elicitation would wait.
        tokio::time::sleep(self.longest_wait(false)).await;
    }

    /// Asks a client of MCP 2026-07-28 or later, which repeats the call with the answer.
    async fn ask_in_rounds(&self) -> Result<Asked, Failure> {
        let response = self.job.resume.as_ref().and_then(|resume| resume.responses.get(&self.name));
        let mut fault = None;
        if let Some(response) = response {
            match self.accept(response).await? {
                Elicited::Settled | Elicited::Nothing => return Ok(self.outcome()),
                Elicited::Unfit(why) => fault = Some(why),
            }
        }
        let request = json!({
            "method": "elicitation/create",
            "params": self.elicitation(fault.as_deref()),
        });
        let native = json!({
            "resultType": "input_required",
            "inputRequests": {self.name.as_str(): request},
        });
        Ok(Asked::Open(OpenQuestion { request: Some(Arc::new(native)) }))
    }
}
