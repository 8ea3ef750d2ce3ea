//! Quality runs: how good an answer is, where speed is not the question.

mod retrieval;

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand};

/// Measure how good answers are.
#[derive(Debug, Args)]
pub(crate) struct QualityRun {
    #[command(subcommand)]
    of: Of,
}

#[derive(Debug, Subcommand)]
enum Of {
    ToolRetrieval(ToolRetrieval),
}

/// Whether a request finds the right tools; prints one line of JSON, shares in percent.
#[derive(Debug, Args)]
#[command(after_help = "\
A tool is a line `{\"name\": …, \"description\": …, \"parameters\": {NAME: {\"description\": …}}}`, a query a line \
`{\"query\": …, \"relevant\": [NAMES]}`.")]
pub(crate) struct ToolRetrieval {
    /// The tools, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    tools: PathBuf,
    /// The requests and the tools that they need, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// A folder with a static embedding model (`model.safetensors`, `tokenizer.json`).
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
}

/// Runs what was asked for and prints its figures.
pub(crate) fn run(run: &QualityRun) -> anyhow::Result<()> {
    let Of::ToolRetrieval(asked) = &run.of;
    let figures = retrieval::measure(asked)?;
    let line = serde_json::to_string(&figures)?;
    writeln!(std::io::stdout().lock(), "{line}").context("the figures cannot be written")
}
