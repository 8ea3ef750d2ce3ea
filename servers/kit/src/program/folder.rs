//! The folder of one run of a program: private, limited in size, and removed also after the server was killed.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use tempfile::TempDir;

/// How the names of these folders begin.
const PREFIX: &str = "powerstrip-program-";

/// A younger folder may not be locked yet by the process that has just made it.
const MIN_AGE: Duration = Duration::from_secs(60);

/// Files that a program may have in its folder, so that it cannot use up a file system's inodes.
const MAX_FILES: usize = 20_000;

/// How often the size is measured.
const LOOK: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(super) struct ProgramFolder {
    folder: TempDir,
    /// Locked while in use: a folder without a lock was left by a process that was killed.
    _lock: File,
}

impl ProgramFolder {
    /// A folder with these files.
    pub(super) fn create(files: Vec<(String, Bytes)>) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        let lock = File::open(folder.path())?;
        lock.lock_shared()?;
        for (name, bytes) in files {
            userfiles::create_new(&folder.path().join(name), &bytes)?;
        }
        Ok(Self { folder, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Resolves when the files have more than `limit` bytes together, or are too many.
    pub(super) async fn outgrows(&self, limit: u64) {
        loop {
            tokio::time::sleep(LOOK).await;
            let path = self.path().to_owned();
            let is_full = tokio::task::spawn_blocking(move || is_full(path, limit)).await;
            if is_full.unwrap_or(true) {
                return;
            }
        }
    }
}

fn is_full(folder: PathBuf, limit: u64) -> bool {
    let (mut files, mut bytes) = (0, 0_u64);
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        // The program may remove what is measured.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(about) = entry.metadata() else { continue };
            files += 1;
            bytes = bytes.saturating_add(about.len());
            if bytes > limit || files > MAX_FILES {
                return true;
            }
            if about.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    false
}

/// Removes the folders of processes that were killed.
pub(crate) fn remove_leftovers() {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if is_ours && is_left(&entry.path(), SystemTime::now()).unwrap_or(false) {
            // Best effort: the next process tries again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether this is a folder that no process holds.
fn is_left(path: &Path, now: SystemTime) -> io::Result<bool> {
    let about = fs::symlink_metadata(path)?;
    let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(about.ctime().unsigned_abs());
    let is_old = now.duration_since(changed).is_ok_and(|age| age >= MIN_AGE);
    Ok(about.is_dir() && is_old && File::open(path)?.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_that_no_process_holds_are_left_behind() {
        let held = ProgramFolder::create(vec![("in.bin".to_owned(), Bytes::from_static(b"x"))]);
        let held = held.unwrap();
        let base = tempfile::tempdir().unwrap();
        let left = base.path().join("left");
        fs::create_dir(&left).unwrap();
        let link = base.path().join("link");
        std::os::unix::fs::symlink(&left, &link).unwrap();
        let later = SystemTime::now() + 2 * MIN_AGE;
        assert!(is_left(&left, later).unwrap());
        assert!(!is_left(&left, SystemTime::now()).unwrap(), "it was made a moment ago");
        assert!(!is_left(held.path(), later).unwrap());
        assert!(!is_left(&link, later).unwrap());
    }

    #[test]
    fn files_of_all_folders_are_counted() {
        let folder = ProgramFolder::create(Vec::new()).unwrap();
        let below = folder.path().join("below");
        fs::create_dir(&below).unwrap();
        File::create(below.join("large")).unwrap().set_len(1 << 40).unwrap();
        assert!(is_full(folder.path().to_owned(), 1 << 30));
        assert!(!is_full(folder.path().to_owned(), 1 << 41));
    }
}
