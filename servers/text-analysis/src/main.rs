//! `text-analysis-mcp`: keywords, summaries and classification of a text, made of the text's own words.

mod classify;
mod keywords;
mod reading;
mod summarize;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use kit::{FileArgs, FileStrategy, Server, ToolSpec};
use language::model::StaticModel;

#[derive(clap::Args)]
struct Flags {
    /// Folder with a static embedding model (model.safetensors and tokenizer.json), by which texts are classified by
    /// meaning as well
    #[arg(long, value_name = "DIR", value_parser = open_model)]
    embeddings: Option<Arc<StaticModel>>,
}

fn main() -> ExitCode {
    let works = [keywords::KEYWORDS, summarize::SUMMARY, classify::CLASSES];
    kit::start("text-analysis-mcp", env!("CARGO_PKG_VERSION"), &works, describe)
}

/// Opened with the flags, so that a folder that cannot be used ends the start.
fn open_model(folder: &str) -> Result<Arc<StaticModel>, String> {
    let model = StaticModel::open(Path::new(folder)).map_err(|error| error.to_string())?;
    Ok(Arc::new(model))
}

fn describe(server: Server, flags: Flags) -> Server {
    let model = flags.embeddings;
    server
        .instructions("Analyses plain text. Long documents are best sent as text, without markup.")
        .tool(
            of_text_or_file(
                "extract_keywords",
                "Finds the key phrases of a text, best first, each with a score from 0 to 1 relative to the best, how \
                 often it occurs and where it first occurs. Works without a corpus, in any language; best in English.",
            ),
            keywords::extract,
        )
        .tool(
            of_text_or_file(
                "summarize_text",
                "Summarises a text with its own most telling sentences, in their order. Choose the length by `sentences`, \
                 `max_words` or `ratio`; three sentences otherwise.",
            ),
            summarize::summarize,
        )
        .tool(
            of_text_or_file(
                "classify_text",
                "Says which of your labels fits a text, with probabilities that add up to 1 and the words that support \
                 each. A label is a name, or a name with a description and example texts; these make it much surer.",
            ),
            move |input, ctx| classify::classify(input, ctx, model.clone()),
        )
}

/// A tool that takes a text, or the text in a file.
fn of_text_or_file(name: &'static str, description: &'static str) -> ToolSpec {
    let args = FileArgs { data: Some("file_text".to_owned()), ..FileArgs::default() };
    ToolSpec::new(name, description).file_strategy(FileStrategy::PlainTextText).file_args(args)
}
