//! The private folder of one run: its making, the watch over its size, and its removal.
//!
//! The program chooses what is in the folder, so nothing here trusts it: folders without rights,
//! folders nested deeper than any path or any number of descriptors reaches.

use std::ffi::{CStr, CString};
use std::fs::Permissions;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::fs::{
    AtFlags, CWD, Dir, FlockOperation, Mode, OFlags, flock, openat, renameat, unlinkat,
};
use rustix::io::Errno;
use uuid::Uuid;

pub(super) use leftovers::remove_leftovers;
pub(super) use watch::Watch;

mod leftovers;
mod watch;

/// How the names of these folders begin.
const PREFIX: &str = "powerstrip-run-";

/// Entries of a folder that are read before they are removed.
const BATCH: usize = 1024;

/// A folder of its own for one run, readable by the gateway's user only. Dropping it removes it with all that is in it.
#[derive(Debug)]
pub(super) struct Scratch {
    path: PathBuf,
    /// Locked while the folder is in use: a folder without a lock was left by a gateway that was killed.
    _lock: OwnedFd,
}

impl Scratch {
    pub(super) fn create(below: &Path) -> io::Result<Self> {
        fs::create_dir_all(below)?;
        let folder = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(below.canonicalize()?)?;
        let name = CString::new(folder.path().as_os_str().as_encoded_bytes())?;
        let lock = open_folder(CWD, &name)?;
        flock(&lock, FlockOperation::NonBlockingLockShared)?;
        Ok(Self { path: folder.keep(), _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folder if it is empty, which takes no time, and returns it otherwise.
    pub(super) fn remove_empty(mut self) -> Option<Self> {
        let Ok(()) = fs::remove_dir(&self.path) else { return Some(self) };
        self.path = PathBuf::new();
        None
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.path.as_os_str().is_empty() {
            return;
        }
        if let Err(error) = remove(&self.path) {
            let folder = self.path.display();
            tracing::warn!(%folder, %error, "a private folder could not be removed");
        }
    }
}

/// Removes a folder and all that is in it, with a fixed number of descriptors whatever its depth:
/// a folder inside a folder is moved up to the top before it is emptied.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {}
        _ => return Ok(()),
    }
    let name = CString::new(path.as_os_str().as_encoded_bytes())?;
    take_rights(CWD, &name)?;
    let top = open_folder(CWD, &name)?;
    loop {
        let names = batch(&top)?;
        if names.is_empty() {
            return fs::remove_dir(path);
        }
        for name in &names {
            if !remove_simple(&top, name)? {
                flatten(&top, name)?;
            }
        }
    }
}

/// Removes a folder right below `top`, whose own folders are moved to `top` for a later turn.
fn flatten(top: &OwnedFd, name: &CStr) -> io::Result<()> {
    take_rights(top, name)?;
    let folder = open_folder(top, name)?;
    loop {
        let names = batch(&folder)?;
        if names.is_empty() {
            return Ok(unlinkat(top, name, AtFlags::REMOVEDIR)?);
        }
        for name in &names {
            if !remove_simple(&folder, name)? {
                // Moving a folder changes its `..`, for which it must be writable.
                take_rights(&folder, name)?;
                renameat(&folder, name, top, Uuid::new_v4().to_string())?;
            }
        }
    }
}

/// Removes a file or an empty folder; false for a folder that is not empty.
fn remove_simple(folder: &OwnedFd, name: &CStr) -> io::Result<bool> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) => return Ok(true),
        // A folder, by the names of Linux and of POSIX.
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(error) => return Err(error.into()),
    }
    match unlinkat(folder, name, AtFlags::REMOVEDIR) {
        Ok(()) => Ok(true),
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The next entries, without `.` and `..`.
fn batch(folder: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if entry.file_name() != c"." && entry.file_name() != c".." {
            names.push(entry.file_name().to_owned());
        }
        if names.len() == BATCH {
            break;
        }
    }
    Ok(names)
}

fn open_folder(at: impl AsFd, name: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(at, name, flags, Mode::empty())?)
}

/// Gives us all rights to a folder of ours. By descriptor, because a process that outlived its run
/// could replace the folder by a link.
#[cfg(target_os = "linux")]
fn take_rights(at: impl AsFd, name: &CStr) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(at, name, flags, Mode::empty())?;
    let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
    fs::set_permissions(path, Permissions::from_mode(0o700))
}

#[cfg(not(target_os = "linux"))]
fn take_rights(at: impl AsFd, name: &CStr) -> io::Result<()> {
    Ok(rustix::fs::chmodat(at, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)?)
}

#[cfg(test)]
mod tests;
