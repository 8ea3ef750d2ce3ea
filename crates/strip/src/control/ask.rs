use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use proto::{Code, Descriptor, PromptRef, RequestedLimits, clean};
use serde_json::{Map, Value, json};
use store::QuestionRow;
use tokio::time::Instant;

use super::{REQUEST_USER_INPUT, Sheet, invalid, run_of, strip_of};
use crate::runs::{Run, SlotType, Wanted};
use crate::{Asking, Client, Failure, Job, Output, Reply, Request, Strip, Tool, Unasked};

/// So many data tools must have completed in a run before it may ask a person anything.
const DATA_TOOLS: u64 = 2;

/// The longest time that it waits for a person in one call.
const LONGEST: Duration = Duration::from_secs(600);

/// How long it waits if the caller does not say: clients give up after a minute, and some before.
const UNHEARD: Duration = Duration::from_secs(25);
const HEARD: Duration = Duration::from_secs(50);

/// How often a caller who wants to hear of progress is told that the person still thinks.
const BEAT: Duration = Duration::from_secs(5);

/// The longest prompt that a person is shown.
const MAX_PROMPT: usize = 4000;

/// So often a person is asked again by elicitation whose answer does not fit.
const MAX_ROUNDS: usize = 5;

/// Asks a person.
pub(super) struct RequestUserInput {
    descriptor: Descriptor,
    strip: Weak<Strip>,
}

impl RequestUserInput {
    pub(super) fn new(strip: Weak<Strip>) -> Self {
        let types: Vec<_> = SlotType::ALL.iter().map(|(name, _)| name).collect();
        let descriptor = Sheet {
            id: REQUEST_USER_INPUT,
            title: "Ask the user",
            description: "Asks a person and waits for the answer. First find out what you can yourself: it is refused \
                          until two other tools have completed in this run. If the answer is `status: waiting`, call it \
                          again with the same arguments to go on waiting.",
            input: json!({
                "type": "object",
                "properties": {
                    "slot_type": {"enum": types, "description": "What kind of answer is wanted."},
                    "slot_id": {
                        "type": "string",
                        "description": "Your name for the answer; each question of a run has its own.",
                        "minLength": 1,
                        "maxLength": 100,
                    },
                    "prompt_key": {
                        "type": "string",
                        "description": "The question, or the name of a prompt that holds it.",
                        "minLength": 1,
                        "maxLength": MAX_PROMPT,
                    },
                    "options": {
                        "type": "array",
                        "description": "What can be chosen, for `choice` and `multi`.",
                        "items": {"type": "string", "minLength": 1, "maxLength": 200},
                        "maxItems": 100,
                        "default": [],
                    },
                },
                "required": ["slot_type", "slot_id", "prompt_key"],
                "additionalProperties": false,
            }),
            limits: RequestedLimits { timeout: Some(LONGEST), ..RequestedLimits::default() },
            // The question of a slot is asked once; the same call again waits for its answer.
            idempotent: true,
        }
        .descriptor();
        Self { descriptor, strip }
    }
}

#[async_trait]
impl Tool for RequestUserInput {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    async fn run(&self, job: &Job) -> Result<Output, Failure> {
        let call = &job.request;
        let strip = strip_of(&self.strip)?;
        let run = run_of(call)?;
        let wanted = wanted(&strip, &call.input)?;
        let completed = run.data_tools();
        if completed < DATA_TOOLS {
            return Err(too_early(completed));
        }
        let question = strip.runs().ask(run, wanted).await?;
        let errand = Errand { strip: &strip, run, call, question };
        errand.done().await
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

/// The question that an input stands for, or all that is wrong with it.
fn wanted<'a>(strip: &Strip, input: &'a Value) -> Result<Wanted<'a>, Failure> {
    let text = |key: &str| input[key].as_str().unwrap_or_default();
    let slot_type = SlotType::named(text("slot_type")).unwrap_or(SlotType::Text);
    let listed = input["options"].as_array().map_or(&[][..], Vec::as_slice);
    let options: Vec<_> = listed.iter().filter_map(Value::as_str).map(clean::visible).collect();
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
            faults.push(format!("the option `{option}` stands there twice"));
        }
    }
    invalid(&faults)?;
    let prompt = prompt(strip, text("prompt_key"))?;
    let slot_id = input["slot_id"].as_str().unwrap_or_default();
    Ok(Wanted { slot_id, slot_type, prompt, options })
}

