//! `text-analysis-mcp`: keywords, summaries and classification of a text, made of the text's own words.

mod classify;
mod keywords;
mod reading;
mod summarize;

use std::process::ExitCode;

use kit::{FileArgs, FileStrategy, Server, ToolSpec};

fn main() -> ExitCode {
    kit::main(server())
}

fn server() -> Server {
    Server::new("text-analysis-mcp", env!("CARGO_PKG_VERSION"))
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
            classify::classify,
        )
}

/// A tool that takes a text, or the text in a file.
fn of_text_or_file(name: &'static str, description: &'static str) -> ToolSpec {
    let args = FileArgs { data: Some("file_text".to_owned()), ..FileArgs::default() };
    ToolSpec::new(name, description).file_strategy(FileStrategy::PlainTextText).file_args(args)
}
