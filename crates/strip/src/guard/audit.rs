//! Every call leaves one audit row, whatever its outcome, even if its caller left before the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use arc_swap::ArcSwap;
use proto::{Clock, Code, Digest, Failure, MASK, Scrubber, clean, is_secret_name};
use serde_json::Value;
use store::{AuditRow, BegunCall, CallDetail, CommitQueue};

use super::arguments::Arguments;
use crate::catalog::Entry;
use crate::{Job, Request};

/// The longest message of a failure that is kept.
const MAX_MESSAGE_BYTES: usize = 2_048;

/// The longest name of what a row is about, in characters.
const MAX_NAME: usize = 200;

/// The longest arguments, and the longest result, that are kept whole.
const MAX_PAYLOAD_BYTES: usize = 16 * 1024;

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The tool ran for this call.
    Ran,
    /// A recorded answer was given.
    Replayed,
    /// An equal call in flight was joined.
    Shared,
    /// Its caller was asked whether it may run.
    Asked,
    /// A guard refused it before the tool.
    Refused,
    /// The tool was called and failed.
    Failed,
}

impl Decision {
    /// The word in audit rows.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Decision::Ran => "ran",
            Decision::Replayed => "replayed",
            Decision::Shared => "shared",
            Decision::Asked => "asked",
            Decision::Refused => "refused",
            Decision::Failed => "failed",
        }
    }
}

pub(crate) struct Audit {
    commits: CommitQueue,
    clock: Clock,
    /// Removes the secrets of the config from what is kept of calls.
    secrets: ArcSwap<Scrubber>,
    payloads: AtomicBool,
}

/// The content of a call, where it is kept.
pub(crate) struct Content {
    pub(crate) arguments: Arc<Value>,
    pub(crate) result: Option<Arc<Value>>,
}

impl Audit {
    pub(crate) fn new(commits: CommitQueue, clock: Clock) -> Self {
        Self { commits, clock, secrets: ArcSwap::default(), payloads: AtomicBool::new(false) }
    }

    /// Removes these secrets from what is kept of calls.
    pub(crate) fn set_secrets(&self, secrets: Scrubber) {
        self.secrets.store(Arc::new(secrets));
    }

    pub(crate) fn commits(&self) -> &CommitQueue {
        &self.commits
    }

    /// Keeps arguments and results of calls from now on, or does not.
    pub(crate) fn set_payloads(&self, kept: bool) {
        self.payloads.store(kept, Ordering::Relaxed);
    }

    /// Whether arguments and results of calls are kept.
    pub(crate) fn keeps_payloads(&self) -> bool {
        self.payloads.load(Ordering::Relaxed)
    }

    /// What is kept of a call in addition to its row; nothing of most calls.
    fn detail(
        &self,
        failure: Option<&Failure>,
        content: Option<Content>,
    ) -> Option<Box<CallDetail>> {
        if failure.is_none() && content.is_none() {
            return None;
        }
        let secrets = self.secrets.load();
        let mut detail = Box::<CallDetail>::default();
        if let Some(failure) = failure {
            // The message may quote a server or the caller.
            let message = clean::line(&failure.message);
            detail.message =
                Some(shorten(secrets.text(&message).into_owned(), MAX_MESSAGE_BYTES).0);
            detail.answered_by = failure.answered_by().map(str::to_owned);
        }
        if let Some(content) = content {
            let (arguments, cut) = redact(&content.arguments, &secrets);
            (detail.arguments, detail.truncated) = (Some(arguments), cut);
            if let Some(result) = content.result {
                let (result, cut) = redact(&result, &secrets);
                detail.result = Some(result);
                detail.truncated |= cut;
            }
        }
        Some(detail)
    }

    /// Why rows cannot be written at present; no call runs then.
    pub(crate) fn failing(&self) -> Option<String> {
        self.commits.failing()
    }

    /// Opens the row of a call, under the name that its caller gave.
    pub(crate) fn open(self: &Arc<Self>, job: &Job) -> OpenRow {
        OpenRow {
            audit: Arc::clone(self),
            began: Instant::now(),
            begun: None,
            row: Some(Facts {
                request: job.share_request(),
                at_unix_ms: self.clock.unix_ms(),
                entry: None,
                name: job.renamed.as_deref().map(shorten_name),
                arguments: None,
            }),
        }
    }
}

fn shorten_name(name: &str) -> Arc<str> {
    name.chars().take(MAX_NAME).collect::<String>().into()
}

/// What is known of a call. The texts of its row are made when it is closed, so that opening one costs no allocation.
struct Facts {
    request: Arc<Request>,
    at_unix_ms: u64,
    /// The tool, once it is found.
    entry: Option<Arc<Entry>>,
    /// What the row is about, if neither the tool nor the name that the caller gave says it.
    name: Option<Arc<str>>,
    /// The digest of the tool's arguments, once they are known.
    arguments: Option<Digest>,
}