/// A prompt of the registry, rendered, or the text as it stands.
fn prompt(strip: &Strip, key: &str) -> Result<String, Failure> {
    let prompts = strip.prompts().snapshot();
    let named: Option<PromptRef> = key.parse().ok();
    let known = named.and_then(|reference| prompts.get(&reference).ok());
    let text = match known {
        Some(prompt) => prompt.render(&Value::Object(Map::new()))?,
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

/// A question on its way to a person and back.
struct Errand<'a> {
    strip: &'a Strip,
    run: &'a Arc<Run>,
    call: &'a Request,
    question: QuestionRow,
}

impl Errand<'_> {
    async fn done(&self) -> Result<Output, Failure> {
        let mut settlements = self.run.settlements();
        if let Some(output) = self.outcome() {
            return Ok(output);
        }
        let asked = self.call.client.as_ref().filter(|client| can_elicit(&***client));
        if let Some(client) = asked
            && client.asking() == Asking::Rounds
        {
            return self.in_rounds().await;
        }
        let elicited = async {
            match asked {
                Some(client) => self.elicited(&**client).await,
                None => std::future::pending().await,
            }
        };
        let waited = async {
            let client = self.call.client.as_deref();
            let until = Instant::now() + self.longest_wait(asked.is_some());
            let mut beats = 0_u32;
            loop {
                if let Some(client) = client.filter(|client| client.wants_progress()) {
                    client.progress(self.beat(beats));
                    beats += 1;
                }
                let pause = (Instant::now() + BEAT).min(until);
                let settled = settlements.wait_for(|_| self.outcome().is_some());
                if tokio::time::timeout_at(pause, settled).await.is_ok() || Instant::now() >= until
                {
                    return;
                }
            }
        };
        tokio::select! {
            () = waited => {}
            () = elicited => {}
        }
        Ok(self.outcome().unwrap_or_else(|| self.waiting()))
    }

    /// How long the caller is kept waiting. Somebody who is being asked knows what they wait for.
    fn longest_wait(&self, asked: bool) -> Duration {
        let heard = self.call.client.as_ref().is_some_and(|client| client.wants_progress());
        let usual = match (asked, heard) {
            (true, _) => LONGEST,
            (false, true) => HEARD,
            (false, false) => UNHEARD,
        };
        // The guards give up at the end of the caller's timeout; an answer must be on its way before that.
        match self.call.timeout {
            Some(timeout) if timeout < LONGEST => usual.min(timeout.mul_f32(0.9)),
            _ => usual,
        }
    }

    fn beat(&self, beats: u32) -> Map<String, Value> {
        let message = format!("waiting for a person to answer `{}`", self.question.slot_id);
        Map::from_iter([
            ("progress".to_owned(), beats.into()),
            ("message".to_owned(), message.into()),
        ])
    }

    /// The answer, once there is one.
    fn outcome(&self) -> Option<Output> {
        let question = self.run.settled_question(&self.question.slot_id)?;
        Some(Output::new(json!({
            "status": question.state,
            "run_id": self.run.called(),
            "question_id": question.id,
            "slot_id": question.slot_id,
            "value": question.answer,
        })))
    }

    fn waiting(&self) -> Output {
        let mut output = Output::new(json!({
            "status": "waiting",
            "run_id": self.run.called(),
            "question_id": self.question.id,
            "slot_id": self.question.slot_id,
            "message": "nobody has answered yet; call request_user_input again with the same arguments to go on waiting",
        }));
        // Nothing to record: the same call may get another answer.
        output.reply = Reply::Pending;
        output
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

    /// Takes what a client's person said; what does not fit comes back as what is wrong with it.
    async fn heard(&self, said: &Value) -> Result<Heard, Failure> {
        let value = match said["action"].as_str() {
            Some("accept") => Some(said["content"].get("value").unwrap_or(&Value::Null)),
            Some("decline") => None,
            // Dismissed without a word: somebody may still answer elsewhere.
            _ => return Ok(Heard::Nothing),
        };
        let by = &self.call.principal.subject;
        let settled = self.strip.runs().settle(self.run, &self.question.slot_id, value, by).await;
        match settled {
            Ok(_) => Ok(Heard::Settled),
            Err(failure) if failure.code != Code::InvalidInput => Err(failure),
            // Another was faster.
            Err(_) if self.outcome().is_some() => Ok(Heard::Settled),
            Err(failure) => Ok(Heard::Unfit(failure.message)),
        }
    }

    /// Asks a client of an earlier era directly, as long as its person's answers do not fit.
    async fn elicited(&self, client: &dyn Client) {
        let mut fault = None;
        for _ in 0..MAX_ROUNDS {
            let params = self.elicitation(fault.as_deref());
            let said = client.ask("elicitation/create", params).await;
            match said {
                Ok(said) => match self.heard(&said).await {
                    Ok(Heard::Settled) => return,
                    Ok(Heard::Unfit(why)) => fault = Some(why),
                    Ok(Heard::Nothing) | Err(_) => break,
                },
                Err(Unasked::Unable | Unasked::Silent | Unasked::Refused { .. }) => break,
            }
        }
        // The others may still answer, for as long as a caller waits who is not asked.
        tokio::time::sleep(UNHEARD).await;
    }

    /// Asks a client of the newest era, which comes back with the answer.
    async fn in_rounds(&self) -> Result<Output, Failure> {
        let said = self.call.resume.as_ref().and_then(|resume| resume.responses.get(SLOT));
        let mut fault = None;
        if let Some(said) = said {
            match self.heard(said).await? {
                Heard::Settled => return Ok(self.outcome().unwrap_or_else(|| self.waiting())),
                Heard::Nothing => return Ok(self.waiting()),
                Heard::Unfit(why) => fault = Some(why),
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

/// What the answer is called between us and a client of the newest era.
const SLOT: &str = "answer";

/// What came of asking a client.
enum Heard {
    Settled,
    Unfit(String),
    Nothing,
}

/// Whether a caller can show its person a form.
fn can_elicit(client: &dyn Client) -> bool {
    match client.capabilities().get("elicitation") {
        Some(Value::Object(modes)) => modes.is_empty() || modes.contains_key("form"),
        _ => false,
    }
}
