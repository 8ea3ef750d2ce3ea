//! The same question within the window gets the same answer, and equal calls at once run once.
//!
//! Shared work is a future that every waiting caller polls: when the one who began it leaves, the others carry it
//! on, and when all have left it is dropped and the tool stops.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use proto::{Code, Digest, digest_of_parts};
use serde_json::Value;
use store::Cache;

use super::arguments::Arguments;
use crate::catalog::Entry;
use crate::files::references_in;
use crate::{Call, Failure, Output, Reply};

/// What the tool's part of a call yields: its output and the output's size.
pub(crate) type Worked = Result<(Output, usize), Failure>;

type Flight = Shared<BoxFuture<'static, Worked>>;

/// Work under way that an equal call may join.
struct Departed {
    number: u64,
    arguments: Digest,
    flight: WeakShared<BoxFuture<'static, Worked>>,
}

#[derive(Default)]
struct Board {
    departed: HashMap<Digest, Departed>,
    count: u64,
}

/// What became of a call.
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
    /// A guard turned it away before the tool.
    Refused,
    /// The tool was reached, and no good answer came back.
    Failed,
}

impl Decision {
    /// The word that audit rows carry.
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

pub(crate) struct Idempotency {
    cache: Cache,
    board: Arc<Mutex<Board>>,
}

/// Under which key a call is recorded, and for which arguments the key was first used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    key: Digest,
    arguments: Digest,
    chosen_by_caller: bool,
    of_server: bool,
}

#[derive(Debug)]
struct KeyReused;

/// A call that got no good answer: turned away by a guard, or let down by its tool.
#[derive(Debug)]
pub(crate) enum Unanswered {
    Refused(Failure),
    Failed(Failure),
}

impl From<KeyReused> for Unanswered {
    fn from(reused: KeyReused) -> Self {
        Unanswered::Refused(reused.into())
    }
}

impl Idempotency {
    pub(crate) fn new(cache: Cache) -> Self {
        Self { cache, board: Arc::default() }
    }

    /// The key of a call, or none if it must run each time.
    pub(crate) fn key(
        call: &Call,
        entry: &Entry,
        arguments: &Arguments,
    ) -> Result<Option<Key>, Failure> {
        let cache_key;
        let (kind, asked): (&[u8], &[u8]) = match &call.idempotency_key {
            Some(key) => (b"caller's key", key.as_bytes()),
            None if !entry.descriptor.deterministic => return Ok(None),
            None => {
                cache_key = entry.tool.cache_key(&call.input)?;
                match &cache_key {
                    Some(key) => (b"cache key", key.as_bytes()),
                    None => (b"arguments", arguments.digest.as_bytes()),
                }
            }
        };
        let principal = &call.principal;
        // The definition's sum holds the id, the version and the script's sum.
        let key = digest_of_parts([
            entry.definition.as_bytes(),
            &entry.tool.revision().to_le_bytes(),
            principal.tenant.as_str().as_bytes(),
            principal.subject.as_bytes(),
            principal.agent.as_deref().unwrap_or_default().as_bytes(),
            kind,
            asked,
        ]);
        Ok(Some(Key {
            key,
            arguments: arguments.digest,
            chosen_by_caller: call.idempotency_key.is_some(),
            of_server: entry.descriptor.id.server().is_some(),
        }))
    }

    /// A recorded answer, if there is one.
    async fn recorded(&self, key: &Key) -> Result<Option<Output>, KeyReused> {
        let Some(data) = self.cache.get(&key.key).await else { return Ok(None) };
        if key.chosen_by_caller
            && let Some(first) = self.cache.get(&key.first_use()).await
            && *first != key.arguments.to_string()
        {
            return Err(KeyReused);
        }
        // Only an MCP server's answer has a form of its own; most tools need no second look.
        let native = if key.of_server { self.cache.get(&key.native()).await } else { None };
        let references = references_in(&data);
        let reply = Reply::Done;
        Ok(Some(Output { data, warnings: Vec::new(), native, reply, carved: None, references }))
    }

