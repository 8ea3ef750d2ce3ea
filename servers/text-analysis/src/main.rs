//! `text-analysis-mcp`: what a text is about, in a few words, in a few sentences, or as one of the caller's labels.
//!
//! Nothing is guessed from the outside: every answer is made of the text's own words, and says which.

mod classify;
mod keywords;
mod reading;
mod summarize;

use std::process::ExitCode;

use kit::{Server, ToolSpec};

fn main() -> ExitCode {
    kit::main(server())
}

fn server() -> Server {
    Server::new("text-analysis-mcp", env!("CARGO_PKG_VERSION"))
        .instructions("Analyses plain text. Long documents are best sent as text, without markup.")
        .tool(
            ToolSpec::new(
                "extract_keywords",
                "Finds the key phrases of a text, best first, each with a score from 0 to 1 relative to the best, how \
                 often it occurs and where it first occurs. Works without a corpus, in any language; best in English.",
            ),
            keywords::extract,
        )
        .tool(
            ToolSpec::new(
                "summarize_text",
                "Summarises a text with its own most telling sentences, in their order. Choose the length by `sentences`, \
                 `max_words` or `ratio`; three sentences otherwise.",
            ),
            summarize::summarize,
        )
        .tool(
            ToolSpec::new(
                "classify_text",
                "Says which of your labels fits a text, with probabilities that add up to 1 and the words that spoke for \
                 each. A label is a name, or a name with a description and example texts; these make it much surer.",
            ),
            classify::classify,
        )
}

/// Scores are good for four digits at most.
fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}
