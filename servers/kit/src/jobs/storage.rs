//! Where jobs are kept.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::folder::{FolderJobs, FolderLock};
use super::memory::{MemoryJobs, MemoryLock};
use super::record::{JobState, MAX_RESTARTS, Record, is_job_id};
use crate::Fault;

/// Jobs that wait or run; more are refused.
const MAX_OPEN: usize = 100;

#[derive(Debug, Clone)]
pub(super) enum Storage {
    /// They end with the process.
    Memory(Arc<MemoryJobs>),
    /// They outlive it, and replicas share them.
    Folder(Arc<FolderJobs>),
}

/// The right to run or end a job, which one process has at a time.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) record: Record,
    _lock: Lock,
}

#[derive(Debug)]
pub(super) enum Lock {
    Memory { _held: MemoryLock },
    Folder { _held: FolderLock },
}

impl Storage {
    pub(super) fn open(folder: Option<PathBuf>) -> io::Result<Self> {
        Ok(match folder {
            Some(folder) => Self::Folder(Arc::new(FolderJobs::open(&folder.join("jobs"))?)),
            None => Self::Memory(Arc::default()),
        })
    }

    /// Adds a job to the queue.
    pub(super) async fn insert(&self, record: Record) -> Result<(), Fault> {
        let is_full = self.blocking(|storage| Ok(storage.open_jobs()?.len() >= MAX_OPEN)).await?;
        if is_full {
            return Err(Fault::unavailable(format!(
                "{MAX_OPEN} jobs are waiting or running already; try again later, or cancel some"
            )));
        }
        self.blocking(move |storage| storage.write(&record)).await
    }

    pub(super) async fn find(&self, id: &str) -> Result<Option<Record>, Fault> {
        if !is_job_id(id) {
            return Ok(None);
        }
        let id = id.to_owned();
        self.blocking(move |storage| storage.read(&id)).await
    }

    /// Writes how far a claimed job is.
    pub(super) async fn update(&self, record: Record) -> Result<(), Fault> {
        self.blocking(move |storage| storage.write(&record)).await
    }

    /// Writes the end of a claimed job.
    pub(super) async fn finish(&self, record: Record) -> Result<(), Fault> {
        self.blocking(move |storage| storage.end(&record)).await
    }

    /// Asks for a job's end, and ends it if no process runs it. Returns whether it has ended.
    pub(super) async fn cancel(&self, id: &str) -> Result<bool, Fault> {
        let id = id.to_owned();
        self.blocking(move |storage| {
            storage.ask_cancel(&id)?;
            let Some(claim) = storage.claim(&id)? else { return Ok(false) };
            storage.end(&claim.record.clone().ended(JobState::Cancelled))?;
            Ok(true)
        })
        .await
    }

    pub(super) async fn is_cancel_asked(&self, id: &str) -> Result<bool, Fault> {
        let id = id.to_owned();
        self.blocking(move |storage| match storage {
            Self::Memory(jobs) => Ok(jobs.is_cancel_asked(&id)),
            Self::Folder(jobs) => jobs.is_cancel_asked(&id),
        })
        .await
    }

    /// Claims the oldest job that no process runs. Ends those that cannot be run any more.
    pub(super) async fn claim_next(&self) -> Result<Option<Claim>, Fault> {
        self.blocking(|storage| {
            for id in storage.open_jobs()? {
                let Some(mut claim) = storage.claim(&id)? else { continue };
                let record = &mut claim.record;
                let is_asked = match storage {
                    Self::Memory(jobs) => jobs.is_cancel_asked(&id),
                    Self::Folder(jobs) => jobs.is_cancel_asked(&id)?,
                };
                if is_asked || record.has_expired() {
                    storage.end(&record.clone().ended(JobState::Cancelled))?;
                    continue;
                }
                // It is running and yet not claimed: its process has died.
                if record.state == JobState::Running {
                    if record.restarts >= MAX_RESTARTS {
                        storage.end(&record.clone().failed(given_up()))?;
                        continue;
                    }
                    record.restarts += 1;
                    tracing::warn!(job = id, restarts = record.restarts, "a job is begun again");
                }
                return Ok(Some(claim));
            }
            Ok(None)
        })
        .await
    }

    /// The ids of jobs that have not ended, the oldest first.
    fn open_jobs(&self) -> io::Result<Vec<String>> {
        match self {
            Self::Memory(jobs) => Ok(jobs.open_jobs()),
            Self::Folder(jobs) => jobs.open_jobs(),
        }
    }

    fn read(&self, id: &str) -> io::Result<Option<Record>> {
        match self {
            Self::Memory(jobs) => Ok(jobs.read(id)),
            Self::Folder(jobs) => jobs.read(id),
        }
    }

    fn write(&self, record: &Record) -> io::Result<()> {
        match self {
            Self::Memory(jobs) => jobs.write(record),
            Self::Folder(jobs) => jobs.write(record)?,
        }
        Ok(())
    }

    fn end(&self, record: &Record) -> io::Result<()> {
        match self {
            Self::Memory(jobs) => jobs.end(record),
            Self::Folder(jobs) => jobs.end(record)?,
        }
        Ok(())
    }

    fn ask_cancel(&self, id: &str) -> io::Result<()> {
        match self {
            Self::Memory(jobs) => jobs.ask_cancel(id),
            Self::Folder(jobs) => jobs.ask_cancel(id)?,
        }
        Ok(())
    }

    /// Claims a job that has not ended and that is not claimed yet.
    fn claim(&self, id: &str) -> io::Result<Option<Claim>> {
        let lock = match self {
            Self::Memory(jobs) => MemoryJobs::lock(jobs, id).map(|it| Lock::Memory { _held: it }),
            Self::Folder(jobs) => jobs.lock(id)?.map(|it| Lock::Folder { _held: it }),
        };
        let Some(lock) = lock else { return Ok(None) };
        // Read again: it may have ended before it was locked.
        let Some(record) = self.read(id)? else { return Ok(None) };
        if record.state.has_ended() {
            // A process that was killed at its end has left it among the open ones, with its input.
            self.end(&record)?;
            return Ok(None);
        }
        Ok(Some(Claim { record, _lock: lock }))
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> io::Result<T> + Send + 'static,
    ) -> Result<T, Fault> {
        let storage = self.clone();
        crate::blocking(move || work(&storage)).await?.map_err(|error| {
            // The path stays in the log: it names a user of this machine.
            tracing::warn!(%error, "jobs cannot be stored");
            match error.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    Fault::unavailable("the disk of the server's --keep folder is full")
                }
                _ => Fault::unavailable("the server's --keep folder cannot be used"),
            }
        })
    }
}

fn given_up() -> Fault {
    Fault::internal(format!(
        "the server ended {} times while it ran this job, so it is not tried again: send another file, or look at the \
         server's log",
        MAX_RESTARTS + 1
    ))
}
