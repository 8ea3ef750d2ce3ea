//! `media-transform-mcp`: documents in other formats.

mod answer;
mod convert;
mod csv;
mod docx;
mod format;
mod html;
mod input;
mod lost;
mod merge;
mod pages;
mod parts;
mod pdf;
mod plain;
mod read;
mod works;

use std::path::PathBuf;
use std::process::ExitCode;

use kit::rmcp::model::ToolAnnotations;
use kit::{FileArgs, FileStrategy, Office, Server, StorageLimits, ToolSpec};

/// The server's own flags.
#[derive(Debug, clap::Args)]
struct Flags {
    /// LibreOffice, which converts Office files as they look; found in `PATH` otherwise
    #[arg(long, value_name = "PATH")]
    libreoffice: Option<PathBuf>,
}

fn main() -> ExitCode {
    kit::start("media-transform-mcp", env!("CARGO_PKG_VERSION"), &works::ALL, describe)
}

fn describe(server: Server, flags: Flags) -> Server {
    let office = Office::new(flags.libreoffice);
    let (for_docx, for_pdf, for_convert) = (office.clone(), office.clone(), office.clone());
    server
        .stores(StorageLimits::default())
        .program(office.program())
        .instructions(
            "Writes documents: Markdown, HTML and JSON as DOCX or PDF, Office files and PDFs as Markdown, HTML, text or CSV. \
             Files are stored; give a `ref_id` of an answer as `source_ref_id` to the next tool. Nothing is fetched: pictures \
             are `data:` addresses (PNG, JPEG) or references of this server.",
        )
        .tool(
            ToolSpec::new(
                "format_document",
                "Brings the structure of a text into order and answers it as Markdown: heading levels without jumps, one kind of \
                 list markers, aligned tables. Words are unchanged. Adds a table of contents and numbers of headings on request.",
            )
            .file_strategy(FileStrategy::PlainTextText)
            .file_args(FileArgs { data: Some("file_text".to_owned()), ..FileArgs::default() })
            .annotations(read_only()),
            format::format,
        )
        .tool(
            ToolSpec::new(
                "generate_docx",
                "Writes a Word document from Markdown, HTML, JSON or another document. A template (DOCX) keeps its styles, \
                 headers and footers: the text takes the place of `{{ content }}`, or comes last, and `data` fills \
                 `{{ path.to.value }}` and repeats table rows over lists.",
            )
            .file_strategy(FileStrategy::BinaryBase64)
            .file_args(file_args(""))
            .file_args(file_args("template_"))
            .annotations(read_only()),
            move |input, ctx| docx::generate(input, ctx, for_docx.clone()),
        )
        .tool(
            ToolSpec::new(
                "convert_to_pdf",
                "Makes a PDF of Markdown, HTML, JSON or a document. Office files look as in the original with LibreOffice \
                 (`fidelity: exact`); without it their text gets a new layout (`approximate`).",
            )
            .file_strategy(FileStrategy::BinaryBase64)
            .annotations(read_only()),
            move |input, ctx| pdf::convert(input, ctx, for_pdf.clone()),
        )
        .tool(
            ToolSpec::new(
                "convert",
                "Converts a text or document to Markdown, HTML, plain text, DOCX, PDF, or its tables to CSV. `lost` says what \
                 the target cannot hold.",
            )
            .file_strategy(FileStrategy::BinaryBase64)
            .annotations(read_only()),
            move |input, ctx| convert::convert(input, ctx, for_convert.clone()),
        )
        .tool(
            ToolSpec::new(
                "merge_pdf",
                "Merges up to 20 PDFs into one, all pages or those in `pages`, such as `1-3,7` for each file. Pages are embedded \
                 with their fonts and web links, not drawn as pictures.",
            )
            .file_strategy(FileStrategy::BinaryBase64)
            .annotations(read_only()),
            merge::merge,
        )
}

fn file_args(prefix: &str) -> FileArgs {
    FileArgs {
        id: Some(format!("{prefix}file_id")),
        data: Some(format!("{prefix}file_data")),
        media_type: Some(format!("{prefix}file_type")),
    }
}

fn read_only() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).open_world(false)
}
