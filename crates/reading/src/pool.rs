//! The pool: warm readers, each for one owner's documents at a time.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use egress::process::Runner;
use egress::sandbox::Tier;
use proto::Failure;
use serde::Serialize;
use tokio::fs::File;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::bounds::Bounds;
use crate::document::{Content, Document, ReadDocument, ScaledPicture};
use crate::failure::{busy, crashed, internal, refused, timed_out, too_large};
use crate::frame::{Answer, PictureCopy, Request, Task};
use crate::reader::{Body, Reader};
use crate::work::{Done, Work};

/// A reader of a larger document is replaced: its allocator holds on to the memory.
const LARGE: u64 = 4 << 20;

/// Reads documents in confined child processes that stay alive for the next document. Clones share the processes, of which
/// none is started before the first document.
#[derive(Clone)]
pub struct Readers(Arc<Pool>);

struct Pool {
    runner: Arc<Runner>,
    /// None: this program.
    program: Option<PathBuf>,
    bounds: Bounds,
    turns: Semaphore,
    idle: Mutex<Idle>,
}

/// Readers that wait for a document, the one used last at the end.
#[derive(Default)]
struct Idle {
    readers: Vec<(Instant, Reader)>,
    /// Whether a task ends those that wait too long.
    tended: bool,
}

impl Idle {
    /// Removes the readers that have waited this long. With them, since when the oldest of the others waits.
    fn unused(&mut self, longest: Duration) -> (Vec<Reader>, Option<Instant>) {
        let now = Instant::now();
        let is_unused = |since: &Instant| now.duration_since(*since) >= longest;
        let unused = self.readers.extract_if(.., |(since, _)| is_unused(since));
        let unused = unused.map(|(_, reader)| reader).collect();
        let oldest = self.readers.iter().map(|(since, _)| *since).min();
        self.tended = oldest.is_some();
        (unused, oldest)
    }
}

/// The outcome of reading a document in one reader.
enum Outcome {
    Answered(Answer, Vec<u8>),
    TimedOut,
    /// The reader ended without an answer, or its parser panicked.
    Crashed {
        stderr: String,
    },
}

impl Readers {
    /// A pool without processes.
    pub fn new(runner: Arc<Runner>, bounds: Bounds) -> Self {
        Self::open(runner, bounds, None)
    }

    /// A pool of readers that are another program, whose `main` calls [`maybe_run_reader`](crate::maybe_run_reader).
    pub fn with_program(runner: Arc<Runner>, bounds: Bounds, program: PathBuf) -> Self {
        Self::open(runner, bounds, Some(program))
    }

    fn open(runner: Arc<Runner>, bounds: Bounds, program: Option<PathBuf>) -> Self {
        let turns = Semaphore::new(bounds.at_once.max(1));
        Self(Arc::new(Pool { runner, program, bounds, turns, idle: Mutex::default() }))
    }

    /// The limits of this pool.
    pub fn bounds(&self) -> &Bounds {
        &self.0.bounds
    }

    /// The ids of the readers that wait for a document; of those in a sandbox, the ids of their supervisors.
    pub fn idle(&self) -> Vec<u32> {
        self.0.lock().readers.iter().filter_map(|(_, reader)| reader.id()).collect()
    }

    /// Reads a document. Dropping the future ends the reader that is at work on it.
    pub async fn read(&self, document: Document) -> Result<ReadDocument, Failure> {
        let what = document.label();
        let (answer, text, sandbox) = self.ask(&document, Task::Read).await?;
        let Answer::Read {
            media_type,
            parts,
            pages,
            meta,
            removed,
            hidden_text,
            truncated,
            unreadable_pages,
            ..
        } = answer
        else {
            return Err(unexpected(answer, &what));
        };
        let text = String::from_utf8(text)
            .map_err(|error| internal("the reader's answer is no text").caused_by(error))?;
        let meta = *meta;
        Ok(ReadDocument {
            text,
            media_type,
            parts,
            pages,
            meta,
            removed,
            hidden_text,
            truncated,
            unreadable_pages,
            sandbox,
        })
    }

