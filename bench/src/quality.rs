//! Quality runs, which measure answers instead of speed.

mod cpu;
mod extraction;
mod json_lines;
mod ndcg;
mod pdf_text;
mod plans;
mod predict;
mod research;
mod research_audit;
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
    Extraction(extraction::Extraction),
    PdfText(PdfText),
    Plans(plans::Plans),
    Research(research::Research),
    Predict(predict::Predict),
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

/// Measure whether the text of PDFs comes out whole and in reading order; prints one line of JSON.
#[derive(Debug, Args)]
#[command(after_help = "\
A row of `gold*.jsonl` is `{\"pdf\": FILE, \"tags\": […], \"text\": …, \"body\": …}`: all that a reader sees, and the same \
without running heads, feet, page numbers and watermarks.")]
pub(crate) struct PdfText {
    /// The folder with `gold*.jsonl` and the documents that it names.
    #[arg(long, value_name = "FOLDER")]
    folder: PathBuf,
}

/// Runs the requested measurement and prints its figures.
pub(crate) fn run(run: &QualityRun) -> anyhow::Result<()> {
    let line = match &run.measure {
        Measure::ToolRetrieval(options) => serde_json::to_string(&retrieval::measure(options)?)?,
        Measure::Extraction(options) => serde_json::to_string(&extraction::measure(options)?)?,
        Measure::PdfText(options) => serde_json::to_string(&pdf_text::measure(options)?)?,
        Measure::Plans(options) => serde_json::to_string(&plans::measure(options)?)?,
        Measure::Research(options) => serde_json::to_string(&research::measure(options)?)?,
        Measure::Predict(options) => serde_json::to_string(&predict::measure(options)?)?,
    };
    writeln!(std::io::stdout().lock(), "{line}").context("the figures cannot be written")
}