impl Facts {
    fn row(
        &self,
        decision: &'static str,
        outcome: &'static str,
        blame: Option<&'static str>,
        began: Instant,
    ) -> AuditRow {
        let Self { request, entry, .. } = self;
        let tool = match (&self.name, entry) {
            (Some(name), _) => Arc::clone(name),
            (None, Some(entry)) => entry.descriptor.id.shared(),
            (None, None) => shorten_name(&request.tool),
        };
        AuditRow {
            trace: request.trace,
            at_unix_ms: self.at_unix_ms,
            caller: Arc::clone(&request.principal),
            door: request.door.as_str().into(),
            tool,
            version: entry.as_ref().map(|entry| Arc::clone(&entry.version)).unwrap_or_default(),
            definition: entry.as_ref().map(|entry| entry.definition),
            arguments: self.arguments.unwrap_or_else(|| Arguments::of(&request.input).digest),
            decision: decision.into(),
            outcome: outcome.into(),
            blame: blame.map(Into::into),
            duration_us: u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
        }
    }
}

/// The row of a call in progress. Dropped before it is closed, it records that the caller left.
pub(crate) struct OpenRow {
    audit: Arc<Audit>,
    began: Instant,
    /// Set once it is recorded that the call's tool is about to run.
    begun: Option<BegunCall>,
    row: Option<Facts>,
}

/// When the begin of a call must be on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// It is written soon; the tool does not wait for it.
    Trailing,
    /// It is written with what the call writes next.
    Queued,
    /// It is on disk before the tool runs.
    Durable,
}

impl OpenRow {
    /// Records that the call's tool is about to run, so that the trail has the call even if the process ends first.
    pub(crate) async fn begin(&mut self, begin: Begin) -> Result<(), Failure> {
        let Some(facts) = &self.row else { return Ok(()) };
        let row = facts.row("interrupted", Code::Unavailable.as_str(), Some("gateway"), self.began);
        let commits = &self.audit.commits;
        if begin == Begin::Trailing {
            self.begun = Some(commits.begin(row).await.map_err(not_begun)?);
            return Ok(());
        }
        let (begun, receipt) = commits.begin_durably(row).await.map_err(not_begun)?;
        self.begun = Some(begun);
        match begin {
            Begin::Durable => receipt.committed().await.map_err(not_begun),
            Begin::Queued | Begin::Trailing => Ok(()),
        }
    }

    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// Completes the row with the arguments for the tool, and with the tool if one was found.
    pub(crate) fn complete(
        &mut self,
        job: &Job,
        arguments: &Arguments,
        entry: Option<&Arc<Entry>>,
    ) {
        let Some(facts) = &mut self.row else { return };
        facts.arguments = Some(arguments.digest);
        facts.entry = entry.cloned();
        facts.name = match entry {
            Some(_) => None,
            None => job.renamed.as_deref().map(shorten_name),
        };
    }

    /// Sets what the row is about, if that is known only at the end.
    pub(crate) fn is_about(&mut self, name: &str) {
        if let Some(facts) = &mut self.row {
            facts.name = Some(name.into());
        }
    }

    /// Closes the row with the call's end. The answer to a call that may have changed something waits for it.
    pub(crate) async fn close(
        mut self,
        decision: Decision,
        failure: Option<&Failure>,
        content: Option<Content>,
        wait: bool,
    ) -> Result<(), Failure> {
        let Some(facts) = self.row.take() else { return Ok(()) };
        let outcome = failure.map_or("OK", |failure| failure.code.as_str());
        let blame = failure.map(|failure| failure.blame.as_str());
        let row = facts.row(decision.as_str(), outcome, blame, self.began);
        let begun = self.begun.take();
        let detail = self.audit.detail(failure, content);
        let receipt = self.audit.commits.finish(row, begun, detail).await.map_err(unwritten)?;
        if wait { receipt.committed().await.map_err(unwritten) } else { Ok(()) }
    }
}

impl Drop for OpenRow {
    fn drop(&mut self) {
        let Some(facts) = self.row.take() else { return };
        let row = facts.row("abandoned", "CANCELLED", Some("caller"), self.began);
        let (commits, begun) = (self.audit.commits.clone(), self.begun.take());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = commits.finish(row, begun, None).await {
                    tracing::error!(%error, "the audit row of an abandoned call could not be written");
                }
            });
        }
    }
}

/// A value as it is kept, and whether it was cut.
fn redact(value: &Value, secrets: &Scrubber) -> (String, bool) {
    let mut value = value.clone();
    mask(&mut value, false);
    secrets.json(&mut value);
    shorten(value.to_string(), MAX_PAYLOAD_BYTES)
}

/// Masks the values of keys such as `password`, and everything inside them.
fn mask(value: &mut Value, is_secret: bool) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                mask(value, is_secret || is_secret_name(key));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask(item, is_secret)),
        Value::String(_) | Value::Number(_) if is_secret => *value = MASK.into(),
        _ => {}
    }
}

/// A text up to a length in bytes, and whether it was longer.
fn shorten(mut text: String, max_bytes: usize) -> (String, bool) {
    let longer = text.len() > max_bytes;
    if longer {
        text.truncate(text.floor_char_boundary(max_bytes - "…".len()));
        text.push('…');
    }
    (text, longer)
}

fn not_begun(error: store::StoreError) -> Failure {
    let message = "the audit trail cannot be written, so the call was not run; try again";
    Failure::new(Code::Unavailable, message).caused_by(error)
}

fn unwritten(error: store::StoreError) -> Failure {
    Failure::new(
        Code::Unavailable,
        "the call ran, but its audit row is not written yet; look before you repeat it",
    )
    .retryable(false)
    .caused_by(error)
}

#[cfg(test)]
mod tests;
