//! Reads documents in a child process of this very binary: no network, no files, little memory, little time. Whatever a
//! stranger's file does to its reader, the gateway goes on and says what happened.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use egress::process::{Exit, Finished, Limits, RunError, Runner, Spec};
use egress::sandbox::{Policy, Tier};
use proto::{Blame, Code};
use serde::{Deserialize, Serialize};
use serde_json::json;
use strip::Failure;
use strip::files::text::{ExtractedText, TextOf};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Room in a reader's output for the line that comes before the text.
const HEADER: u64 = 1 << 20;

/// What a reader may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Bytes of a document.
    pub(crate) input: u64,
    /// Bytes of its text.
    pub(crate) text: u64,
    /// Bytes of memory.
    pub(crate) memory: u64,
    /// From start to end.
    pub(crate) time: Duration,
    /// Documents that are read at once; others wait.
    pub(crate) at_once: usize,
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

/// What a reader says in its first line; the text follows.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub(crate) enum Told {
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

/// The text of files, read by confined children.
#[derive(Clone, Debug)]
pub(crate) struct TextExtractor {
    runner: Arc<Runner>,
    bounds: Bounds,
    turns: Arc<Semaphore>,
}

impl TextExtractor {
    pub(crate) fn new(runner: Arc<Runner>, bounds: Bounds) -> Self {
        Self { runner, bounds, turns: Arc::new(Semaphore::new(bounds.at_once)) }
    }

    /// The text, and the sandbox rung that held while it was read.
    pub(crate) async fn read(
        &self,
        source: &Path,
        media_type: &str,
        name: Option<&str>,
    ) -> Result<(ExtractedText, Tier), Failure> {
        let what = called(media_type, name);
        let size = match tokio::fs::metadata(source).await {
            Ok(metadata) => metadata.len(),
            Err(error) => return Err(broken("the file could not be opened").caused_by(error)),
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
            own_program().map_err(|error| broken("the reader was not found").caused_by(error))?;
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
            // The allocator takes a gigabyte at once where it may, which would be all that there is.
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
        let told = end.and_then(|end| serde_json::from_slice(&stdout[..end]).ok());
        let (Some(end), Some(told)) = (end, told) else {
            return Err(self.crashed(what, exit, &stderr));
        };
        match told {
            Told::Read { media_type, parts, title, removed, truncated } => {
                stdout.drain(..=end);
                let text = String::from_utf8(stdout)
                    .map_err(|error| broken("the reader's answer was cut").caused_by(error))?;
                Ok(ExtractedText { text, media_type, parts, title, removed, truncated })
            }
            Told::Refused { kind, message } => {
                Err(refused(what, &message).details(json!({"reason": kind})))
            }
            Told::Crashed => Err(self.crashed(what, exit, &stderr)),
        }
    }

    /// A reader that ended without an answer: out of memory, or out of its mind.
    fn crashed(&self, what: &str, exit: Exit, stderr: &[u8]) -> Failure {
        let said = String::from_utf8_lossy(stderr);
        tracing::warn!(?exit, stderr = %said.trim(), "a document's reader ended without an answer");
        let (reason, why) = if said.contains("memory allocation") {
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
            RunError::TooMuchOutput { .. } => refused(what, "it becomes more text than is taken")
                .details(json!({"reason": "too_large"})),
            error => broken("the reader of documents could not be started").caused_by(error),
        }
    }
}

#[async_trait]
impl TextOf for TextExtractor {
    async fn text(
        &self,
        source: &Path,
        media_type: &str,
        name: Option<&str>,
    ) -> Result<ExtractedText, Failure> {
        self.read(source, media_type, name).await.map(|(text, _)| text)
    }
}

/// This program's file; after an upgrade the one that took its place, which reads documents, too.
fn own_program() -> std::io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    let replaced =
        path.to_str().and_then(|path| path.strip_suffix(" (deleted)")).map(PathBuf::from);
    Ok(replaced.unwrap_or(path))
}

/// How messages call a document: by its name, or by its kind.
fn called(media_type: &str, name: Option<&str>) -> String {
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

/// Something of ours is at fault, not the document.
fn broken(why: &str) -> Failure {
    Failure::new(Code::Internal, why).blame(Blame::Gateway)
}
