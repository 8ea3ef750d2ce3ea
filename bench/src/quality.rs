//! Quality runs, which measure answers instead of speed.

mod retrieval;

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand};

/// Measure how good answers are.
#[derive(Debug, Args)]
pub(crate) struct QualityRun {
    #[command(subcommand)]
    measure: Measure,
}

#[derive(Debug, Subcommand)]
enum Measure {
    ToolRetrieval(ToolRetrieval),
}

/// Measure whether requests find the right tools; prints one line of JSON, shares in percent.
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

/// Runs the requested measurement and prints its figures.
pub(crate) fn run(run: &QualityRun) -> anyhow::Result<()> {
    let Measure::ToolRetrieval(options) = &run.measure;
    let figures = retrieval::measure(options)?;
    let line = serde_json::to_string(&figures)?;
    writeln!(std::io::stdout().lock(), "{line}").context("the figures cannot be written")
}
