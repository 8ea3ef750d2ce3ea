//! Private folders that a killed gateway has left behind.

use std::ffi::CString;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};
use std::{fs, io};

use rustix::fs::{CWD, FlockOperation, flock};
use rustix::process::getuid;

use super::{PREFIX, open_folder, remove};

/// A younger folder may not be locked yet by the gateway that has just made it.
const MIN_AGE: Duration = Duration::from_secs(60);

/// Removes the folders of runs whose gateway is gone; returns how many. A gateway holds a lock on each folder in use,
/// which the system releases when the process ends, however it ends.
pub(in crate::process) fn remove_leftovers(below: &Path) -> io::Result<usize> {
    let mut removed = 0;
    for entry in fs::read_dir(below)? {
        let entry = entry?;
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if ours && is_left(&entry.path(), SystemTime::now()).unwrap_or(false) {
            match remove(&entry.path()) {
                Ok(()) => removed += 1,
                Err(error) => {
                    let folder = entry.path();
                    tracing::warn!(folder = %folder.display(), %error, "a left private folder could not be removed");
                }
            }
        }
    }
    Ok(removed)
}

/// Whether this is a folder of this user that no process holds.
fn is_left(path: &Path, now: SystemTime) -> io::Result<bool> {
    let found = fs::symlink_metadata(path)?;
    let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(found.ctime().unsigned_abs());
    let old = now.duration_since(changed).is_ok_and(|age| age >= MIN_AGE);
    if !found.is_dir() || found.uid() != getuid().as_raw() || !old {
        return Ok(false);
    }
    let folder = open_folder(CWD, &CString::new(path.as_os_str().as_encoded_bytes())?)?;
    Ok(flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok())
}

#[cfg(test)]
mod tests {
    use super::super::Scratch;
    use super::*;

    #[test]
    fn only_folders_that_no_process_holds_are_left_behind() {
        let base = tempfile::tempdir().unwrap();
        let held = Scratch::create(base.path()).unwrap();
        let left = base.path().join(format!("{PREFIX}left"));
        fs::create_dir(&left).unwrap();
        fs::write(left.join("file"), "x").unwrap();
        fs::create_dir(base.path().join("other")).unwrap();
        std::os::unix::fs::symlink("/", base.path().join(format!("{PREFIX}link"))).unwrap();
        let later = SystemTime::now() + 2 * MIN_AGE;
        assert!(is_left(&left, later).unwrap());
        assert!(!is_left(&left, SystemTime::now()).unwrap(), "it was made a moment ago");
        assert!(!is_left(held.path(), later).unwrap());
        assert!(!is_left(&base.path().join(format!("{PREFIX}link")), later).unwrap());
        assert_eq!(remove_leftovers(base.path()).unwrap(), 0);
        remove(&left).unwrap();
        assert!(!left.exists());
    }
}
