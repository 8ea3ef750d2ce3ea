//! Files of downloads: private, and removed also after the process was killed.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// How the names of these files begin.
const PREFIX: &str = "powerstrip-download-";

/// A file that is removed when this value is dropped.
#[derive(Debug)]
pub(super) struct ScratchFile {
    path: PathBuf,
    /// Locked while in use: a file without a lock was left by a process that was killed.
    locked: File,
}

impl ScratchFile {
    pub(super) fn create() -> io::Result<Self> {
        let folder = std::env::temp_dir().canonicalize()?;
        let path = folder.join(format!("{PREFIX}{}", Uuid::new_v4().simple()));
        let mut options = OpenOptions::new();
        let locked = options.read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        let file = Self { path, locked };
        file.locked.lock_shared()?;
        Ok(file)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The file for writing.
    pub(super) fn handle(&self) -> io::Result<File> {
        self.locked.try_clone()
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(%error, "a download could not be removed");
        }
    }
}

/// Removes the downloads of processes that were killed.
pub(super) fn remove_leftovers() {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_ours || !is_file {
            continue;
        }
        // Files of other users cannot be opened, and those in use are locked.
        let unused = OpenOptions::new().write(true).open(entry.path());
        if unused.is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
