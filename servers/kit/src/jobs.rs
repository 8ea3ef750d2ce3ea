//! Work that may take longer than a call: stored in the folder of `--keep`, restarted from its input after a crash,
//! cancellable, two at once in each process.
//!
//! A server describes its operations once ([`crate::Server::jobs`]). A call submits a job ([`Jobs::submit`]), or runs one
//! and waits for it a while ([`crate::Ctx::run_job`]). Replicas that share the folder share the jobs: each is run by one of them,
//! and all of them answer about it. Without a folder jobs end with the process.

mod answer;
mod context;
mod folder;
mod memory;
mod record;
mod storage;
mod worker;

use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use answer::{JobStatus, OrJob, PendingJob};
pub use context::JobCtx;
use record::Record;
pub use record::{JobError, JobState};
use storage::Storage;

use crate::base::Base;
use crate::progress::Progress;
use crate::stored::ReferenceStore;
use crate::{Fault, StoredRef};

/// How long a call waits for its job, and the most that `job_status` waits.
pub const LONGEST_WAIT: Duration = Duration::from_secs(25);

/// Jobs that run at once in one process.
const AT_ONCE: usize = 2;

/// How often a waiting call looks for changes that another replica has made.
const LOOK: Duration = Duration::from_millis(200);

/// How long the answer of `cancel_job` waits until the job has ended.
const CANCEL_WAIT: Duration = Duration::from_secs(5);

/// How long jobs may take to stop with their process.
const STOP_WAIT: Duration = Duration::from_secs(3);

/// What a job has made.
#[derive(Debug, Clone)]
pub struct JobResult {
    value: Value,
    links: Vec<StoredRef>,
}

impl JobResult {
    /// An answer that links to references.
    pub fn new(
        answer: &impl Serialize,
        links: impl IntoIterator<Item = StoredRef>,
    ) -> Result<Self, Fault> {
        let value = serde_json::to_value(answer)
            .map_err(|error| Fault::internal(format!("the result is not JSON: {error}")))?;
        Ok(Self { value, links: links.into_iter().collect() })
    }
}

type JobFuture = Pin<Box<dyn Future<Output = Result<JobResult, Fault>> + Send>>;

/// The function that does the work of all jobs.
#[derive(Clone)]
pub(crate) struct Operations(Arc<dyn Fn(String, Value, JobCtx) -> JobFuture + Send + Sync>);

impl Operations {
    pub(crate) fn new<F, Fut>(run: F) -> Self
    where
        F: Fn(String, Value, JobCtx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<JobResult, Fault>> + Send + 'static,
    {
        Self(Arc::new(move |operation, arguments, ctx| Box::pin(run(operation, arguments, ctx))))
    }
}

/// The jobs of a server. Clones share them.
#[derive(Clone)]
pub struct Jobs(Arc<Inner>);

struct Inner {
    operations: Operations,
    storage: Storage,
    references: ReferenceStore,
    base: Arc<Base>,
    slots: Arc<Semaphore>,
    is_started: AtomicBool,
    /// Something has changed: a job was added, or one has gone on.
    changed: Notify,
    /// Calls do not wait for jobs any more.
    draining: CancellationToken,
    stopping: CancellationToken,
    running: TaskTracker,
}

impl std::fmt::Debug for Jobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Jobs").field("storage", &self.0.storage).finish_non_exhaustive()
    }
}

impl Jobs {
    pub(crate) fn open(
        operations: Operations,
        references: ReferenceStore,
        base: Arc<Base>,
        folder: Option<PathBuf>,
    ) -> io::Result<Self> {
        Ok(Self(Arc::new(Inner {
            operations,
            storage: Storage::open(folder)?,
            references,
            base,
            slots: Arc::new(Semaphore::new(AT_ONCE)),
            is_started: AtomicBool::new(false),
            changed: Notify::new(),
            draining: CancellationToken::new(),
            stopping: CancellationToken::new(),
            running: TaskTracker::new(),
        })))
    }

    /// Begins to run jobs, also those that an earlier process has left.
    pub(crate) fn start(&self) {
        if !self.0.is_started.swap(true, Ordering::Relaxed) {
            tokio::spawn(worker::run_jobs(self.clone()));
        }
    }

    /// Lets calls that wait for a job answer at once, if the next process will go on with the job and know its id.
    pub(crate) fn drain(&self) {
        if matches!(self.0.storage, Storage::Folder(_)) {
            self.0.draining.cancel();
        }
    }

    /// Stops the running jobs, which the next process begins again.
    pub(crate) async fn stop(&self) {
        self.0.draining.cancel();
        self.0.stopping.cancel();
        self.0.running.close();
        if tokio::time::timeout(STOP_WAIT, self.0.running.wait()).await.is_err() {
            tracing::warn!(jobs = self.0.running.len(), "stopped with jobs running");
        }
    }

