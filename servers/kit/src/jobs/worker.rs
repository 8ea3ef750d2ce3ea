//! Runs jobs, one after another in each slot.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::context::{JobCtx, Step};
use super::record::{JobState, Record};
use super::storage::Claim;
use super::{JobResult, Jobs};
use crate::{Code, Fault};

/// How often an idle process looks for jobs that others have left.
const LOOK: Duration = Duration::from_secs(1);

/// How often a running job is compared with what callers want.
const TICK: Duration = Duration::from_millis(200);

/// Progress within a step is written at most this often.
const WRITE: Duration = Duration::from_secs(1);

/// The pause after a job could not be stored.
const UNSTORED: Duration = Duration::from_secs(1);

/// The longest job.
const DEADLINE: Duration = Duration::from_secs(4 * 3600);

/// A result of more bytes becomes a reference.
const MAX_RESULT: usize = 150_000;

/// Claims jobs and runs them until the server stops.
pub(super) async fn run_jobs(jobs: Jobs) {
    let stopping = jobs.0.stopping.clone();
    loop {
        let slot = Arc::clone(&jobs.0.slots).acquire_owned();
        let Some(Ok(slot)) = stopping.run_until_cancelled(slot).await else { return };
        let Some(claim) = stopping.run_until_cancelled(next_job(&jobs)).await else { return };
        let jobs = jobs.clone();
        jobs.0.running.clone().spawn(async move { run_job(&jobs, claim, slot).await });
    }
}

async fn next_job(jobs: &Jobs) -> Claim {
    loop {
        let changed = jobs.0.changed.notified();
        match jobs.0.storage.claim_next().await {
            Ok(Some(claim)) => return claim,
            Ok(None) => {}
            Err(fault) => tracing::warn!(%fault, "jobs cannot be looked for"),
        }
        tokio::select! {
            () = changed => {}
            () = tokio::time::sleep(LOOK) => {}
        }
    }
}

/// How the run of a job ended.
enum Outcome {
    Finished(Result<JobResult, Fault>),
    Cancelled,
    /// The process stops; the next one begins the job again.
    Stopped,
}

async fn run_job(jobs: &Jobs, mut claim: Claim, slot: OwnedSemaphorePermit) {
    let record = &mut claim.record;
    record.state = JobState::Running;
    record.step = "starting".to_owned();
    record.progress = 0.0;
    tracing::info!(job = record.id, operation = record.operation, "a job begins");
    if let Err(fault) = jobs.0.storage.update(record.clone()).await {
        tracing::warn!(%fault, job = record.id, "a job could not be begun");
        // The slot stays taken for a while: the job would be claimed again at once.
        jobs.0.stopping.run_until_cancelled(tokio::time::sleep(UNSTORED)).await;
        return;
    }
    let outcome = run_operation(jobs, record).await;
    let record = claim.record.clone();
    tracing::info!(job = record.id, "a job has ended or stopped");
    let ended = match outcome {
        Outcome::Finished(Ok(result)) => {
            let done = with_result(jobs, record.clone(), result).await;
            done.unwrap_or_else(|fault| record.failed(fault))
        }
        Outcome::Finished(Err(fault)) => record.failed(fault),
        Outcome::Cancelled => record.ended(JobState::Cancelled),
        Outcome::Stopped => {
            let step = "queued".to_owned();
            Record { state: JobState::Queued, step, progress: 0.0, ..record }
        }
    };
    store_end(jobs, ended).await;
    drop(claim);
    drop(slot);
    jobs.0.changed.notify_waiters();
}

/// Stores what became of a job. While that fails, such as on a full disk, it is tried again until the process stops: a job
/// whose end is not stored would be run again.
async fn store_end(jobs: &Jobs, record: Record) {
    loop {
        let stored = if record.state.has_ended() {
            jobs.0.storage.finish(record.clone()).await
        } else {
            jobs.0.storage.update(record.clone()).await
        };
        let Err(fault) = stored else { return };
        tracing::warn!(%fault, job = record.id, "the end of a job could not be stored");
        let pause = tokio::time::sleep(UNSTORED);
        if jobs.0.stopping.run_until_cancelled(pause).await.is_none() {
            return;
        }
    }
}

/// Runs the operation in a task of its own, which ends with this future.
async fn run_operation(jobs: &Jobs, record: &mut Record) -> Outcome {
    let (step, steps) = watch::channel(Step::default());
    let cancel = CancellationToken::new();
    let ctx = JobCtx {
        base: Arc::clone(&jobs.0.base),
        references: jobs.0.references.clone(),
        cancel: cancel.clone(),
        step,
    };
    // The job's programs end when this future ends or is dropped.
    let _guard = cancel.drop_guard();
    let work = (jobs.0.operations.0)(record.operation.clone(), record.arguments.clone(), ctx);
    let work = tokio::time::timeout(DEADLINE, AssertUnwindSafe(work).catch_unwind());
    let mut work = std::pin::pin!(work);
    let mut written = Instant::now();
    loop {
        let step = tokio::select! {
            biased;
            finished = &mut work => return Outcome::Finished(match finished {
                Ok(Ok(outcome)) => outcome,
                // The panic's text may hold the caller's data: it goes to stderr by the panic hook.
                Ok(Err(_panic)) => Err(Fault::internal("the operation panicked on this input")),
                Err(_elapsed) => {
                    let hours = DEADLINE.as_secs() / 3600;
                    let message = format!("the job took longer than {hours} hours");
                    Err(Fault::new(Code::Timeout, message).retryable(false))
                }
            }),
            () = jobs.0.stopping.cancelled() => return Outcome::Stopped,
            () = tokio::time::sleep(TICK) => steps.borrow().clone(),
        };
        match jobs.0.storage.is_cancel_asked(&record.id).await {
            Ok(true) => return Outcome::Cancelled,
            Ok(false) => {}
            Err(fault) => tracing::warn!(%fault, "a job cannot be looked at"),
        }
        let is_next = step.name != record.step && !step.name.is_empty();
        let is_further = step.progress != record.progress && written.elapsed() >= WRITE;
        if is_next || (is_further && !step.name.is_empty()) {
            (record.progress, record.step) = (step.progress, step.name);
            written = Instant::now();
            if let Err(fault) = jobs.0.storage.update(record.clone()).await {
                tracing::warn!(%fault, "progress could not be stored");
            }
            jobs.0.changed.notify_waiters();
        }
    }
}

/// The record of a job that succeeded.
async fn with_result(jobs: &Jobs, record: Record, result: JobResult) -> Result<Record, Fault> {
    let mut done = record.ended(JobState::Done);
    done.links = result.links;
    let text = result.value.to_string();
    if text.len() <= MAX_RESULT {
        done.result = Some(result.value);
        return Ok(done);
    }
    let stored =
        jobs.0.references.store("result", Bytes::from(text), "application/json", "result.json");
    let stored = stored.await?;
    done.result_ref = Some(stored.ref_id.clone());
    done.links.push(stored);
    done.result = None::<Value>;
    Ok(done)
}