    /// Makes a copy of a picture (PNG or JPEG) that has at most `max_pixels`. The longest side of the copy has at most
    /// `longest_side` pixels.
    pub async fn scale_down(
        &self,
        picture: Document,
        longest_side: u32,
        max_pixels: u64,
    ) -> Result<ScaledPicture, Failure> {
        let copy = PictureCopy { longest_side, max_pixels };
        let (answer, bytes, _) = self.ask(&picture, Task::Copy(copy)).await?;
        let Answer::Scaled { media_type, pixels, .. } = answer else {
            return Err(unexpected(answer, &picture.label()));
        };
        Ok(ScaledPicture { bytes: bytes.into(), media_type, pixels })
    }

    /// Runs a function of this program on untrusted bytes. The readers' program calls
    /// [`maybe_run_reader_with`](crate::maybe_run_reader_with) with the same function.
    pub async fn work(
        &self,
        work: &Work,
        options: &impl Serialize,
        document: Document,
    ) -> Result<Done, Failure> {
        let options = serde_json::to_value(options)
            .map_err(|error| internal("the options are not JSON").caused_by(error))?;
        let task = Task::Work { name: work.name().to_owned(), options };
        let (answer, content, _) = self.ask(&document, task).await?;
        let Answer::Worked { value_length, .. } = answer else {
            return Err(unexpected(answer, &document.label()));
        };
        Done::split(value_length, content)
            .map_err(|error| internal("the reader's answer is no JSON").caused_by(error))
    }

    /// Sends a document to a reader, to a second one if the first was lost while it waited. One deadline covers the wait for
    /// other documents, the start of a reader and its work.
    async fn ask(
        &self,
        document: &Document,
        task: Task,
    ) -> Result<(Answer, Vec<u8>, Tier), Failure> {
        let (pool, what) = (&self.0, document.label());
        let length = length_of(&document.content).await?;
        if length > pool.bounds.input {
            return Err(too_large(&what, length, pool.bounds.input));
        }
        let request = Request {
            task,
            media_type: document.media_type.clone(),
            charset: document.charset.clone(),
            url: document.url.clone(),
            form: document.form,
            input: pool.bounds.input,
            text: pool.bounds.text,
            length,
        };
        let begun = Instant::now();
        let deadline = begun + pool.bounds.time;
        let late = |_| busy(&what, &pool.bounds);
        let turn = timeout_at(deadline, pool.turns.acquire()).await.map_err(late)?;
        let turn = turn.map_err(|_| internal("the readers are closed"))?;
        let taken = timeout_at(deadline, pool.take(&document.owner)).await.map_err(late)?;
        let (reader, warm) = taken?;
        let mut waited = begun.elapsed();
        let mut tier = reader.tier();
        let mut outcome = pool.ask(reader, &request, &document.content, deadline).await?;
        // A warm reader may have died while it waited, or of an earlier document.
        if warm && matches!(outcome, Outcome::Crashed { .. }) {
            let started = timeout_at(deadline, pool.start(&document.owner)).await;
            let reader = started.map_err(late)??;
            waited = begun.elapsed();
            tier = reader.tier();
            outcome = pool.ask(reader, &request, &document.content, deadline).await?;
        }
        drop(turn);
        match outcome {
            // Its reader had less than half of the time: the document need not be too large.
            Outcome::TimedOut if waited > pool.bounds.time / 2 => Err(busy(&what, &pool.bounds)),
            Outcome::TimedOut => Err(timed_out(&what, &pool.bounds)),
            Outcome::Crashed { stderr } => {
                tracing::warn!(stderr, "a document reader ended without an answer");
                Err(crashed(&what, &stderr, &pool.bounds))
            }
            Outcome::Answered(answer, content) => Ok((answer, content, tier)),
        }
    }

    /// Ends the readers that wait for a document.
    pub fn close(&self) {
        let readers = std::mem::take(&mut self.0.lock().readers);
        drop(readers);
    }
}

