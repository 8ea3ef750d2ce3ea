use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use proto::{Code, Failure, PromptRef, RequestedLimits, clean};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::QuestionRow;

use super::context::{Context, check, run_of};
use crate::approval::question;
use crate::runs::{NewQuestion, Run, Runs, SlotType};
use crate::tool::Part;
use crate::typed::{About, TypedOutput, TypedTool};
use crate::waiting::{self, WaitOptions};
use crate::{AskError, AskMode, Client, Job, Reply};
use prompts::Prompts;

pub(super) const ID: &str = "powerstrip:request_user_input";

/// How many data tools must have completed in a run before it may ask a person.
const DATA_TOOLS: u64 = 2;

/// The longest prompt that a person is shown.
const MAX_PROMPT: usize = 4000;

/// How often elicitation asks a person again whose answer does not fit.
const MAX_ROUNDS: usize = 5;

/// Asks a person.
pub(super) struct RequestUserInput {
    pub(super) context: Weak<Context>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The kind of the answer.
    #[schemars(extend("enum" = SlotType::ALL.map(|(name, _)| name)))]
    slot_type: String,
    #[schemars(length(min = 1, max = 100))]
    slot_id: String,
    /// The question, or a prompt's name.
    #[schemars(length(min = 1, max = MAX_PROMPT))]
    prompt_key: String,
    #[serde(default)]
    #[schemars(length(max = 100), inner(length(min = 1, max = 200)))]
    options: Vec<String>,
}

/// The state of a question.
#[derive(Serialize, JsonSchema)]
pub(super) struct QuestionStatus {
    /// `answered`, `declined` or `waiting`.
    status: String,
    run_id: String,
    question_id: String,
    slot_id: String,
    /// The answer, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    /// What to do while there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'static str>,
}

#[async_trait]
impl TypedTool for RequestUserInput {
    type Input = Input;
    type Output = QuestionStatus;

    fn about(&self) -> About {
        About {
            id: ID,
            title: "Ask the user",
            description: "Asks a person and waits. Refused until two other tools have completed in this run. On \
                          `status: waiting`, repeat the call.",
            deterministic: false,
            read_only: false,
            // The question of a slot is asked once; the same call again waits for its answer.
            idempotent: true,
            limits: RequestedLimits {
                timeout: Some(waiting::LONGEST),
                ..RequestedLimits::default()
            },
        }
    }

    fn part(&self) -> Part {
        Part::Control
    }

    async fn run(&self, input: Input, job: &Job) -> Result<TypedOutput<QuestionStatus>, Failure> {
        let context = Context::upgrade(&self.context)?;
        let run = run_of(job)?;
        let question = new_question(&context.prompts, &input)?;
        let completed = run.data_tools();
        if completed < DATA_TOOLS {
            return Err(too_early(completed));
        }
        let question = context.runs.ask(run, question).await?;
        OpenQuestion { runs: &context.runs, run, job, question }.wait().await
    }
}

fn too_early(completed: u64) -> Failure {
    let message = format!(
        "ask a person only after at least {DATA_TOOLS} data tools have completed in this run ({completed} so far): find \
         out what you can with your tools, then ask again. Control-flow tools and failed calls do not count"
    );
    Failure::new(Code::Denied, message)
        .details(json!({"completed": completed, "needed": DATA_TOOLS}))
}

/// The question of an input, or everything that is wrong with it.
fn new_question<'a>(prompts: &Prompts, input: &'a Input) -> Result<NewQuestion<'a>, Failure> {
    let slot_type = SlotType::named(&input.slot_type).unwrap_or(SlotType::Text);
    let options: Vec<_> = input.options.iter().map(|option| clean::visible(option)).collect();
    let mut faults = Vec::new();
    if slot_type.has_options() && options.is_empty() {
        faults.push(format!("a `{}` needs `options`", slot_type.as_str()));
    }
    if !slot_type.has_options() && !options.is_empty() {
        faults.push(format!(
            "`options` belong to `choice` and `multi`, not to `{}`",
            slot_type.as_str()
        ));
    }
    for (place, option) in options.iter().enumerate() {
        if options[..place].contains(option) {
            faults.push(format!("the option `{option}` is listed twice"));
        }
    }
    check(&faults)?;
    let prompt = prompt(prompts, &input.prompt_key)?;
    Ok(NewQuestion { slot_id: &input.slot_id, slot_type, prompt, options })
}

