//! Jobs in a folder: `open` has those that wait or run, `ended` the others.
//!
//! `open/ID.json` is the job, `open/ID.lock` is locked by the process that runs it (the lock ends with the process), and
//! `open/ID.cancel` asks that process to end it. Only the holder of the lock writes an open job.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use userfiles::{Access, UserFile};

use super::record::{LIFETIME, Record, is_job_id};

/// The largest stored job; results of more than 150 KB are references.
const MAX_RECORD: u64 = 4 << 20;

/// Ended jobs beyond this many are removed, the oldest first.
const MAX_ENDED: usize = 1000;

#[derive(Debug)]
pub(super) struct FolderJobs {
    open: PathBuf,
    ended: PathBuf,
}

/// Held while a job is claimed.
#[derive(Debug)]
pub(super) struct FolderLock {
    _file: File,
}

impl FolderJobs {
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent)?;
        }
        userfiles::create_private_folder(folder)?;
        let folder = folder.canonicalize()?;
        let jobs = Self { open: folder.join("open"), ended: folder.join("ended") };
        userfiles::create_private_folder(&jobs.open)?;
        userfiles::create_private_folder(&jobs.ended)?;
        jobs.sweep()?;
        Ok(jobs)
    }

    fn file(&self, id: &str, kind: &str) -> PathBuf {
        self.open.join(format!("{id}.{kind}"))
    }

    fn ended_file(&self, id: &str) -> PathBuf {
        self.ended.join(format!("{id}.json"))
    }

    /// The ids of jobs that have not ended, the oldest first.
    pub(super) fn open_jobs(&self) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.open)? {
            let name = entry?.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(".json"));
            let Some(id) = id.filter(|id| is_job_id(id)) else { continue };
            // Another process may have ended it meanwhile.
            if let Some(record) = read_record(&self.file(id, "json"))? {
                found.push((record.created_us, id.to_owned()));
            }
        }
        found.sort_unstable();
        Ok(found.into_iter().map(|(_, id)| id).collect())
    }

    pub(super) fn read(&self, id: &str) -> io::Result<Option<Record>> {
        // An ended job is written before the open one is removed.
        let ended = || read_record(&self.ended_file(id));
        let record = match ended()? {
            Some(record) => Some(record),
            None => match read_record(&self.file(id, "json"))? {
                Some(record) => Some(record),
                None => ended()?,
            },
        };
        Ok(record.filter(|record| !(record.state.has_ended() && record.has_expired())))
    }

    pub(super) fn write(&self, record: &Record) -> io::Result<()> {
        write_record(&self.file(&record.id, "json"), record)
    }

    pub(super) fn end(&self, record: &Record) -> io::Result<()> {
        write_record(&self.ended_file(&record.id), record)?;
        for kind in ["json", "cancel", "lock"] {
            remove(&self.file(&record.id, kind))?;
        }
        self.sweep()
    }

    pub(super) fn ask_cancel(&self, id: &str) -> io::Result<()> {
        if self.file(id, "json").exists() {
            userfiles::open_private(&self.file(id, "cancel"))?;
        }
        Ok(())
    }

    pub(super) fn is_cancel_asked(&self, id: &str) -> io::Result<bool> {
        self.file(id, "cancel").try_exists()
    }

    /// Locks a job, unless another process or another part of this one has.
    pub(super) fn lock(&self, id: &str) -> io::Result<Option<FolderLock>> {
        if !self.file(id, "json").exists() {
            return Ok(None);
        }
        let file = userfiles::open_private(&self.file(id, "lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(FolderLock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Removes ended jobs that are too old or too many, and what is left of jobs that are gone. Files of others stay.
    fn sweep(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.ended)? {
            let entry = entry?;
            if !is_of_job(&entry.path()) {
                continue;
            }
            // Another process may have removed it meanwhile.
            let Ok(about) = entry.metadata() else { continue };
            files.push((about.modified()?, entry.path()));
        }
        files.sort_unstable();
        let surplus = files.len().saturating_sub(MAX_ENDED);
        for (at, (written, path)) in files.iter().enumerate() {
            if at < surplus || written.elapsed().is_ok_and(|age| age > LIFETIME) {
                remove(path)?;
            }
        }
        for entry in fs::read_dir(&self.open)? {
            let path = entry?.path();
            let is_mark = path.extension().is_some_and(|kind| kind == "lock" || kind == "cancel");
            if is_mark && is_of_job(&path) && !path.with_extension("json").exists() {
                remove(&path)?;
            }
        }
        Ok(())
    }
}

/// Whether this is a file that a job is kept in, or the draft of one.
fn is_of_job(path: &Path) -> bool {
    let is_draft = path.extension().is_some_and(|kind| kind == "tmp")
        && path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b".powerstrip-"));
    is_draft || path.file_stem().and_then(|stem| stem.to_str()).is_some_and(is_job_id)
}

fn read_record(path: &Path) -> io::Result<Option<Record>> {
    let content = match userfiles::read(path, MAX_RECORD) {
        Ok(content) => content,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match serde_json::from_slice(&content) {
        Ok(record) => Ok(Some(record)),
        Err(error) => {
            // One damaged file must not stop all other jobs.
            tracing::warn!(%error, file = %path.display(), "a stored job is damaged and is left out");
            Ok(None)
        }
    }
}

fn write_record(path: &Path, record: &Record) -> io::Result<()> {
    let content = serde_json::to_vec(record)?;
    UserFile::find(path)?.replace(&content, Access::OwnerOnly).map(drop)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