impl Pool {
    /// A waiting reader of this owner's documents, else a new one in the place of the one that has waited longest.
    /// Says whether it has read before. The caller has a turn.
    async fn take(&self, owner: &Option<String>) -> Result<(Reader, bool), Failure> {
        let surplus = {
            let mut idle = self.lock();
            if let Some(place) = idle.readers.iter().rposition(|(_, reader)| reader.owner == *owner)
            {
                return Ok((idle.readers.remove(place).1, true));
            }
            let at_once = self.bounds.at_once.max(1);
            let busy = at_once.saturating_sub(self.turns.available_permits());
            let full = busy + idle.readers.len() > at_once;
            (full && !idle.readers.is_empty()).then(|| idle.readers.remove(0))
        };
        drop(surplus);
        Ok((self.start(owner).await?, false))
    }

    async fn start(&self, owner: &Option<String>) -> Result<Reader, Failure> {
        let program = self.program.clone();
        let started = Reader::start(&self.runner, program, &self.bounds, owner.clone()).await;
        started.map_err(|error| {
            internal("the reader of documents could not be started").caused_by(error)
        })
    }

    /// Reads one document, and keeps the reader for the next if it may be used again.
    async fn ask(
        self: &Arc<Self>,
        mut reader: Reader,
        request: &Request,
        content: &Content,
        deadline: Instant,
    ) -> Result<Outcome, Failure> {
        let body = match content {
            Content::Bytes(bytes) => Body::Bytes(bytes.clone()),
            Content::File(path) => Body::File(File::open(path).await.map_err(unopened)?),
        };
        match timeout_at(deadline, reader.ask(request, body, self.bounds.text)).await {
            Err(_) => Ok(Outcome::TimedOut),
            Ok(Ok((Answer::Crashed, _))) => {
                Ok(Outcome::Crashed { stderr: reader.last_words().await })
            }
            Ok(Ok((answer, text))) => {
                self.keep(reader, request);
                Ok(Outcome::Answered(answer, text))
            }
            Ok(Err(error)) => {
                let stderr = reader.last_words().await;
                tracing::debug!(%error, "a document reader was lost");
                Ok(Outcome::Crashed { stderr })
            }
        }
    }

    fn keep(self: &Arc<Self>, reader: Reader, request: &Request) {
        // A small picture may have many pixels, and what a function has allocated is not known.
        let large = request.length > LARGE || !matches!(request.task, Task::Read);
        if reader.documents >= self.bounds.documents || large {
            return;
        }
        let mut idle = self.lock();
        idle.readers.push((Instant::now(), reader));
        if !std::mem::replace(&mut idle.tended, true) {
            tokio::spawn(end_unused(Arc::downgrade(self), self.bounds.idle));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends readers that have been idle for a while, until none is left.
async fn end_unused(pool: Weak<Pool>, longest: Duration) {
    loop {
        let next = {
            let Some(pool) = pool.upgrade() else { return };
            let (unused, oldest) = pool.lock().unused(longest);
            // Ending a process takes a moment, so the lock is free again.
            drop(unused);
            let Some(oldest) = oldest else { return };
            oldest + longest
        };
        sleep_until(next).await;
    }
}

/// The failure of an answer that is not the one that was asked for.
fn unexpected(answer: Answer, what: &str) -> Failure {
    match answer {
        Answer::Refused { kind, message } => refused(what, &kind, &message),
        _ => internal("the reader's answer was not understood"),
    }
}

async fn length_of(content: &Content) -> Result<u64, Failure> {
    match content {
        Content::Bytes(bytes) => Ok(bytes.len() as u64),
        Content::File(path) => {
            tokio::fs::metadata(path).await.map(|metadata| metadata.len()).map_err(unopened)
        }
    }
}

fn unopened(error: io::Error) -> Failure {
    internal("the file could not be opened").caused_by(error)
}

impl fmt::Debug for Readers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Readers").field("bounds", &self.0.bounds).finish_non_exhaustive()
    }
}
