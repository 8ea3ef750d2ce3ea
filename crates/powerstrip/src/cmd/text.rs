use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use documents::Form;
use egress::process::Runner;
use reading::{Bounds, Document, Readers};
use serde_json::json;

use crate::context::Context;
use crate::exit::FAILED;

const EXAMPLES: &str = "\
Examples:
  powerstrip text report.pdf                 the text that a tool is given for this file
  powerstrip text report.pdf --json          with its kind, pages, title, and what was removed
  powerstrip text page.html --main           only the article, without menus and notes around it
  powerstrip text page.html --main --markdown --url https://example.com/news/
                                             the same as Markdown, with links that work

It reads PDF, DOCX, PPTX, XLSX, HTML and plain text, as the gateway does: by content, not by name, in the sandbox.";

/// Print the text of a document, as tools are given it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TextCommand {
    /// The document.
    file: PathBuf,
    /// Print only the main content: pages without menus, PDFs without page headers and footers.
    #[arg(long)]
    main: bool,
    /// Print Markdown: headings, links, lists, tables and code.
    #[arg(long)]
    markdown: bool,
    /// The address of the page, to which its links are relative.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Seconds that reading it may take.
    #[arg(long, value_name = "SECONDS", default_value_t = Bounds::default().time.as_secs())]
    timeout: u64,
}

impl TextCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let mut head = Vec::new();
        let opened = userfiles::open(&self.file);
        let read =
            opened.and_then(|file| file.take(documents::SNIFFED as u64).read_to_end(&mut head));
        read.with_context(|| format!("`{}` could not be opened", self.file.display()))?;
        let name = self.file.file_name().map(|name| name.to_string_lossy().into_owned());
        let media_type = documents::sniff(&head, name.as_deref());
        let bounds = Bounds { time: Duration::from_secs(self.timeout), ..Bounds::default() };
        let readers = Readers::new(Arc::new(Runner::new().await?), bounds);
        let form = match (self.main, self.markdown) {
            (false, false) => Form::Text,
            (false, true) => Form::Markdown,
            (true, false) => Form::MainText,
            (true, true) => Form::MainMarkdown,
        };
        let document =
            Document { form, url: self.url, name, ..Document::new(self.file, media_type) };
        match readers.read(document).await {
            Ok(read) if context.global.json => terminal::json(&json!({
                "ok": true,
                "media_type": read.media_type,
                "parts": read.parts,
                "title": read.meta.title,
                "metadata": read.meta,
                "removed": read.removed,
                "truncated": read.truncated,
                "sandbox": read.sandbox.to_string(),
                "text": read.text,
            }))?,
            Ok(read) => terminal::text(format_args!("{}\n", read.text))?,
            Err(failure) if context.global.json => {
                terminal::json(
                    &json!({"ok": false, "media_type": media_type, "error": failure.item()}),
                )?;
                return Ok(FAILED);
            }
            Err(failure) => anyhow::bail!("{}", failure.message),
        }
        Ok(ExitCode::SUCCESS)
    }
}
