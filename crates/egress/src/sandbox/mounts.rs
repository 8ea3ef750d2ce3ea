//! The mounts of a run's own namespace: the host read-only, the private folder in memory, hidden
//! folders covered.
//!
//! Landlock does not watch modes, owners, times and extended attributes. A read-only mount does.

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use libc::{
    AT_RECURSIVE, MOUNT_ATTR_NODEV as NODEV, MOUNT_ATTR_NOSUID as NOSUID,
    MOUNT_ATTR_RDONLY as RDONLY,
};
use rustix::mount::MountFlags;
use rustix::thread::UnshareFlags;

use super::orders::Confinement;
use super::raw;
use crate::process::Limits;

/// Where programs share memory and semaphores (`shm_open`, `sem_open`).
const SHARED_MEMORY: &str = "/dev/shm";

/// Gives the run its own mounts and returns what it may write beyond its orders. The private
/// folder holds at most `limit` bytes.
pub(super) fn arrange(confinement: &Confinement, limit: u64) -> io::Result<Vec<PathBuf>> {
    raw::unshare(UnshareFlags::NEWNS)?;
    // Not `nodev`: `/dev/null` and its like are mounted from the host.
    raw::set_mount_attributes(c"/", AT_RECURSIVE, RDONLY | NOSUID, 0)?;
    let own = mount_own();
    for path in confinement.write.iter().filter(|path| path.is_dir() || path.is_file()) {
        make_writable(path)?;
    }
    for folder in confinement.hidden.iter().filter(|folder| folder.is_dir()) {
        cover(folder, confinement.private.as_deref())?;
    }
    if let Some(folder) = &confinement.private {
        // The kernel takes a size of 0 for no limit.
        let (bytes, files) = (limit.max(1), Limits::PRIVATE_FILES);
        let options = CString::new(format!("size={bytes},nr_inodes={files},mode=0700"))?;
        mount_tmpfs(folder, &options)?;
    }
    Ok(own)
}

/// Mounts the namespace's own view of processes and its own shared memory. Best effort: some
/// containers mask parts of /proc, and the kernel then refuses a fresh one. The old one shows
/// other processes' names, but Landlock keeps their contents closed; and shared memory that is
/// not our own stays closed altogether.
fn mount_own() -> Vec<PathBuf> {
    let _ = rustix::mount::mount("proc", "/proc", "proc", inert(), None);
    let memory = Path::new(SHARED_MEMORY);
    match mount_tmpfs(memory, c"size=64m,mode=0700") {
        Ok(()) => vec![memory.to_owned()],
        Err(_) => Vec::new(),
    }
}

/// Reopens a file or folder of the host for writing, without device files and set-user-ID programs.
fn make_writable(path: &Path) -> io::Result<()> {
    rustix::mount::mount_bind_recursive(path, path)?;
    let path = CString::new(path.as_os_str().as_bytes())?;
    raw::set_mount_attributes(&path, AT_RECURSIVE, NOSUID | NODEV, 0)?;
    // Mounts that are read-only on the host cannot be made writable, and stay as they are.
    raw::set_mount_attributes(&path, AT_RECURSIVE, 0, RDONLY)
        .or_else(|_| raw::set_mount_attributes(&path, 0, 0, RDONLY))
        .or(Ok(()))
}

/// Covers a folder with an empty one. A private folder below it keeps its path.
fn cover(folder: &Path, private: Option<&Path>) -> io::Result<()> {
    mount_tmpfs(folder, c"size=4k,nr_inodes=64,mode=0555")?;
    if let Some(private) = private.filter(|private| private.starts_with(folder)) {
        fs::create_dir_all(private)?;
    }
    let folder = CString::new(folder.as_os_str().as_bytes())?;
    raw::set_mount_attributes(&folder, 0, RDONLY, 0)
}

fn mount_tmpfs(folder: &Path, options: &CStr) -> io::Result<()> {
    Ok(rustix::mount::mount("tmpfs", folder, "tmpfs", inert(), options)?)
}

fn inert() -> MountFlags {
    MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC
}
