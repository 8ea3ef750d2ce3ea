//! Jobs in a folder: `open` has those that wait or run, `ended` the others.
//!
//! `open/ID.json` is the job, `open/ID.lock` is locked by the process that runs it (the lock ends with the process), and
//! `open/ID.cancel` asks that process to end it. Only the holder of the lock writes an open job.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use userfiles::{Access, UserFile};

use super::record::{LIFETIME, Record, is_job_id};

/// The largest stored job; results of more than 150 KB are references.
const MAX_RECORD: u64 = 4 << 20;

/// Ended jobs beyond this many are removed, the oldest first.
const MAX_ENDED: usize = 1000;

#[derive(Debug)]
pub(super) struct FolderJobs {
    folder: PathBuf,
    open: PathBuf,
    ended: PathBuf,
    /// Files that cannot be used, each of which is logged once.
    unusable: Mutex<HashSet<PathBuf>>,
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
        let (open, ended) = (folder.join("open"), folder.join("ended"));
        let jobs = Self { folder, open, ended, unusable: Mutex::default() };
        jobs.create_folders()?;
        jobs.sweep()?;
        Ok(jobs)
    }

    fn create_folders(&self) -> io::Result<()> {
        fs::create_dir_all(self.folder.parent().unwrap_or(&self.folder))?;
        for folder in [&self.folder, &self.open, &self.ended] {
            userfiles::create_private_folder(folder)?;
        }
        Ok(())
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
        let entries = match fs::read_dir(&self.open) {
            Ok(entries) => entries,
            // The folder was removed. It is made again with the next job.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let name = entry?.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(".json"));
            let Some(id) = id.filter(|id| is_job_id(id)) else { continue };
            // Another process may have ended it meanwhile.
            if let Some(record) = self.read_record(&self.file(id, "json"), id)? {
                found.push((record.created_us, id.to_owned()));
            }
        }
        found.sort_unstable();
        Ok(found.into_iter().map(|(_, id)| id).collect())
    }

    pub(super) fn read(&self, id: &str) -> io::Result<Option<Record>> {
        // An ended job is written before the open one is removed.
        let ended = || self.read_record(&self.ended_file(id), id);
        let record = match ended()? {
            Some(record) => Some(record),
            None => match self.read_record(&self.file(id, "json"), id)? {
                Some(record) => Some(record),
                None => ended()?,
            },
        };
        Ok(record.filter(|record| !(record.state.has_ended() && record.has_expired())))
    }

    pub(super) fn write(&self, record: &Record) -> io::Result<()> {
        let path = self.file(&record.id, "json");
        match write_record(&path, record) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.create_folders()?;
                write_record(&path, record)
            }
            written => written,
        }
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
        let path = self.file(id, "lock");
        let file = match userfiles::open_private(&path) {
            Ok(file) => file,
            Err(error) if is_of_one_file(&error) => {
                self.warn_once(&path, &error);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
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
            if at < surplus || is_expired(*written) {
                remove(path)?;
            }
        }
        for entry in fs::read_dir(&self.open)? {
            let entry = entry?;
            let path = entry.path();
            let Ok(about) = entry.metadata() else { continue };
            if !about.is_file() || !is_of_job(&path) {
                continue;
            }
            let is_mark = path.extension().is_some_and(|kind| kind == "lock" || kind == "cancel");
            // No job waits or runs this long, so it is a damaged one, or the draft of a process that was killed.
            if is_mark && !path.with_extension("json").exists() || is_expired(about.modified()?) {
                remove(&path)?;
            }
        }
        Ok(())
    }

    /// The job in a file, if there is one that can be read. One damaged file must not stop all other jobs.
    fn read_record(&self, path: &Path, id: &str) -> io::Result<Option<Record>> {
        let content = match userfiles::read(path, MAX_RECORD) {
            Ok(content) => content,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if is_of_one_file(&error) => {
                self.warn_once(path, &error);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        match serde_json::from_slice::<Record>(&content) {
            // The id becomes a part of paths.
            Ok(record) if record.id == id => Ok(Some(record)),
            Ok(_) => {
                self.warn_once(path, &"it has another id");
                Ok(None)
            }
            Err(error) => {
                self.warn_once(path, &error);
                Ok(None)
            }
        }
    }

    fn warn_once(&self, path: &Path, why: &dyn std::fmt::Display) {
        let mut unusable = self.unusable.lock().unwrap_or_else(PoisonError::into_inner);
        if unusable.insert(path.to_owned()) {
            tracing::warn!(%why, file = %path.display(), "a stored job is damaged and is left out");
        }
    }
}

/// Whether the error is that of one file, and not of the folder, the disk or the process.
fn is_of_one_file(error: &io::Error) -> bool {
    match error.kind() {
        io::ErrorKind::FileTooLarge | io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory => {
            true
        }
        // A link that is refused, and not what the system says about a folder.
        io::ErrorKind::PermissionDenied => error.raw_os_error().is_none(),
        _ => false,
    }
}

fn is_expired(written: SystemTime) -> bool {
    written.elapsed().is_ok_and(|age| age > LIFETIME)
}

/// Whether this is a file that a job is kept in, or the draft of one.
fn is_of_job(path: &Path) -> bool {
    let is_draft = path.extension().is_some_and(|kind| kind == "tmp")
        && path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b".powerstrip-"));
    is_draft || path.file_stem().and_then(|stem| stem.to_str()).is_some_and(is_job_id)
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
