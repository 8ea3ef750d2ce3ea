//! What a tool asks the task of a workflow becomes questions of the workflow's run, one for each property of a form. People
//! answer them when they like; then the task is repeated, and the answers go to the tool.

use std::sync::{Arc, LazyLock};

use proto::{Code, Failure, clean, digest_of_parts};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::{QuestionRow, QuestionState};
use uuid::Uuid;

use super::{NewQuestion, Run, RunOf, Runs, SlotType};
use crate::{Job, Output, Parked, ParkedQuestion, Reply, Resume};

/// How long the state of an interrupted call is used. The `upstream` crate keeps it a little longer.
const STATE_VALID_MS: u64 = 280_000;

/// The longest prompt of a question.
const MAX_PROMPT: usize = 4_000;

/// The longest text that a form begins a property with, in bytes; invisible characters are shown with up to ten each.
const MAX_DOCUMENT: usize = 6_000;

/// The longest part of a property's name in the name of its slot.
const MAX_PROPERTY: usize = 60;

/// Distinguishes this process from the ones before: an interrupted call ends with its process.
static PROCESS: LazyLock<Uuid> = LazyLock::new(Uuid::new_v4);

/// The forms that a call was interrupted for, as the task keeps them until it is repeated.
#[derive(Debug, Serialize, Deserialize)]
struct Interruption {
    process: Uuid,
    asked_unix_ms: u64,
    /// How often the call was interrupted before.
    round: u32,
    /// What the tool needs to continue the call.
    state: Option<String>,
    forms: Vec<Form>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Form {
    /// The name of the question in the tool's answer.
    name: String,
    fields: Vec<Field>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Field {
    /// None for a form without properties, which a person only accepts or declines.
    property: Option<String>,
    slot: String,
    required: bool,
}

/// How a repeated task goes on.
enum Repeated {
    /// It continues with the answers.
    Continue(Resume),
    /// It begins again. What was answered before is not asked again.
    Begin,
    /// People have not answered yet.
    Wait(Output),
}

/// Creates the questions of an output that asks something, and answers what the task waits for.
pub(crate) async fn park_questions(
    runs: &Runs,
    job: &Job,
    output: Output,
) -> Result<Output, Failure> {
    let (RunOf::Joined(run), Some(park)) = (&job.run, &job.request().park) else {
        return Ok(output);
    };
    if output.reply == Reply::Pending {
        // A question of `request_user_input`, or an approval, which is parked already.
        let asked = output.data["slot_id"].as_str().and_then(|slot| run.question(slot));
        return Ok(match asked {
            Some(question) => parked(&[question], None),
            None => output,
        });
    }
    let native = output.native.as_deref().unwrap_or(&Value::Null);
    let before = park.resume.as_ref().filter(|_| !job.begins_again);
    let before = before.map(Interruption::read).transpose()?;
    let mut interruption = Interruption {
        process: *PROCESS,
        asked_unix_ms: runs.now(),
        round: before.map_or(0, |before| before.round + 1),
        state: native["requestState"].as_str().map(str::to_owned),
        forms: Vec::new(),
    };
    let mut open = Vec::new();
    for (name, asked) in native["inputRequests"].as_object().into_iter().flatten() {
        let mut fields = Vec::new();
        for draft in drafts(asked)? {
            let slot = draft.slot(&park.key, interruption.round, name);
            let question = NewQuestion {
                slot_id: &slot,
                slot_type: draft.slot_type,
                prompt: draft.prompt,
                options: draft.options,
                check: None,
            };
            let question = runs.ask(run, question).await?;
            if run.settled_question(&slot).is_none() {
                open.push(question);
            }
            fields.push(Field { property: draft.property, slot, required: draft.required });
        }
        interruption.forms.push(Form { name: name.clone(), fields });
    }
    let resume = serde_json::to_value(&interruption).map_err(|error| {
        Failure::new(Code::Internal, "the questions of the task cannot be kept").caused_by(error)
    })?;
    Ok(parked(&open, Some(resume)))
}

/// Lets a task that is repeated after questions continue with the answers, or begin again. Returns what it still waits for.
pub(crate) fn repeat_task(runs: &Runs, job: &mut Job) -> Result<Option<Output>, Failure> {
    let resume = job.request().park.as_ref().and_then(|park| park.resume.as_ref());
    let (Some(resume), RunOf::Joined(run)) = (resume, &job.run) else { return Ok(None) };
    match repeat(runs, run, resume)? {
        Repeated::Continue(resume) => job.resume = Some(Arc::new(resume)),
        // Its questions count from the first again, so that those that were answered are found.
        Repeated::Begin => job.begins_again = true,
        Repeated::Wait(output) => return Ok(Some(output)),
    }
    Ok(None)
}

/// Decides how a task that is repeated after questions goes on.
fn repeat(runs: &Runs, run: &Run, resume: &Value) -> Result<Repeated, Failure> {
    let interruption = Interruption::read(resume)?;
    let slots = interruption.forms.iter().flat_map(|form| &form.fields).map(|field| &field.slot);
    let questions: Vec<_> = slots.map(|slot| question(run, slot)).collect::<Result<_, _>>()?;
    let open: Vec<_> =
        questions.into_iter().filter(|asked| asked.state == QuestionState::Open).collect();
    if !open.is_empty() {
        return Ok(Repeated::Wait(parked(&open, Some(resume.clone()))));
    }
    let age = runs.now().saturating_sub(interruption.asked_unix_ms);
    if interruption.process != *PROCESS || age > STATE_VALID_MS {
        return Ok(Repeated::Begin);
    }
    let mut responses = Map::new();
    for form in interruption.forms {
        let response = form.response(run)?;
        responses.insert(form.name, response);
    }
    Ok(Repeated::Continue(Resume { responses, state: interruption.state }))
}

/// A question of the task. A missing one counts neither as open nor as declined.
fn question(run: &Run, slot: &str) -> Result<QuestionRow, Failure> {
    run.question(slot).ok_or_else(|| {
        let message = format!(
            "the question `{slot}` of the task is missing from its run, so the tool cannot be given the answer"
        );
        Failure::new(Code::Internal, message)
    })
}

fn parked(open: &[QuestionRow], resume: Option<Value>) -> Output {
    let questions = open.iter().map(|question| ParkedQuestion {
        question_id: question.id.clone(),
        slot_id: question.slot_id.clone(),
        prompt: question.prompt.clone(),
    });
    Parked::Questions { questions: questions.collect(), resume }.output()
}

impl Interruption {
    /// Reads what the task has kept. With a default in its place, questions that were answered would be asked again.
    fn read(resume: &Value) -> Result<Self, Failure> {
        Self::deserialize(resume).map_err(|error| {
            let message = "the stored questions of the task are damaged, so their answers cannot be given to the tool; \
                           start the workflow again";
            Failure::new(Code::Internal, message).caused_by(error)
        })
    }
}

impl Form {
    /// The response to the form, from the answers. It is declined if a person declined what it requires.
    fn response(&self, run: &Run) -> Result<Value, Failure> {
        let mut content = Map::new();
        for field in &self.fields {
            match (&field.property, question(run, &field.slot)?.answer) {
                (Some(property), Some(answer)) => drop(content.insert(property.clone(), answer)),
                (None, Some(Value::Bool(true))) => {}
                (Some(_), None) if !field.required => {}
                _ => return Ok(json!({"action": "decline"})),
            }
        }
        Ok(json!({"action": "accept", "content": content}))
    }
}

/// A question to be asked for a property of a form.
#[derive(Debug)]
struct Draft {
    property: Option<String>,
    required: bool,
    slot_type: SlotType,
    prompt: String,
    options: Vec<String>,
}

impl Draft {
    /// The name of its slot: another question, another round or another task has another one.
    fn slot(&self, key: &str, round: u32, name: &str) -> String {
        let property = self.property.as_deref().unwrap_or("confirm");
        let shown: String = clean::visible(property).chars().take(MAX_PROPERTY).collect();
        let digest = digest_of_parts([
            key.as_bytes(),
            &round.to_le_bytes(),
            name.as_bytes(),
            property.as_bytes(),
            self.slot_type.as_str().as_bytes(),
            self.prompt.as_bytes(),
            self.options.join("\0").as_bytes(),
        ]);
        let hex: String = digest.as_bytes()[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{shown}-{hex}")
    }
}

/// The questions of one request to a client.
fn drafts(asked: &Value) -> Result<Vec<Draft>, Failure> {
    let params = &asked["params"];
    let is_form = asked["method"] == "elicitation/create"
        && params["mode"].as_str().is_none_or(|mode| mode == "form");
    if !is_form {
        return Err(unsupported("something that is not a form"));
    }
    let message = params["message"].as_str().unwrap_or_default();
    let schema = &params["requestedSchema"];
    let properties = schema["properties"].as_object();
    let Some(properties) = properties.filter(|properties| !properties.is_empty()) else {
        let prompt = shorten(message);
        let (slot_type, options) = (SlotType::Confirm, Vec::new());
        return Ok(vec![Draft { property: None, required: true, slot_type, prompt, options }]);
    };
    let required = schema["required"].as_array();
    let drafts = properties.iter().map(|(property, schema)| {
        let (slot_type, options) =
            slot(schema).ok_or_else(|| unsupported(&format!("a value of `{property}`")))?;
        let label = schema["title"].as_str().unwrap_or(property);
        let about = schema["description"].as_str().map(|text| format!(": {text}"));
        let prompt = format!("{message}\n\n{label}{}", about.unwrap_or_default());
        Ok(Draft {
            property: Some(property.clone()),
            required: required.is_some_and(|names| names.iter().any(|name| name == property)),
            slot_type,
            prompt: shorten(&prompt),
            options,
        })
    });
    drafts.collect()
}

/// The kind of a question for a property, and its options.
fn slot(schema: &Value) -> Option<(SlotType, Vec<String>)> {
    let plain = |slot_type| Some((slot_type, Vec::new()));
    match schema["type"].as_str()? {
        "string" => match (choices(schema), schema["default"].as_str()) {
            (Some(options), _) => Some((SlotType::Choice, options)),
            // A text of several lines is edited, not typed.
            (None, Some(text)) if text.contains('\n') && text.len() <= MAX_DOCUMENT => {
                Some((SlotType::Document, vec![clean::visible(text)]))
            }
            (None, _) => plain(SlotType::Text),
        },
        "array" => choices(&schema["items"]).map(|options| (SlotType::Multi, options)),
        "number" | "integer" => plain(SlotType::Number),
        "boolean" => plain(SlotType::Confirm),
        _ => None,
    }
}

/// The values that a schema lists.
fn choices(schema: &Value) -> Option<Vec<String>> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(text).collect();
    }
    let titled = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array())?;
    titled.iter().map(|one| text(&one["const"])).collect()
}

fn shorten(prompt: &str) -> String {
    let prompt: String = clean::visible(prompt.trim()).chars().take(MAX_PROMPT).collect();
    if prompt.is_empty() { "The tool asks you to confirm.".to_owned() } else { prompt }
}

fn unsupported(what: &str) -> Failure {
    let message = format!("the tool asks for {what}, which a task of a workflow cannot answer");
    Failure::new(Code::Unsupported, message)
}

#[cfg(test)]
mod tests;
