use async_trait::async_trait;
use proto::{Code, Failure, RequestedLimits};
use runs::Runs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use strip::typed::{About, TypedOutput, TypedTool};
use strip::{Job, waiting};

use super::adopt::adopt;
use super::asked::{Document, OUTLINE_OR_REJECTION, QuestionAddress, Reviewed, rejection};
use super::changes::{Change, changes};
use super::markdown::{parse, render};
use crate::outline::Outline;

/// The largest input and output.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// The longest instructions and feedback, in characters.
const MAX_INSTRUCTIONS: usize = 2_000;
const MAX_FEEDBACK: usize = 10_000;

const PROMPT: &str = "Review the outline: `#` is the title, `##` a section, `-` a question. Answer with it as it is to \
                      approve it, or edit it. To reject it, answer `reject:` and the reason.";

/// Has a person approve, edit or reject an outline.
pub(super) struct ReviewOutline {
    pub(super) runs: Runs,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    outline: Outline,
    /// What the person should look at.
    #[schemars(length(max = MAX_INSTRUCTIONS))]
    instructions: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    status: Status,
    outline: Outline,
    /// What the person changed.
    changes: Vec<Change>,
    /// Why the person rejected it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    feedback: Option<String>,
    /// Where to answer, while it is `waiting`; the same call again goes on waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    question_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    slot_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Approved,
    Edited,
    Rejected,
    Waiting,
}

impl Output {
    fn of(status: Status, outline: Outline) -> Self {
        Self {
            status,
            outline,
            changes: Vec::new(),
            feedback: None,
            run_id: None,
            question_id: None,
            slot_id: None,
        }
    }
}

#[async_trait]
impl TypedTool for ReviewOutline {
    type Input = Input;
    type Output = Output;

    fn about(&self) -> About {
        about(
            "hitl.outline_review",
            "Review an outline",
            "Has a person approve, edit or reject an outline. On `status: waiting`, repeat the call.",
        )
    }

    fn asks_people(&self) -> bool {
        true
    }

    async fn run(&self, input: Input, job: &Job) -> Result<TypedOutput<Output>, Failure> {
        let Input { outline, instructions } = input;
        let text = render(&outline);
        let unfit = |path: &str, why: String| {
            Failure::new(Code::InvalidInput, format!("{path}: {why}"))
                .details(json!({"path": path}))
        };
        parse(&text).map_err(|fault| unfit("/outline", fault.reason))?;
        let prompt = match instructions.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            Some(instructions) => {
                format!("{PROMPT}\n\n{}", proto::clean::visible(instructions))
            }
            None => PROMPT.to_owned(),
        };
        let document = Document { kind: "outline", prompt, text, check: OUTLINE_OR_REJECTION };
        let answer = match document.ask(&self.runs, job).await? {
            Reviewed::Answered(answer) => answer,
            Reviewed::Declined => return Ok(Output::of(Status::Rejected, outline).into()),
            Reviewed::Open(open, QuestionAddress { run_id, question_id, slot_id }) => {
                return Ok(open.output(Output {
                    run_id: Some(run_id),
                    question_id: Some(question_id),
                    slot_id: Some(slot_id),
                    ..Output::of(Status::Waiting, outline)
                }));
            }
        };
        if let Some(feedback) = rejection(&answer) {
            let feedback: String = feedback.chars().take(MAX_FEEDBACK).collect();
            let feedback = (!feedback.is_empty()).then_some(feedback);
            return Ok(Output { feedback, ..Output::of(Status::Rejected, outline) }.into());
        }
        let draft = parse(&answer).map_err(|fault| unfit("answer", fault.to_string()))?;
        let (edited, changes) = strip::run_blocking(usize::MAX, || {
            let edited = adopt(&outline, draft);
            let changes = changes(&outline, &edited);
            (edited, changes)
        });
        let status = if changes.is_empty() { Status::Approved } else { Status::Edited };
        Ok(Output { changes, ..Output::of(status, edited) }.into())
    }
}

/// The parts of the definition that the tools here share.
pub(super) fn about(id: &'static str, title: &'static str, description: &'static str) -> About {
    About {
        id,
        title,
        description,
        deterministic: false,
        read_only: false,
        // A question is asked once; the same call again waits for its answer.
        idempotent: true,
        open_world: false,
        limits: RequestedLimits {
            timeout: Some(waiting::LONGEST),
            max_input_bytes: Some(MAX_BYTES),
            max_output_bytes: Some(MAX_BYTES),
        },
    }
}
