//! `audit-compliance-mcp`: personal data and its redaction, quality of texts, rule packs, changes between documents.

mod compare;
mod compliance;
mod dictionaries;
mod input;
mod offsets;
mod pdf;
mod personal_data;
mod quality;
mod redact;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use kit::rmcp::model::ToolAnnotations;
use kit::{FileArgs, FileStrategy, Server, StorageLimits, ToolSpec};

use dictionaries::Dictionaries;

#[derive(clap::Args)]
struct Flags {
    /// Folder with Hunspell dictionaries (`de_DE.aff`, `de_DE.dic`), before those of the system
    #[arg(long, value_name = "DIR")]
    dictionaries: Option<PathBuf>,
}

fn main() -> ExitCode {
    kit::start(
        "audit-compliance-mcp",
        env!("CARGO_PKG_VERSION"),
        &[
            redact::TEXT,
            redact::DOCX,
            redact::PDF,
            redact::COUNT,
            personal_data::FIND,
            quality::CHECK,
            compliance::JUDGE,
        ],
        describe,
    )
}

fn describe(server: Server, flags: Flags) -> Server {
    let dictionaries = Arc::new(Dictionaries::new(flags.dictionaries));
    server
        .stores(StorageLimits::default())
        .instructions(
            "Finds and redacts personal data, checks the quality of texts, judges documents by rule packs and compares two \
             versions. Offsets count Unicode code points; `end` is exclusive.",
        )
        .tool(
            of_text(
                "find_pii",
                "Finds personal data in a text: identifiers by pattern and check digits (tier `pattern`), names, places, \
                 organisations, addresses and dates by lists and context (tier `context`, less sure). Each span has a type, a \
                 confidence and the reason. The values are left out unless `include_text` is set.",
            ),
            personal_data::find,
        )
        .tool(
            ToolSpec::new(
                "redact",
                "Redacts personal data in a text, a Word document or a PDF, whose pages become pictures with boxes: all types, the given `types`, or the given `spans` of a \
                 text. Every other place with the same value is redacted too, and metadata is dropped. The result is read \
                 again; `verified` says that no redacted value is left.",
            )
            .file_strategy(FileStrategy::BinaryBase64)
            .annotations(read_only()),
            redact::redact,
        )
        .tool(
            of_text(
                "check_quality",
                "Checks a text: spelling, readability (Flesch, grade, LIX), structure of headings, links, placeholders that \
                 were left, consistency. Gives a score from 0 to 100 with its parts, and findings with their places and \
                 suggestions.",
            ),
            move |input, ctx| quality::check(input, ctx, Arc::clone(&dictionaries)),
        )
        .tool(
            of_text(
                "validate_compliance",
                "Judges a text by a rule pack: one that ships (privacy-notice, contract-basics, plain-language), or your own \
                 `rules` in YAML. Each rule is satisfied, violated, undecided or not applicable, with evidence. It never says \
                 that a document is compliant: a person decides.",
            ),
            compliance::validate,
        )
        .tool(
            ToolSpec::new(
                "compare_documents",
                "Compares two versions of a document (PDF, DOCX, PPTX, XLSX, HTML, text) and lists the paragraphs that were \
                 added, removed or changed, with their pages, and how similar the versions are.",
            )
            .file_strategy(FileStrategy::BinaryBase64)
            .file_args(version_args("old"))
            .file_args(version_args("new"))
            .annotations(read_only()),
            compare::compare,
        )
}

/// A tool that takes a text, or the text in a file.
fn of_text(name: &'static str, description: &'static str) -> ToolSpec {
    let args = FileArgs { data: Some("file_text".to_owned()), ..FileArgs::default() };
    ToolSpec::new(name, description)
        .file_strategy(FileStrategy::PlainTextText)
        .file_args(args)
        .annotations(read_only())
}

fn version_args(version: &str) -> FileArgs {
    FileArgs {
        id: Some(format!("{version}_file_id")),
        data: Some(format!("{version}_file_data")),
        media_type: Some(format!("{version}_file_type")),
    }
}

fn read_only() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).open_world(false)
}
