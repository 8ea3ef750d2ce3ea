//! Equal calls within the window get the recorded answer, and equal calls at the same time run once.
//!
//! Shared work is a future that every waiting caller polls: it goes on when the caller that began it leaves, and is
//! dropped, which stops the tool, when all have left.
//!
//! Calls of side-effecting tools that have a key are also recorded on disk (`records.rs`), so that none runs twice after
//! a restart or after its answer was evicted from memory.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use proto::{Code, Digest, Failure, Principal, digest_of_parts};
use store::{Cache, Recorded};

use super::arguments::Arguments;
use super::audit::Decision;
use super::records::{OnceCall, Records};
use crate::catalog::Entry;
use crate::{Door, Job, Output, Reply};
use files::references_in;

/// The result of running a tool: its output and the output's size.
pub(crate) type ToolResult = Result<(Output, usize), Failure>;

/// How a call with a key was answered.
type Answered = Result<(Output, Decision), CallError>;

type Flight = Shared<BoxFuture<'static, Answered>>;

/// Work in progress that an equal call may join.
struct InFlight {
    number: u64,
    arguments: Digest,
    flight: WeakShared<BoxFuture<'static, Answered>>,
}

#[derive(Default)]
struct Flights {
    by_key: HashMap<Digest, InFlight>,
    count: u64,
}

pub(crate) struct Idempotency {
    answers: Arc<Answers>,
    flights: Arc<Mutex<Flights>>,
}

/// Recorded answers, in memory and on disk.
struct Answers {
    cache: Cache,
    records: Records,
}

/// Under which key a call is recorded, and for which arguments the key was first used.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    key: Digest,
    arguments: Digest,
    caller: Arc<Principal>,
    chosen_by_caller: bool,
    /// Set if the call must not run twice.
    once: Option<Arc<OnceCall>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyReused;

/// Why a call has no answer: a guard refused it, or its tool failed.
#[derive(Clone, Debug)]
pub(crate) enum CallError {
    Refused(Failure),
    Failed(Failure),
}

impl CallError {
    /// The result and the decision of a call that ended with this error.
    pub(crate) fn split<T>(self) -> (Result<T, Failure>, Decision) {
        match self {
            Self::Refused(failure) => (Err(failure), Decision::Refused),
            Self::Failed(failure) => (Err(failure), Decision::Failed),
        }
    }
}

impl From<KeyReused> for CallError {
    fn from(reused: KeyReused) -> Self {
        CallError::Refused(reused.into())
    }
}

impl Idempotency {
    pub(crate) fn new(cache: Cache, records: Records) -> Self {
        Self { answers: Arc::new(Answers { cache, records }), flights: Arc::default() }
    }

    /// The records on disk.
    pub(crate) fn records(&self) -> &Records {
        &self.answers.records
    }

