//! Watches the size of a private folder where the kernel does not limit it.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::task::JoinHandle;

use crate::process::Limits;
#[cfg(target_os = "linux")]
use crate::process::tree;

/// The interval between checks while the folder changes.
const SOONEST: Duration = Duration::from_millis(50);

/// The interval between checks when the folder has not changed for a while.
const LATEST: Duration = Duration::from_secs(1);

/// Ends a program whose private folder outgrows its limit. Dropping it ends the watch.
pub(in crate::process) struct Watch {
    task: JoinHandle<()>,
    passed: Arc<AtomicBool>,
    limit: u64,
}

impl Watch {
    pub(in crate::process) fn start(folder: &Path, supervisor: Pid, limit: u64) -> Self {
        let passed = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(watch(folder.to_owned(), supervisor, limit, Arc::clone(&passed)));
        Self { task, passed, limit }
    }

    /// Ends the watch: once the supervisor has ended its process id is free for another process.
    pub(in crate::process) fn stop(&self) {
        self.task.abort();
    }

    /// The limit, if the program was ended for passing it.
    pub(in crate::process) fn passed(&self) -> Option<u64> {
        self.passed.load(Ordering::Acquire).then_some(self.limit)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn watch(folder: PathBuf, supervisor: Pid, limit: u64, passed: Arc<AtomicBool>) {
    let mut pause = SOONEST;
    let mut before = Usage::default();
    loop {
        tokio::time::sleep(pause).await;
        let measured = folder.clone();
        let usage = tokio::task::spawn_blocking(move || Usage::of(&measured, supervisor)).await;
        let Ok(usage) = usage else { return };
        if usage.bytes > limit || usage.files > Limits::PRIVATE_FILES {
            if !passed.swap(true, Ordering::AcqRel) {
                tracing::warn!(limit, "a program was ended: its private folder outgrew its limit");
            }
            end(supervisor);
            pause = SOONEST;
        } else {
            pause = if usage == before { (pause * 2).min(LATEST) } else { SOONEST };
        }
        before = usage;
    }
}

/// The space that a private folder uses.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Usage {
    bytes: u64,
    files: u64,
}

impl Usage {
    /// Measures a folder and the deleted files that processes below `supervisor` still have open.
    fn of(folder: &Path, supervisor: Pid) -> Self {
        let mut usage = Self::default();
        let mut linked = HashSet::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                // Deeper than a path can be long: no program needs that, and nothing can measure it.
                Err(error) if error.kind() == io::ErrorKind::InvalidFilename => {
                    return Self { bytes: u64::MAX, files: u64::MAX };
                }
                Err(_) => continue,
            };
            for entry in entries.flatten() {
                let Ok(metadata) = entry.metadata() else { continue };
                if metadata.is_dir() {
                    folders.push(entry.path());
                }
                // Without the set a file with many names would count once for each.
                if metadata.is_dir()
                    || metadata.nlink() < 2
                    || linked.insert((metadata.dev(), metadata.ino()))
                {
                    usage.add(&metadata);
                }
            }
        }
        usage.add_deleted(folder, supervisor);
        usage
    }

    #[cfg(target_os = "linux")]
    fn add_deleted(&mut self, folder: &Path, supervisor: Pid) {
        let Ok(device) = fs::metadata(folder).map(|metadata| metadata.dev()) else { return };
        let mut seen = HashSet::new();
        for process in tree::descendants(supervisor) {
            let open = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
            for metadata in open.filter_map(|entry| fs::metadata(entry.path()).ok()) {
                let deleted = metadata.is_file() && metadata.nlink() == 0;
                if deleted && metadata.dev() == device && seen.insert(metadata.ino()) {
                    self.add(&metadata);
                }
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn add_deleted(&mut self, _: &Path, _: Pid) {}

    fn add(&mut self, metadata: &Metadata) {
        /// The unit in which every Unix counts the blocks of a file.
        const BLOCK: u64 = 512;
        self.bytes = self.bytes.saturating_add(metadata.blocks().saturating_mul(BLOCK));
        self.files += 1;
    }
}

/// Kills all below the supervisor, which reaps and then ends by itself.
#[cfg(target_os = "linux")]
fn end(supervisor: Pid) {
    tree::signal(&tree::descendants(supervisor), Signal::KILL);
}

#[cfg(not(target_os = "linux"))]
fn end(supervisor: Pid) {
    let _ = rustix::process::kill_process_group(supervisor, Signal::KILL);
}
