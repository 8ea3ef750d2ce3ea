//! `job-search-mcp`: job descriptions as fields, and search queries for job boards. Nothing is sent.

mod boards;
mod describe;
mod queries;
mod search;

use std::process::ExitCode;

use kit::{FileArgs, FileStrategy, NoFlags, Server, ToolSpec};

const NAME: &str = "job-search-mcp";

fn main() -> ExitCode {
    kit::start(NAME, env!("CARGO_PKG_VERSION"), &[describe::PARSE], |server, _: NoFlags| {
        describe(server)
    })
}

fn describe(server: Server) -> Server {
    let file = FileArgs { data: Some("file_text".to_owned()), ..FileArgs::default() };
    server
        .instructions(
            "Reads job descriptions in English, German, French and Spanish, and writes queries for job boards. Nothing is sent.",
        )
        .tool(
            ToolSpec::new(
                "parse_job_description",
                "Reads a job description: title, level, what it asks for and what is welcome, years of experience, pay, place, remote \
                 work, contract, company and tasks; the places of skills in the text; and signs of a dubious offer. What is not stated \
                 is null. A text that is no job description has `is_job: false`.",
            )
            .file_strategy(FileStrategy::PlainTextText)
            .file_args(file),
            describe::parse,
        )
        .tool(
            ToolSpec::new(
                "generate_search_queries",
                "Writes search queries for job boards in the syntax of each, from a parsed job, a profile or the name of a role. Every \
                 must-have occurs in a query. Nothing is sent: open the URLs, or give the queries to a search tool.",
            ),
            search::generate,
        )
}
