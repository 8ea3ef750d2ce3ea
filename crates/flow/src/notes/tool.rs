//! The tool `research.summarize`.

use std::time::Duration;

use async_trait::async_trait;
use proto::{Code, Failure, RequestedLimits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strip::Job;
use strip::typed::{About, TypedOutput, TypedTool};

use super::model;
use crate::writer::{self, Writer, prompt_id};
use notes::Chunk;
use notes::Note;

const MAX_BYTES: usize = 1 << 20;
const TIMEOUT: Duration = Duration::from_secs(60);

/// Said of a question that no chunk answers.
pub(crate) const NOTHING: &str = "No sentence of the chunks answers the question.";

/// The definition of a tool that writes a part of a report.
pub(crate) fn about(id: &'static str, title: &'static str, description: &'static str) -> About {
    let limits = RequestedLimits {
        timeout: Some(TIMEOUT),
        max_input_bytes: Some(MAX_BYTES),
        max_output_bytes: Some(MAX_BYTES),
    };
    About { limits, ..About::reader(id, title, description).deterministic() }
}

/// A tool that asks a model gives other answers to the same input, and takes longer.
pub(crate) fn with_model(about: About, writer: &Writer) -> About {
    if !writer.is_there() {
        return about;
    }
    let limits = RequestedLimits { timeout: Some(writer::TIMEOUT), ..about.limits };
    About { deterministic: false, limits, ..about }
}

/// Runs work that takes the processor for a while away from the threads that serve calls.
pub(crate) async fn compute<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        Failure::new(Code::Internal, "the text could not be processed").caused_by(error)
    })
}

/// Finds the sentences that answer a question.
pub struct Summarize {
    pub writer: Writer,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummarizeInput {
    #[schemars(length(min = 1, max = 2000))]
    pub question: String,
    /// What the report is about; chunks without any word of it are left out.
    #[schemars(length(max = 500))]
    pub topic: Option<String>,
    /// Such as the results of `vector.query.search`.
    #[schemars(length(max = 500))]
    pub chunks: Vec<Chunk>,
}

/// The answers to a question.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Summary {
    pub notes: Vec<Note>,
    /// The prompts that a model was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

#[async_trait]
impl TypedTool for Summarize {
    type Input = SummarizeInput;
    type Output = Summary;

    fn about(&self) -> About {
        let description =
            "Finds the sentences of chunks that answer a question, each with its verbatim quote.";
        let about = about("research.summarize", "Answer a question from chunks", description);
        with_model(about, &self.writer)
    }

    async fn run(&self, input: SummarizeInput, _: &Job) -> Result<TypedOutput<Summary>, Failure> {
        let mut summary = self.by_model(&input).await;
        if summary.prompts.is_empty() {
            let SummarizeInput { question, topic, chunks } = input;
            summary.notes = compute(move || match topic {
                Some(topic) => notes::summarize(&question, &notes::about_topic(chunks, &topic)),
                None => notes::summarize(&question, &chunks),
            })
            .await?;
        }
        if summary.notes.is_empty() {
            summary.warnings.push(NOTHING.to_owned());
        }
        Ok(summary.into())
    }
}

impl Summarize {
    /// The notes of a model; without usable ones only a warning, and without a model nothing.
    async fn by_model(&self, input: &SummarizeInput) -> Summary {
        let mut summary = Summary::default();
        let chunks = model::shown(&input.chunks);
        if chunks.is_empty() {
            return summary;
        }
        let arguments = model::arguments(&input.question, chunks);
        let answer = match self.writer.ask(model::PROMPT, &arguments).await {
            None => return summary,
            Some(Ok(answer)) => answer,
            Some(Err(refused)) => {
                summary.warnings.push(format!("The model took no notes: {refused}."));
                return summary;
            }
        };
        let read = model::read(&answer, &input.question, chunks);
        if read.unquoted > 0 {
            let count = read.unquoted;
            summary.warnings.push(format!("{count} notes of the model quote what no chunk says."));
        }
        // A model that answers that there is nothing is believed; one that invents its quotes is not.
        if !read.notes.is_empty() || read.unquoted == 0 {
            summary.notes = read.notes;
            summary.prompts = vec![prompt_id(model::PROMPT)];
        }
        summary
    }
}
