//! The tool `research.summarize`.

use std::time::Duration;

use async_trait::async_trait;
use proto::{Code, Failure, RequestedLimits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strip::Job;
use strip::typed::{About, TypedOutput, TypedTool};

use crate::note::Note;
use crate::source::Chunk;

const MAX_BYTES: usize = 1 << 20;
const TIMEOUT: Duration = Duration::from_secs(60);

/// What is said of a tool that writes a part of a report.
pub(crate) fn about(id: &'static str, title: &'static str, description: &'static str) -> About {
    let limits = RequestedLimits {
        timeout: Some(TIMEOUT),
        max_input_bytes: Some(MAX_BYTES),
        max_output_bytes: Some(MAX_BYTES),
    };
    About { limits, ..About::reader(id, title, description).deterministic() }
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
pub struct Summarize;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummarizeInput {
    #[schemars(length(min = 1, max = 2000))]
    pub question: String,
    /// Such as the results of `vector.query.search`.
    #[schemars(length(max = 500))]
    pub chunks: Vec<Chunk>,
}

/// The answers to a question.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Summary {
    pub notes: Vec<Note>,
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
        about("research.summarize", "Answer a question from chunks", description)
    }

    async fn run(&self, input: SummarizeInput, _: &Job) -> Result<TypedOutput<Summary>, Failure> {
        let SummarizeInput { question, chunks } = input;
        let notes = compute(move || super::summarize(&question, &chunks)).await?;
        let mut warnings = Vec::new();
        if notes.is_empty() {
            warnings.push("No sentence of the chunks answers the question.".to_owned());
        }
        Ok(Summary { notes, warnings }.into())
    }
}