    /// The key of a call, or none if it must run each time.
    pub(crate) fn key(
        job: &Job,
        entry: &Entry,
        arguments: &Arguments,
    ) -> Result<Option<Key>, Failure> {
        let call = job.request();
        if entry.tool.owns_keys() {
            // A key names the workflow, which repeats its current answer itself.
            return Ok(None);
        }
        let cache_key;
        let (kind, asked): (&[u8], &[u8]) = match &call.idempotency_key {
            Some(key) => (b"caller's key", key.as_bytes()),
            None if !entry.descriptor.deterministic => return Ok(None),
            None => {
                cache_key = entry.tool.cache_key(&job.input)?;
                // Tasks, and answers of limited size, get references where other callers get images.
                let of_server = entry.server().is_some();
                let task = call.door == Door::Workflow && of_server;
                let event = call.is_answered_in_one_event() && of_server;
                match &cache_key {
                    Some(key) if task => (b"task's cache key", key.as_bytes()),
                    Some(key) if event => (b"event's cache key", key.as_bytes()),
                    Some(key) => (b"cache key", key.as_bytes()),
                    None if task => (b"task's arguments", arguments.digest.as_bytes()),
                    None if event => (b"event's arguments", arguments.digest.as_bytes()),
                    None => (b"arguments", arguments.digest.as_bytes()),
                }
            }
        };
        let principal = &call.principal;
        let acts = call.idempotency_key.is_some() && entry.descriptor.side_effecting();
        // A caller's key names one call, also if the tool changes before a retry. The definition's digest holds the id,
        // the version and the script's digest.
        let revision = entry.tool.revision().to_le_bytes();
        let (tool, revision): (&[u8], &[u8]) = if acts {
            (entry.descriptor.id.as_str().as_bytes(), b"any")
        } else {
            (entry.definition.as_bytes(), &revision)
        };
        let key = digest_of_parts([
            tool,
            revision,
            principal.tenant.as_str().as_bytes(),
            principal.subject.as_bytes(),
            principal.agent.as_deref().unwrap_or_default().as_bytes(),
            kind,
            asked,
        ]);
        let arguments = arguments.digest;
        Ok(Some(Key {
            key,
            arguments,
            caller: Arc::clone(principal),
            chosen_by_caller: call.idempotency_key.is_some(),
            once: acts.then(|| Arc::new(OnceCall::of(call, entry, key, arguments))),
        }))
    }

    /// Gives the recorded answer, joins an equal call in flight, or does the work and records its success.
    pub(crate) async fn once<W>(
        &self,
        key: Key,
        window: Duration,
        work: impl FnOnce() -> W,
    ) -> Answered
    where
        W: Future<Output = ToolResult> + Send + 'static,
    {
        if let Some(output) = self.answers.recorded(&key).await? {
            return Ok((output, Decision::Replayed));
        }
        let (flight, joined) = self.join_or_start(key, window, work)?;
        let (output, decision) = flight.await?;
        let shared = joined && decision == Decision::Ran;
        Ok((output, if shared { Decision::Shared } else { decision }))
    }

    /// Does work that no other call may join, and records its success under the call's key: the rest of a call that was
    /// interrupted by a question, or a call that joined another which then asked something.
    pub(crate) async fn alone<W>(&self, key: Key, window: Duration, work: W) -> Answered
    where
        W: Future<Output = ToolResult> + Send + 'static,
    {
        self.answers.fresh(key, window, work).await
    }

    /// Fails if the call could not run even if a person approved it: an earlier call with its key was cut off.
    pub(crate) async fn check_outcome(&self, key: &Key) -> Result<(), Failure> {
        let Some(once) = &key.once else { return Ok(()) };
        let known = self.answers.cache.get(&key.key).await.is_some();
        if known || self.locked().by_key.contains_key(&key.key) {
            return Ok(());
        }
        match self.answers.records.find(once).await {
            Ok(_) => Ok(()),
            Err(CallError::Refused(failure) | CallError::Failed(failure)) => Err(failure),
        }
    }

    fn locked(&self) -> MutexGuard<'_, Flights> {
        self.flights.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The shared work of a call, and whether it was in progress before.
    fn join_or_start<W>(
        &self,
        key: Key,
        window: Duration,
        work: impl FnOnce() -> W,
    ) -> Result<(Flight, bool), KeyReused>
    where
        W: Future<Output = ToolResult> + Send + 'static,
    {
        let mut flights = self.locked();
        if let Some(other) = flights.by_key.get(&key.key)
            && let Some(flight) = other.flight.upgrade()
        {
            let reused = key.chosen_by_caller && other.arguments != key.arguments;
            // Before `flight` can be dropped: the last caller to leave locks the flights to remove it.
            drop(flights);
            return if reused { Err(KeyReused) } else { Ok((flight, true)) };
        }
        flights.count += 1;
        let number = flights.count;
        let removal = Removal { key: key.key, number, flights: Arc::clone(&self.flights) };
        let (digest, arguments) = (key.key, key.arguments);
        let (answers, work) = (Arc::clone(&self.answers), work());
        let flight = async move {
            let _removal = removal;
            answers.fresh(key, window, work).await
        };
        let flight = flight.boxed().shared();
        if let Some(weak) = flight.downgrade() {
            flights.by_key.insert(digest, InFlight { number, arguments, flight: weak });
        }
        Ok((flight, false))
    }
}

