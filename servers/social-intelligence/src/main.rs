//! `social-intelligence-mcp`: posts and ads, how they are made, and what makes people share and click.

mod analyze;
mod compare;
mod creative;
mod parts;
mod virality;
mod works;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kit::rmcp::model::ToolAnnotations;
use kit::{FileStrategy, Program, Server, StorageLimits, ToolSpec};

#[derive(Debug, Args)]
struct Flags {
    /// Path of tesseract, if it is not in PATH
    #[arg(long, value_name = "PATH")]
    tesseract: Option<PathBuf>,
}

fn main() -> ExitCode {
    kit::start("social-intelligence-mcp", env!("CARGO_PKG_VERSION"), &works::ALL, describe)
}

fn describe(server: Server, flags: Flags) -> Server {
    let tesseract = Program::new("tesseract", "tesseract-ocr").at(flags.tesseract);
    server
        .instructions(
            "Reads posts and ads: text, picture or both. Scores come from published weights and are not calibrated against \
             results of campaigns: use them to compare drafts, not to predict reach. Offsets count Unicode code points.",
        )
        .program(&tesseract)
        .stores(StorageLimits::default())
        .tool(
            picture_tool(
                "analyze_creative",
                "Analyses a post or an ad for a platform: hook, call to action, reading ease, emotion, length against the \
                 platform's limit, hashtags, links, and of a picture its shape, colours, contrast, sharpness and share of \
                 text. Gives a score from 0 to 100 with its parts, and findings that say what to improve.",
            ),
            move |input, ctx| {
                let tesseract = tesseract.clone();
                async move { analyze::analyze(input, ctx, &tesseract).await }
            },
        )
        .tool(
            picture_tool(
                "score_virality",
                "Scores what makes people share and click a post or an ad: two signals from 0 to 100 with their parts, the \
                 features behind them, and the changes that would raise them most. The weights are published and not \
                 calibrated: signals, no prediction.",
            ),
            virality::score,
        )
        .tool(
            picture_tool(
                "compare_variants",
                "Ranks 2 to 10 variants of a post or an ad by their share and click signals and says where they differ. The \
                 same index in `texts` and `image_data` is one variant.",
            ),
            compare::compare,
        )
}

fn picture_tool(name: &'static str, description: &'static str) -> ToolSpec {
    ToolSpec::new(name, description)
        .file_strategy(FileStrategy::ImageBase64)
        .annotations(ToolAnnotations::new().read_only(true).open_world(false).idempotent(true))
}
