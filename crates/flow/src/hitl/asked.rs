//! Asks a person about a document, as a question of the call's run.

use proto::{Code, Failure, SlotType, canonical, digest_of_parts};
use runs::{NewQuestion, Runs};
use serde_json::Value;
use strip::Job;
use strip::asking::{Asked, OpenQuestion, Question, run_of};

use super::markdown::parse;

/// The check of an outline, and of one that may be rejected instead.
pub(super) const OUTLINE: &str = "outline";
pub(super) const OUTLINE_OR_REJECTION: &str = "outline_or_rejection";

/// How an answer begins that rejects an outline.
const REJECTIONS: [&str; 2] = ["reject", "rejected"];

/// The largest document that a person is asked about, in bytes.
const MAX_DOCUMENT: usize = 64 * 1024;

/// Lets runs check the answers to the questions that the tools here ask.
pub(super) fn register(runs: &Runs) {
    let faults = |text: &str| parse(text).map(drop).map_err(|fault| fault.to_string());
    runs.add_check(OUTLINE, faults);
    runs.add_check(OUTLINE_OR_REJECTION, |text| match rejection(text) {
        Some(_) => Ok(()),
        None => parse(text).map(drop).map_err(|fault| fault.to_string()),
    });
}

/// The feedback of an answer that rejects: what follows `reject:`.
pub(super) fn rejection(answer: &str) -> Option<&str> {
    let answer = answer.trim_start_matches('\u{feff}').trim();
    let (first, feedback) = answer.split_once(':').unwrap_or((answer, ""));
    let rejects = REJECTIONS.iter().any(|word| first.trim().eq_ignore_ascii_case(word));
    rejects.then(|| feedback.trim())
}

/// A document that a person is asked about.
pub(super) struct Document<'a> {
    /// The prefix of the slot's name.
    pub(super) kind: &'a str,
    pub(super) prompt: String,
    pub(super) text: String,
    pub(super) check: &'static str,
}

/// The ids under which a question is found.
pub(super) struct QuestionAddress {
    pub(super) run_id: String,
    pub(super) question_id: String,
    pub(super) slot_id: String,
}

/// The outcome of a question about a document.
pub(super) enum Reviewed {
    Answered(String),
    Declined,
    Open(OpenQuestion, QuestionAddress),
}

impl Document<'_> {
    /// Asks, and waits as long as a call waits. Equal calls of a run share one question; a task that is retried has its own.
    pub(super) async fn ask(self, runs: &Runs, job: &Job) -> Result<Reviewed, Failure> {
        if self.text.len() > MAX_DOCUMENT {
            let size = self.text.len();
            let message = format!("the document has {size} bytes; people review {MAX_DOCUMENT}");
            return Err(Failure::new(Code::InvalidInput, message));
        }
        let run = run_of(job)?;
        let slot_id = self.slot(job);
        let question = NewQuestion {
            slot_id: &slot_id,
            slot_type: SlotType::Document,
            prompt: self.prompt,
            options: vec![self.text],
            check: Some(self.check),
        };
        let question = Question::ask(runs, job, question).await?;
        match question.wait().await? {
            Asked::Settled(settled) => match (settled.answer, settled.state.as_str()) {
                (Some(Value::String(text)), _) => Ok(Reviewed::Answered(text)),
                (_, "declined") => Ok(Reviewed::Declined),
                _ => {
                    let message = "the question was withdrawn because its run has ended";
                    Err(Failure::new(Code::Denied, message))
                }
            },
            Asked::Open(open) => {
                let place = QuestionAddress {
                    run_id: run.called().to_owned(),
                    question_id: question.row().id.clone(),
                    slot_id: slot_id.clone(),
                };
                Ok(Reviewed::Open(open, place))
            }
        }
    }

    fn slot(&self, job: &Job) -> String {
        let task = job.request().park.as_ref().map_or("", |park| park.key.as_str());
        let digest = digest_of_parts([task.as_bytes(), &canonical::bytes(&job.input)]);
        let hex: String = digest.as_bytes()[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{hex}", self.kind)
    }
}
