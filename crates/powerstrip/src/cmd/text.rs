use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use egress::process::Runner;
use serde_json::json;

use crate::context::Context;
use crate::exit::FAILED;
use reading::{Bounds, TextExtractor};

const EXAMPLES: &str = "\
Examples:
  powerstrip text report.pdf                 the text that a tool is given for this file
  powerstrip text report.pdf --json          with its kind, pages, title, and what was removed

It reads PDF, DOCX, PPTX, XLSX, HTML and plain text, as the gateway does: by content, not by name, in the sandbox.";

/// Print the text of a document, as tools are given it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TextCommand {
    /// The document.
    file: PathBuf,
    /// Seconds that reading it may take.
    #[arg(long, value_name = "SECONDS", default_value_t = Bounds::default().time.as_secs())]
    timeout: u64,
}

impl TextCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let mut head = Vec::new();
        let opened = File::open(&self.file);
        let read =
            opened.and_then(|file| file.take(documents::SNIFFED as u64).read_to_end(&mut head));
        read.with_context(|| format!("`{}` could not be opened", self.file.display()))?;
        let name = self.file.file_name().map(|name| name.to_string_lossy().into_owned());
        let media_type = documents::sniff(&head, name.as_deref());
        let bounds = Bounds { time: Duration::from_secs(self.timeout), ..Bounds::default() };
        let extractor = TextExtractor::new(Arc::new(Runner::new().await?), bounds);
        match extractor.read(&self.file, media_type, name.as_deref()).await {
            Ok((text, tier)) if context.global.json => terminal::json(&json!({
                "ok": true,
                "media_type": text.media_type,
                "parts": text.parts,
                "title": text.title,
                "removed": text.removed,
                "truncated": text.truncated,
                "sandbox": tier.to_string(),
                "text": text.text,
            }))?,
            Ok((text, _)) => terminal::line(text.text)?,
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
