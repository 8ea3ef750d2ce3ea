use std::sync::Weak;

use async_trait::async_trait;
use prompts::Prompts;
use proto::{Code, Failure, PromptRef, RequestedLimits, SlotType, clean};
use runs::NewQuestion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use strip::asking::{Asked, Question, run_of};
use strip::typed::{About, TypedOutput, TypedTool};
use strip::{Job, Part, Strip, run_blocking, waiting};

use super::faults::check;
use crate::owner::upgrade;

pub(super) const ID: &str = "powerstrip:request_user_input";

/// How many data tools must have completed in a run before it may ask a person.
const DATA_TOOLS: u64 = 2;

/// The longest prompt that a person is shown.
const MAX_PROMPT: usize = 4000;

/// Asks a person.
pub(super) struct RequestUserInput {
    pub(super) strip: Weak<Strip>,
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
    /// Of a `document`: the text to edit.
    #[serde(default)]
    #[schemars(length(max = 100), inner(length(min = 1)))]
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
            open_world: false,
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
        let strip = upgrade(&self.strip)?;
        let run = run_of(job)?;
        let question = new_question(strip.prompts(), &input)?;
        let completed = run.data_tools();
        if completed < DATA_TOOLS {
            return Err(too_early(completed));
        }
        let question = Question::ask(strip.runs(), job, question).await?;
        let row = question.row();
        let status = |status: &str, value, message| QuestionStatus {
            status: status.to_owned(),
            run_id: run.called().to_owned(),
            question_id: row.id.clone(),
            slot_id: row.slot_id.clone(),
            value,
            message,
        };
        Ok(match question.wait().await? {
            Asked::Settled(settled) => {
                status(settled.state.as_str(), Some(settled.answer.unwrap_or_default()), None)
                    .into()
            }
            Asked::Open(open) => open.output(status("waiting", None, Some(REPEAT))),
        })
    }
}

/// What a caller does while there is no answer.
const REPEAT: &str = "there is no answer yet; call request_user_input again with the same arguments to go on waiting";

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
    check(&slot_type.option_faults(&options))?;
    let prompt = prompt(prompts, &input.prompt_key)?;
    Ok(NewQuestion { slot_id: &input.slot_id, slot_type, prompt, options, check: None })
}

/// The rendered prompt of the registry that has this name; otherwise the text itself.
fn prompt(prompts: &Prompts, key: &str) -> Result<String, Failure> {
    let prompts = prompts.snapshot();
    let named: Option<PromptRef> = key.parse().ok();
    let known = named.and_then(|reference| prompts.get(&reference).ok());
    let text = match known {
        Some(prompt) => run_blocking(usize::MAX, || prompt.render(&Value::Object(Map::new())))?,
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