    /// Adds a job.
    pub async fn submit(
        &self,
        operation: &str,
        arguments: &(impl Serialize + Sync),
    ) -> Result<JobStatus, Fault> {
        let arguments = serde_json::to_value(arguments)
            .map_err(|error| Fault::internal(format!("the arguments are not JSON: {error}")))?;
        let record = Record::new(operation, arguments);
        self.0.storage.insert(record.clone()).await?;
        self.0.changed.notify_waiters();
        self.start();
        Ok(self.status_of(record))
    }

    /// Runs a job and waits for its result. After [`LONGEST_WAIT`] the answer is its id, and the job goes on; a caller
    /// that gives up before cancels it.
    pub(crate) async fn run<T>(
        &self,
        operation: &str,
        arguments: &(impl Serialize + Sync),
        progress: &Progress,
    ) -> Result<OrJob<T>, Fault> {
        let submitted = self.submit(operation, arguments).await?;
        let mut guard = CancelOnDrop { jobs: self.clone(), id: Some(submitted.job_id.clone()) };
        let record = self.wait(&submitted.job_id, LONGEST_WAIT, Some(progress)).await?;
        guard.id = None;
        match (&record.state, &record.error) {
            (JobState::Failed, Some(error)) => Err(error.clone().into()),
            (JobState::Cancelled, _) => Err(Fault::unavailable("the job was cancelled")),
            (JobState::Done, _) => self.answer_of(record).await,
            _ => Ok(OrJob::pending(PendingJob { job_id: record.id, state: record.state })),
        }
    }

    async fn answer_of<T>(&self, record: Record) -> Result<OrJob<T>, Fault> {
        let status = self.status_of(record.clone());
        let value = match (record.result, record.result_ref) {
            (Some(value), _) => value,
            (None, Some(ref_id)) => {
                let stored = self.0.references.find(&ref_id).await?;
                serde_json::from_slice(&stored.bytes)
                    .map_err(|error| Fault::internal(format!("the result is damaged: {error}")))?
            }
            (None, None) => return Err(Fault::internal("the job has no result")),
        };
        let links = status
            .links
            .into_iter()
            .filter(|link| Some(&link.ref_id) != status.result_ref.as_ref());
        Ok(OrJob::done(value, links.collect()))
    }

    /// How far a job is. Waits until it has ended, at most for `wait`.
    pub async fn status(&self, job_id: &str, wait: Duration) -> Result<JobStatus, Fault> {
        let record = self.wait(job_id, wait.min(LONGEST_WAIT), None).await?;
        Ok(self.status_of(record))
    }

    /// Cancels a job that has not ended.
    pub async fn cancel(&self, job_id: &str) -> Result<JobStatus, Fault> {
        let record = self.find(job_id).await?;
        if record.state.has_ended() {
            return Ok(self.status_of(record));
        }
        if self.0.storage.cancel(job_id).await? {
            self.0.changed.notify_waiters();
        }
        let record = self.wait(job_id, CANCEL_WAIT, None).await?;
        Ok(self.status_of(record))
    }

    async fn find(&self, job_id: &str) -> Result<Record, Fault> {
        self.0.storage.find(job_id).await?.ok_or_else(|| {
            let shown: String = job_id.chars().take(80).collect();
            Fault::not_found(format!(
                "the job `{shown}` is unknown or older than 24 hours: call `create_job` again"
            ))
        })
    }

    /// The job when it has ended, or after this time, or when the server is about to stop.
    async fn wait(
        &self,
        job_id: &str,
        at_most: Duration,
        report_to: Option<&Progress>,
    ) -> Result<Record, Fault> {
        let end = Instant::now() + at_most;
        let mut reported = 0.0;
        loop {
            let changed = self.0.changed.notified();
            let record = self.find(job_id).await?;
            if let Some(progress) = report_to.filter(|_| record.progress > reported) {
                reported = record.progress;
                progress.report(record.progress, 1.0, &record.step).await;
            }
            let is_over = record.state.has_ended() || Instant::now() >= end;
            if is_over || self.0.draining.is_cancelled() {
                return Ok(record);
            }
            tokio::select! {
                () = changed => {}
                () = tokio::time::sleep_until(end.min(Instant::now() + LOOK)) => {}
                () = self.0.draining.cancelled() => {}
            }
        }
    }

    fn status_of(&self, record: Record) -> JobStatus {
        let links = record.links.into_iter().map(|link| self.0.references.with_uri(link));
        JobStatus {
            job_id: record.id,
            state: record.state,
            progress: record.progress,
            step: record.step,
            result: record.result,
            result_ref: record.result_ref,
            error: record.error,
            links: links.collect(),
        }
    }
}

/// Cancels a job whose caller has given up.
struct CancelOnDrop {
    jobs: Jobs,
    id: Option<String>,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let jobs = self.jobs.clone();
        // Tracked, so that a server that stops waits for it: the next one must not go on with the job.
        let cancelling = self.jobs.0.running.track_future(async move {
            if let Err(fault) = jobs.0.storage.cancel(&id).await {
                tracing::warn!(%fault, "a job whose caller gave up could not be cancelled");
            }
        });
        runtime.spawn(cancelling);
    }
}

#[cfg(test)]
mod tests;
