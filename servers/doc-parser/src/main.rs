//! `doc-parser-mcp`: text, tables and metadata of documents.

mod metadata;
mod office;
mod pages;
mod tables;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use kit::rmcp::model::ToolAnnotations;
use kit::{FileStrategy, Office, Server, StorageLimits, ToolSpec};

/// The server's own flags.
#[derive(Debug, clap::Args)]
struct Flags {
    /// LibreOffice, which reads DOC, PPT, XLS, ODT and RTF files; found in `PATH` otherwise
    #[arg(long, value_name = "PATH")]
    libreoffice: Option<PathBuf>,
}

fn main() -> ExitCode {
    let works = [tables::TABLES, metadata::FACTS];
    kit::start("doc-parser-mcp", env!("CARGO_PKG_VERSION"), &works, server)
}

fn server(server: Server, flags: Flags) -> Server {
    let office = Office::new(flags.libreoffice);
    let (for_text, for_tables, for_metadata) = (office.clone(), office.clone(), office.clone());
    server
        .instructions(
            "Reads PDF, DOCX, PPTX, XLSX, HTML and plain text. Scanned pages have no text: image-ocr-mcp reads them.",
        )
        .stores(StorageLimits::default())
        .program(office.program())
        .tool(
            of_file(
                "extract_text",
                "Reads the text of a document in reading order, as plain text or Markdown, with the offsets of its pages. \
                 `part: body` leaves out running heads, page numbers and watermarks.",
            ),
            move |input, ctx| text::extract(input, ctx, for_text.clone()),
        )
        .tool(
            of_file(
                "extract_tables",
                "Finds the tables of a PDF, DOCX, PPTX, XLSX or HTML document, with merged cells. Give `regions` to read \
                 the tables at known places of a PDF: one table for each region.",
            ),
            move |input, ctx| tables::extract(input, ctx, for_tables.clone()),
        )
        .tool(
            of_file(
                "metadata",
                "Says what a document is: title, author, dates, pages, words, language, outline, form fields, and whether \
                 it is encrypted, scanned, signed or has macros.",
            ),
            move |input, ctx| metadata::describe(input, ctx, for_metadata.clone()),
        )
}

/// A tool that reads one file.
fn of_file(name: &'static str, description: &'static str) -> ToolSpec {
    let annotations = ToolAnnotations::new().read_only(true).open_world(false);
    ToolSpec::new(name, description)
        .annotations(annotations)
        .file_strategy(FileStrategy::BinaryBase64)
}