/// The rendered prompt of the registry that has this name; otherwise the text itself.
fn prompt(prompts: &Prompts, key: &str) -> Result<String, Failure> {
    let prompts = prompts.snapshot();
    let named: Option<PromptRef> = key.parse().ok();
    let known = named.and_then(|reference| prompts.get(&reference).ok());
    let text = match known {
        Some(prompt) => {
            crate::run_blocking(usize::MAX, || prompt.render(&Value::Object(Map::new())))?
        }
        None => key.to_owned(),
    };
    let text = clean::visible(&text);
    let size = text.chars().count();
    if text.trim().is_empty() || size > MAX_PROMPT {
        let message = format!("the question has {size} characters; 1 to {MAX_PROMPT} are allowed");
        return Err(Failure::new(Code::InvalidInput, message));
    }
    Ok(text)
}

/// A question that a call waits for.
struct OpenQuestion<'a> {
    runs: &'a Runs,
    run: &'a Arc<Run>,
    job: &'a Job,
    question: QuestionRow,
}

impl OpenQuestion<'_> {
    async fn wait(&self) -> Result<TypedOutput<QuestionStatus>, Failure> {
        let mut settlements = self.run.settlements();
        if let Some(output) = self.outcome() {
            return Ok(output);
        }
        if self.job.request().park.is_some() {
            return Ok(self.waiting());
        }
        let asked = self
            .job
            .client
            .as_ref()
            .filter(|client| question::can_show_forms(client.capabilities()));
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
        let settled = settlements.wait_for(|_| self.outcome().is_some());
        let message = || format!("waiting for a person to answer `{}`", self.question.slot_id);
        let longest = self.longest_wait(asked.is_some());
        let wait = waiting::wait_for(self.job, longest, message, settled);
        tokio::select! {
            _ = wait => {}
            () = elicitation => {}
            () = self.runs.ending().cancelled() => {}
        }
        Ok(self.outcome().unwrap_or_else(|| self.waiting()))
    }

    fn longest_wait(&self, asks: bool) -> Duration {
        waiting::longest_wait(self.job, WaitOptions { asks, wait: None })
    }

    /// The answer, once there is one.
    fn outcome(&self) -> Option<TypedOutput<QuestionStatus>> {
        let question = self.run.settled_question(&self.question.slot_id)?;
        Some(self.status(question.state, Some(question.answer.unwrap_or_default()), None).into())
    }

    fn waiting(&self) -> TypedOutput<QuestionStatus> {
        let message = "there is no answer yet; call request_user_input again with the same arguments to go on waiting";
        let status = self.status("waiting".to_owned(), None, Some(message));
        // Nothing to record: the same call may get another answer.
        TypedOutput { reply: Reply::Pending, ..status.into() }
    }

    fn status(
        &self,
        status: String,
        value: Option<Value>,
        message: Option<&'static str>,
    ) -> QuestionStatus {
        QuestionStatus {
            status,
            run_id: self.run.called().to_owned(),
            question_id: self.question.id.clone(),
            slot_id: self.question.slot_id.clone(),
            value,
            message,
        }
    }

    fn elicitation(&self, fault: Option<&str>) -> Value {
        let slot = SlotType::named(&self.question.slot_type).unwrap_or(SlotType::Text);
        let message = match fault {
            None => self.question.prompt.clone(),
            Some(fault) => format!("{}\n\n({fault})", self.question.prompt),
        };
        json!({
            "mode": "form",
            "message": message,
            "requestedSchema": {
                "type": "object",
                "properties": {"value": slot.schema(&self.question.options)},
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
        let settled = self.runs.settle(self.run, &self.question.slot_id, value, by).await;
        match settled {
            Ok(_) => Ok(Elicited::Settled),
            Err(failure) if failure.code != Code::InvalidInput => Err(failure),
            // Another answer came first.
            Err(_) if self.outcome().is_some() => Ok(Elicited::Settled),
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
    async fn ask_in_rounds(&self) -> Result<TypedOutput<QuestionStatus>, Failure> {
        let response = self.job.resume.as_ref().and_then(|resume| resume.responses.get(SLOT));
        let mut fault = None;
        if let Some(response) = response {
            match self.accept(response).await? {
                Elicited::Settled => return Ok(self.outcome().unwrap_or_else(|| self.waiting())),
                Elicited::Nothing => return Ok(self.waiting()),
                Elicited::Unfit(why) => fault = Some(why),
            }
        }
        let request = json!({
            "method": "elicitation/create",
            "params": self.elicitation(fault.as_deref()),
        });
        let native = json!({
            "resultType": "input_required",
            "inputRequests": {SLOT: request},
        });
        let mut output = self.waiting();
        output.reply = Reply::NeedsInput;
        output.native = Some(Arc::new(native));
        Ok(output)
    }
}

/// The name of the question in `inputRequests`.
const SLOT: &str = "answer";

/// The result of asking a client.
enum Elicited {
    Settled,
    Unfit(String),
    Nothing,
}