    /// Gives the recorded answer, joins an equal call in flight, or does the work and records its success.
    pub(crate) async fn once<W>(
        &self,
        key: Key,
        window: Duration,
        work: impl FnOnce() -> W,
    ) -> Result<(Output, Decision), Unanswered>
    where
        W: Future<Output = Worked> + Send + 'static,
    {
        if let Some(output) = self.recorded(&key).await? {
            return Ok((output, Decision::Replayed));
        }
        let (flight, decision) = self.board(key, window, work)?;
        let (output, _) = flight.await.map_err(Unanswered::Failed)?;
        Ok((output, decision))
    }

    /// Does the rest of work that was interrupted by a question, and records its success under the first call's key.
    pub(crate) async fn resumed<W>(&self, key: Key, window: Duration, work: W) -> Worked
    where
        W: Future<Output = Worked> + Send + 'static,
    {
        let landing = Landing { key: key.key, number: 0, board: Arc::clone(&self.board) };
        self.depart(key, window, work, landing).await
    }

    fn board<W>(
        &self,
        key: Key,
        window: Duration,
        work: impl FnOnce() -> W,
    ) -> Result<(Flight, Decision), KeyReused>
    where
        W: Future<Output = Worked> + Send + 'static,
    {
        let mut board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(departed) = board.departed.get(&key.key)
            && let Some(flight) = departed.flight.upgrade()
        {
            let reused = key.chosen_by_caller && departed.arguments != key.arguments;
            // Before `flight` can be dropped: the last to leave a flight takes it off the board.
            drop(board);
            return if reused { Err(KeyReused) } else { Ok((flight, Decision::Shared)) };
        }
        board.count += 1;
        let number = board.count;
        let landing = Landing { key: key.key, number, board: Arc::clone(&self.board) };
        let flight = self.depart(key, window, work(), landing);
        if let Some(weak) = flight.downgrade() {
            let departed = Departed { number, arguments: key.arguments, flight: weak };
            board.departed.insert(key.key, departed);
        }
        Ok((flight, Decision::Ran))
    }

    fn depart<W>(&self, key: Key, window: Duration, work: W, landing: Landing) -> Flight
    where
        W: Future<Output = Worked> + Send + 'static,
    {
        let cache = self.cache.clone();
        async move {
            let _landing = landing;
            let worked = work.await;
            // A question to one caller is no answer to another, nor to the same one later.
            if let Ok((output, size)) = &worked
                && output.reply == Reply::Done
            {
                if key.chosen_by_caller {
                    let first = Arc::new(Value::String(key.arguments.to_string()));
                    cache.put(key.first_use(), first, 64, window).await;
                }
                if let Some(native) = &output.native {
                    cache.put(key.native(), Arc::clone(native), *size, window).await;
                }
                cache.put(key.key, Arc::clone(&output.data), *size, window).await;
            }
            worked
        }
        .boxed()
        .shared()
    }
}

impl Key {
    /// The sum that an answer is recorded under.
    pub(crate) fn sum(&self) -> Digest {
        self.key
    }

    /// Where the result in an MCP server's own form is kept.
    fn native(&self) -> Digest {
        digest_of_parts([b"native", self.key.as_bytes()])
    }

    /// Where the arguments of a caller's own key are remembered.
    fn first_use(&self) -> Digest {
        digest_of_parts([b"first use", self.key.as_bytes()])
    }
}

/// Takes a flight off the board when it has landed, or when everybody has left it.
struct Landing {
    key: Digest,
    number: u64,
    board: Arc<Mutex<Board>>,
}

impl Drop for Landing {
    fn drop(&mut self) {
        let mut board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        if board.departed.get(&self.key).is_some_and(|departed| departed.number == self.number) {
            board.departed.remove(&self.key);
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
