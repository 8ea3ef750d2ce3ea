//! Durable records of calls with a caller's key: what an earlier process began or answered is not run again.
//!
//! "Begun" is committed before the tool runs. The answer is queued before the call's audit row, for whose commit the
//! caller waits.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use proto::{Clock, Code, Digest, Failure, Principal};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::{CallChange, CallRecord, CallState, CommitQueue, Database, Receipt, StoreError};

use super::idempotency::{CallError, KeyReused, ToolResult};
use crate::catalog::Entry;
use crate::{Output, Reply, Request};
use files::references_in;

/// A larger answer is not stored: after a restart it is only known that the call was answered.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// How often expired records are removed.
const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// Where the calls that must not run twice are recorded.
pub(crate) struct Records {
    commits: CommitQueue,
    database: Database,
    clock: Clock,
    /// The keys whose calls this process runs at present.
    running: Mutex<HashSet<Digest>>,
}

/// The only call of its key that runs at present.
pub(crate) struct Running<'a> {
    running: &'a Mutex<HashSet<Digest>>,
    key: Digest,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        locked(self.running).remove(&self.key);
    }
}

/// A call that must not run twice.
#[derive(Debug)]
pub(crate) struct OnceCall {
    key: Digest,
    arguments: Digest,
    caller: Arc<Principal>,
    tool: Arc<str>,
    /// Whether running twice has the effect of running once.
    repeatable: bool,
    timeout: Duration,
}

/// An answer as it is stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    data: Arc<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    native: Option<Arc<Value>>,
}

impl OnceCall {
    pub(crate) fn of(call: &Request, entry: &Entry, key: Digest, arguments: Digest) -> Self {
        Self {
            key,
            arguments,
            caller: Arc::clone(&call.principal),
            tool: entry.descriptor.id.shared(),
            repeatable: entry.descriptor.annotations.idempotent_hint == Some(true)
                || entry.tool.repeats_calls(),
            timeout: entry.limits.timeout,
        }
    }

    /// A failure of this call for its caller. Where the effect is unknown, the call must not be repeated.
    pub(crate) fn explain(&self, mut failure: Failure) -> Failure {
        if self.repeatable || !failure.effect_unknown {
            return failure;
        }
        let mut details = match failure.details.take() {
            Some(Value::Object(details)) => details,
            _ => Map::new(),
        };
        details.insert("outcome".to_owned(), json!("unknown"));
        failure.retry_after = None;
        failure.retryable(false).details(Value::Object(details))
    }
}

impl Records {
    pub(crate) fn new(commits: CommitQueue, database: Database, clock: Clock) -> Self {
        Self { commits, database, clock, running: Mutex::default() }
    }

