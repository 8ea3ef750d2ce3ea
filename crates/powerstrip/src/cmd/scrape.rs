use std::process::ExitCode;

use clap::Args;
use remote::{Invocation, parse_url};
use serde_json::json;
use terminal::Style;
use url::Url;

use super::call::{Target, invoke, print_problems};
use crate::context::Context;
use crate::exit::FAILED;

const EXAMPLES: &str = "\
Examples:
  powerstrip scrape https://example.com/article            the article as Markdown
  powerstrip scrape https://example.com/article --preview  its headings and first 2 KB
  powerstrip scrape https://example.com/report.pdf > report.md
  powerstrip scrape \"https://www.youtube.com/watch?v=ID\"   the transcript
  powerstrip scrape https://example.com --json             with metadata and citation

The content goes to standard output; title, size and warnings go to standard error. Private addresses are refused unless
`egress.allow` in powerstrip.yaml names them.";

/// Read a web page or document and print its content
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ScrapeCommand {
    /// The address, http or https.
    #[arg(value_name = "URL")]
    page: String,
    /// Print only the headings and the first 2 KB.
    #[arg(long)]
    preview: bool,
    /// The most bytes of content; it is cut at a paragraph or sentence.
    #[arg(long, value_name = "BYTES", default_value_t = 50_000, value_parser = clap::value_parser!(u64).range(1..))]
    max_length: u64,
    /// Read it through the gateway at this URL.
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    url: Option<Url>,
}

impl ScrapeCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let address =
            if self.page.contains("://") { self.page } else { format!("https://{}", self.page) };
        let mode = if self.preview { "preview" } else { "full" };
        let input = json!({"url": address, "mode": mode, "max_length": self.max_length});
        let invocation = Invocation::of("web-research:scrape_page", input);
        let target = Target { url: self.url.as_ref(), agent: None };
        let envelope = invoke(context, &loaded, &invocation, target).await?;
        if context.global.json {
            terminal::json(&envelope)?;
        } else {
            print_problems(&envelope, context);
            terminal::research::page(&envelope.data, Style::stderr(&context.environment))?;
        }
        Ok(if envelope.ok { ExitCode::SUCCESS } else { FAILED })
    }
}
