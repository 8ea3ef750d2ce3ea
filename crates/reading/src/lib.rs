//! Extracts text from documents in a confined child process of this binary: no network, no files, limited memory and
//! time. A malicious document can crash its reader, but not the gateway.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use egress::process::{Exit, Finished, Limits, RunError, Runner, Spec};
use egress::sandbox::{Policy, Tier};
use files::text::{ExtractText, ExtractedText};
use proto::{Blame, Code, Failure};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Room in a reader's output for the header line before the text.
const HEADER: u64 = 1 << 20;

/// Limits of a reader process.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The largest document, in bytes.
    pub input: u64,
    /// The largest text, in bytes.
    pub text: u64,
    /// Memory in bytes.
    pub memory: u64,
    /// The longest run time.
    pub time: Duration,
    /// The number of documents read at the same time; others wait.
    pub at_once: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            input: 64 << 20,
            text: 8 << 20,
            memory: 1 << 30,
            time: Duration::from_secs(30),
            at_once: 2,
        }
    }
}

/// The first line of a reader's output; the text follows.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum ReaderHeader {
    Read {
        media_type: String,
        parts: usize,
        title: Option<String>,
        removed: usize,
        truncated: bool,
    },
    Refused {
        kind: String,
        message: String,
    },
    Crashed,
}

/// Extracts text in confined child processes.
#[derive(Clone, Debug)]
pub struct TextExtractor {
    runner: Arc<Runner>,
    bounds: Bounds,
    turns: Arc<Semaphore>,
}

impl TextExtractor {
    pub fn new(runner: Arc<Runner>, bounds: Bounds) -> Self {
        Self { runner, bounds, turns: Arc::new(Semaphore::new(bounds.at_once)) }
    }

    /// The text, and the sandbox tier in which it was extracted.
    pub async fn read(
        &self,
        source: &Path,
        media_type: &str,
        name: Option<&str>,
    ) -> Result<(ExtractedText, Tier), Failure> {
        let what = document_label(media_type, name);
        let size = match tokio::fs::metadata(source).await {
            Ok(metadata) => metadata.len(),
            Err(error) => return Err(internal("the file could not be opened").caused_by(error)),
        };
        if size > self.bounds.input {
            let limit = self.bounds.input;
            let why = format!(
                "it has {size} bytes, at most {limit} are read; send it in several smaller files"
            );
            let details = json!({"reason": "too_large", "size": size, "limit": limit});
            return Err(refused(&what, &why).details(details));
        }
        let _turn = self.turns.acquire().await;
        let finished =
            self.runner.run(self.spec(source, media_type)?, &CancellationToken::new()).await;
        let finished = finished.map_err(|error| self.failed(&what, error))?;
        let tier = finished.tier;
        Ok((self.answer(&what, finished)?, tier))
    }

    fn spec(&self, source: &Path, media_type: &str) -> Result<Spec, Failure> {
        let own =
            own_program().map_err(|error| internal("the reader was not found").caused_by(error))?;
        let limits = Limits {
            memory: self.bounds.memory,
            file_size: 0,
            private_folder: 0,
            open_files: 64,
            processes: 16,
            cpu_seconds: Some(self.bounds.time.as_secs() + 1),
        };
        Ok(Spec::new(own)
            .arg("extract-text")
            .arg(format!("--media-type={media_type}"))
            .arg(format!("--input={}", self.bounds.input))
            .arg(format!("--text={}", self.bounds.text))
            // The allocator would reserve a gigabyte at once, which is the whole limit.
            .env("MIMALLOC_ARENA_EAGER_COMMIT", "0")
            .stdin_file(source)
            .stdout_cap(self.bounds.text + HEADER)
            .deadline(self.bounds.time)
            .limits(limits)
            .policy(Policy::new()))
    }

    fn answer(&self, what: &str, finished: Finished) -> Result<ExtractedText, Failure> {
        let Finished { mut stdout, stderr, exit, .. } = finished;
        let end = stdout.iter().position(|byte| *byte == b'\n');
        let header = end.and_then(|end| serde_json::from_slice(&stdout[..end]).ok());
        let (Some(end), Some(header)) = (end, header) else {
            return Err(self.crashed(what, exit, &stderr));
        };
        match header {
            ReaderHeader::Read { media_type, parts, title, removed, truncated } => {
                stdout.drain(..=end);
                let text = String::from_utf8(stdout)
                    .map_err(|error| internal("the reader's answer was cut").caused_by(error))?;
                Ok(ExtractedText { text, media_type, parts, title, removed, truncated })
            }
            ReaderHeader::Refused { kind, message } => {
                Err(refused(what, &message).details(json!({"reason": kind})))
            }
            ReaderHeader::Crashed => Err(self.crashed(what, exit, &stderr)),
        }
    }

    /// A reader that ended without an answer: out of memory, or crashed.
    fn crashed(&self, what: &str, exit: Exit, stderr: &[u8]) -> Failure {
        let stderr = String::from_utf8_lossy(stderr);
        tracing::warn!(?exit, stderr = %stderr.trim(), "a document reader ended without an answer");
        let (reason, why) = if stderr.contains("memory allocation") {
            let most = self.bounds.memory >> 20;
            (
                "memory",
                format!(
                    "reading it takes more than {most} MB of memory; send it in several smaller files"
                ),
            )
        } else {
            (
                "crashed",
                "its content is not what its format allows; save it again and send that".to_owned(),
            )
        };
        refused(what, &why).details(json!({"reason": reason}))
    }

    fn failed(&self, what: &str, error: RunError) -> Failure {
        match error {
            RunError::TimedOut { after, .. } => {
                let why = format!(
                    "reading it takes longer than {} s; send it in several smaller files",
                    after.as_secs()
                );
                let failure = Failure::new(Code::Timeout, sentence(what, &why));
                failure.blame(Blame::Caller).retryable(false).details(json!({"reason": "time"}))
            }
            RunError::TooMuchOutput { .. } => {
                refused(what, "its text is too large").details(json!({"reason": "too_large"}))
            }
            error => internal("the reader of documents could not be started").caused_by(error),
        }
    }
}

#[async_trait]
impl ExtractText for TextExtractor {
    async fn extract(
        &self,
        source: &Path,
        media_type: &str,
        name: Option<&str>,
    ) -> Result<ExtractedText, Failure> {
        self.read(source, media_type, name).await.map(|(text, _)| text)
    }
}

/// The path of this program; after an upgrade that of its replacement, which reads documents as well.
fn own_program() -> std::io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    let replaced =
        path.to_str().and_then(|path| path.strip_suffix(" (deleted)")).map(PathBuf::from);
    Ok(replaced.unwrap_or(path))
}

/// What messages call a document: its kind and, if known, its name.
fn document_label(media_type: &str, name: Option<&str>) -> String {
    let kind = match media_type {
        "application/pdf" => "PDF",
        kind if kind.contains("wordprocessingml") => "DOCX",
        kind if kind.contains("presentationml") => "PPTX",
        kind if kind.contains("spreadsheetml") => "XLSX",
        "text/html" => "HTML page",
        _ => "file",
    };
    match name {
        Some(name) => format!("this {kind} (`{}`)", proto::clean::visible(name)),
        None => format!("this {kind}"),
    }
}

fn sentence(what: &str, why: &str) -> String {
    format!("{what} could not be read: {why}")
}

fn refused(what: &str, why: &str) -> Failure {
    Failure::new(Code::InvalidInput, sentence(what, why))
}

/// The gateway is at fault, not the document.
fn internal(why: &str) -> Failure {
    Failure::new(Code::Internal, why).blame(Blame::Gateway)
}