    /// Makes a call the only one of its key. Equal calls share their work before they get here; calls that answer a
    /// question do not.
    pub(crate) fn claim(&self, once: &OnceCall) -> Result<Running<'_>, CallError> {
        if !locked(&self.running).insert(once.key) {
            return Err(CallError::Refused(under_way()));
        }
        Ok(Running { running: &self.running, key: once.key })
    }

    /// The answer of an earlier call with the same key, if there is one. Fails where such a call may have taken effect
    /// and its answer is not known.
    pub(crate) async fn find(&self, once: &OnceCall) -> Result<Option<Output>, CallError> {
        let found = self.database.call_record(&once.key, self.clock.unix_ms()).await;
        let Some(found) = found.map_err(unread)? else { return Ok(None) };
        if found.arguments != once.arguments {
            return Err(KeyReused.into());
        }
        match found.state {
            CallState::Begun if once.repeatable => Ok(None),
            CallState::Begun => Err(CallError::Refused(unknown())),
            CallState::Answered(None) => Err(CallError::Refused(not_kept())),
            CallState::Answered(Some(text)) => {
                let Stored { data, native } = serde_json::from_str(&text)
                    .map_err(|error| CallError::Refused(not_kept().caused_by(error)))?;
                let references = references_in(&data);
                let reply = Reply::Done;
                let warnings = Vec::new();
                Ok(Some(Output { data, warnings, native, reply, blobs: None, references }))
            }
        }
    }

    /// Records that the call begins; returns when that is on disk. If it cannot be recorded, the call must not run.
    pub(crate) async fn begin(&self, once: &OnceCall, window: Duration) -> Result<(), CallError> {
        // If the process ends while the tool runs, the window begins when the tool would have been stopped.
        let record = self.record(once, CallState::Begun, window.saturating_add(once.timeout));
        let begun =
            async { self.commits.change_calls(CallChange::Save(record)).await?.committed().await };
        let Err(error) = begun.await else { return Ok(()) };
        // The row may still be written when the database is back, and the call did not run: the next one with this key may.
        let forgotten = self.commits.end_call(CallChange::Forget(once.key)).await;
        if let Err(error) = forgotten {
            tracing::error!(%error, "a call with an idempotency key that did not run could not be forgotten");
        }
        Err(CallError::Refused(unwritten(error)))
    }

    /// Records how the call ended. A failed call may be run again; one whose effect is unknown may not, and its beginning
    /// stays recorded.
    pub(crate) async fn end(
        &self,
        once: &OnceCall,
        window: Duration,
        worked: &ToolResult,
    ) -> Option<Receipt> {
        let change = match worked {
            Ok((output, _)) => match output.reply {
                Reply::Done => {
                    let state = CallState::Answered(stored(output));
                    CallChange::Save(self.record(once, state, window))
                }
                // The tool has asked something and has not acted yet; the call is repeated with the answer.
                Reply::NeedsInput => CallChange::Forget(once.key),
                // The server works on, and the caller polls its task.
                Reply::Pending => return None,
            },
            Err(failure) if failure.code == Code::Timeout || failure.effect_unknown => return None,
            Err(_) => CallChange::Forget(once.key),
        };
        let noted = self.commits.end_call(change).await;
        noted.inspect_err(|error| tracing::error!(%error, "the end of a call with an idempotency key could not be recorded")).ok()
    }

    /// Removes expired records. Never returns.
    pub(crate) async fn tend(&self) {
        let mut tick = tokio::time::interval(SWEEP_EVERY);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            if let Err(error) = self.database.sweep_call_records(self.clock.unix_ms()).await {
                tracing::warn!(%error, "expired records of calls could not be removed");
            }
        }
    }

    fn record(&self, once: &OnceCall, state: CallState, ttl: Duration) -> CallRecord {
        let now = self.clock.unix_ms();
        CallRecord {
            key: once.key,
            caller: Arc::clone(&once.caller),
            tool: Arc::clone(&once.tool),
            arguments: once.arguments,
            state,
            at_unix_ms: now,
            expires_unix_ms: now.saturating_add(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX)),
        }
    }
}

fn stored(output: &Output) -> Option<String> {
    let (data, native) = (Arc::clone(&output.data), output.native.clone());
    let text = serde_json::to_string(&Stored { data, native }).ok()?;
    (text.len() <= MAX_ANSWER_BYTES).then_some(text)
}

fn locked(running: &Mutex<HashSet<Digest>>) -> MutexGuard<'_, HashSet<Digest>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

fn under_way() -> Failure {
    let message = "a call with this idempotency key is under way; try again to get its answer";
    Failure::new(Code::Unavailable, message)
}

fn unknown() -> Failure {
    Failure::new(
        Code::Unavailable,
        "an earlier call with this idempotency key was cut off, and whether it took effect is unknown; it is not run \
         again. Check what it did, then use a new key if it must run",
    )
    .retryable(false)
    .details(json!({"outcome": "unknown"}))
}

fn not_kept() -> Failure {
    Failure::new(
        Code::Unavailable,
        "an earlier call with this idempotency key was answered, and the answer is not kept any more; it is not run \
         again. Use a new key if it must run",
    )
    .retryable(false)
    .details(json!({"outcome": "answered"}))
}

fn unread(error: StoreError) -> CallError {
    if let Some(column) = error.damaged_column() {
        let message = format!(
            "the record of this idempotency key is damaged (its {column} cannot be read), so whether an earlier call \
             took effect is unknown; nothing was run. Check what it did, then use a new key if it must run"
        );
        let failure = Failure::new(Code::Internal, message).retryable(false);
        return CallError::Refused(failure.details(json!({"outcome": "unknown"})).caused_by(error));
    }
    let message = "the record of this idempotency key cannot be read at present; nothing was run";
    CallError::Refused(Failure::new(Code::Unavailable, message).caused_by(error))
}

fn unwritten(error: StoreError) -> Failure {
    let message = "that the call begins could not be recorded, so it was not run; try again";
    Failure::new(Code::Unavailable, message).caused_by(error)
}