impl Answers {
    /// An answer that is in memory.
    async fn recorded(&self, key: &Key) -> Result<Option<Output>, KeyReused> {
        let Some(recorded) = self.cache.get(&key.key).await else { return Ok(None) };
        if key.chosen_by_caller && recorded.arguments != key.arguments {
            return Err(KeyReused);
        }
        let Recorded { data, native, .. } = recorded;
        let references = references_in(&data);
        let reply = Reply::Done;
        Ok(Some(Output { data, warnings: Vec::new(), native, reply, blobs: None, references }))
    }

    /// Does the work and records its success, unless a record says that it was done or begun.
    async fn fresh<W>(&self, key: Key, window: Duration, work: W) -> Answered
    where
        W: Future<Output = ToolResult> + Send + 'static,
    {
        let _running = key.once.as_ref().map(|once| self.records.claim(once)).transpose()?;
        if let Some(once) = &key.once {
            // In memory first: a very recent answer may not be on disk yet.
            if let Some(output) = self.recorded(&key).await? {
                return Ok((output, Decision::Replayed));
            }
            if let Some(output) = self.records.find(once).await? {
                return Ok((output, Decision::Replayed));
            }
            self.records.begin(once, window).await?;
        }
        let worked = work.await;
        let receipt = match &key.once {
            Some(once) => self.records.end(once, window, &worked).await,
            None => None,
        };
        let kept = match &worked {
            // A question to one caller is no answer to another, nor to the same one later.
            Ok((output, _)) if output.reply == Reply::Done => self.keep(&key, window, output).await,
            Ok(_) | Err(_) => false,
        };
        // The next call with this key must find what is recorded, in memory or on disk.
        if !kept && let Some(receipt) = receipt {
            // If it cannot be written, neither can the call's audit row, which fails the call.
            let _ = receipt.committed().await;
        }
        let explain = |failure| match &key.once {
            Some(once) => once.explain(failure),
            None => failure,
        };
        let (output, _) = worked.map_err(|failure| CallError::Failed(explain(failure)))?;
        Ok((output, Decision::Ran))
    }

    /// Keeps an answer in memory; returns false if there is no room.
    async fn keep(&self, key: &Key, window: Duration, output: &Output) -> bool {
        let (data, native) = (Arc::clone(&output.data), output.native.clone());
        let recorded = Recorded { data, native, arguments: key.arguments };
        self.cache.put(key.key, &key.caller, recorded, window).await
    }
}

impl Key {
    /// The digest that an answer is recorded under.
    pub(crate) fn digest(&self) -> Digest {
        self.key
    }

    /// Whether the caller chose it.
    pub(crate) fn is_callers(&self) -> bool {
        self.chosen_by_caller
    }

    /// Whether its call must not run twice.
    pub(crate) fn is_durable(&self) -> bool {
        self.once.is_some()
    }
}

/// Removes shared work when it has ended or every caller has left it.
struct Removal {
    key: Digest,
    number: u64,
    flights: Arc<Mutex<Flights>>,
}

impl Drop for Removal {
    fn drop(&mut self) {
        let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        if flights.by_key.get(&self.key).is_some_and(|flight| flight.number == self.number) {
            flights.by_key.remove(&self.key);
        }
    }
}

impl From<KeyReused> for Failure {
    fn from(KeyReused: KeyReused) -> Self {
        Failure::new(
            Code::InvalidInput,
            "this idempotency key was used with other arguments; choose a new key for a new call",
        )
    }
}
