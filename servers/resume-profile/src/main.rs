//! `resume-profile-mcp`: résumés as profiles, how well they fit jobs, and résumés tailored to one.

mod document;
mod fit;
mod input;
mod json_resume;
mod profile;
mod render;
mod tailor;

use std::process::ExitCode;

use kit::rmcp::model::ToolAnnotations;
use kit::{FileStrategy, NoFlags, Server, StorageLimits, ToolSpec};

const NAME: &str = "resume-profile-mcp";

fn main() -> ExitCode {
    kit::start(NAME, env!("CARGO_PKG_VERSION"), &[tailor::SET_RESUME], |server, _: NoFlags| {
        describe(server)
    })
}

fn describe(server: Server) -> Server {
    server
        .instructions(
            "Reads résumés as PDF, DOCX, Markdown or text. Parse a file once, and give its `ref_id` as `source_ref_id` to the other tools.",
        )
        .stores(StorageLimits::default())
        .tool(
            of_file(
                "parse_document",
                "Reads a résumé and stores it as Markdown under a reference, with its sections and with what automatic screening would \
                 read badly.",
            ),
            document::parse,
        )
        .tool(
            of_file(
                "extract_profile",
                "Reads contact data, positions, degrees and skills from a résumé, as a profile or in the JSON Resume format; dates are \
                 `YYYY-MM`, `YYYY` or `present`. What is not stated is null.",
            ),
            profile::extract,
        )
        .tool(
            of_file(
                "score_fit",
                "Scores how well a résumé fits a job, from 0 to 100, with the parts of the score and the evidence for each requirement. \
                 Contact data is not read.",
            ),
            fit::score_fit,
        )
        .tool(
            of_file("rank_jobs", "Ranks up to 50 job descriptions by how well a résumé fits them, the best first."),
            fit::rank_jobs,
        )
        .tool(
            of_file(
                "tailor_resume",
                "Writes a résumé for a role as PDF or DOCX: bullets and skills that a job asks for move up, and the least relevant bullets \
                 are left out where the pages are full. It invents nothing; rewordings in `edits` that add a fact are refused.",
            ),
            tailor::tailor,
        )
}

/// A tool that takes a file, or a reference to one.
fn of_file(name: &'static str, description: &'static str) -> ToolSpec {
    let annotations = ToolAnnotations::new().read_only(true).open_world(false);
    ToolSpec::new(name, description)
        .annotations(annotations)
        .file_strategy(FileStrategy::BinaryBase64)
}
