//! Resource limits of one process.

use std::sync::LazyLock;
use std::thread::available_parallelism;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// What each process of a run may use; a limit that the gateway itself runs under is never raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of private writable memory. Not address space: runtimes such as node reserve far more than they use.
    pub memory: u64,
    /// Bytes of any one file.
    pub file_size: u64,
    /// Bytes of the private folder, all files together.
    pub private_folder: u64,
    /// Open files.
    pub open_files: u64,
    /// Processes and threads, where the run is counted apart from the user's other processes (from T2 on, and not for root).
    pub processes: u64,
    /// Seconds of processor time; a run without one gets its deadline times the processors.
    pub cpu_seconds: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 4 << 30,
            file_size: 64 << 20,
            private_folder: 256 << 20,
            open_files: 1024,
            processes: 512,
            cpu_seconds: None,
        }
    }
}

impl Limits {
    /// Files and folders that a private folder may hold, so that it cannot use up a file system's inodes.
    pub(crate) const PRIVATE_FILES: u64 = 65_536;

    /// A backstop behind the deadline, wide enough for a program that keeps every processor busy.
    pub(super) fn within(mut self, deadline: Duration) -> Self {
        // Asked once: the answer takes several files of /proc and of the control groups.
        static PROCESSORS: LazyLock<u64> =
            LazyLock::new(|| available_parallelism().map_or(1, |count| count.get() as u64));
        self.cpu_seconds =
            self.cpu_seconds.or(Some(deadline.as_secs().saturating_add(2) * *PROCESSORS));
        self
    }

    /// Puts the limits on this process and all that it starts.
    pub(crate) fn apply(&self, counted_apart: bool) -> rustix::io::Result<()> {
        lower(Resource::Core, 0)?;
        lower(Resource::Data, self.memory)?;
        lower(Resource::Fsize, self.file_size)?;
        lower(Resource::Nofile, self.open_files)?;
        if counted_apart {
            lower(Resource::Nproc, self.processes)?;
        }
        if let Some(seconds) = self.cpu_seconds {
            lower(Resource::Cpu, seconds)?;
        }
        Ok(())
    }
}

fn lower(resource: Resource, limit: u64) -> rustix::io::Result<()> {
    let now = getrlimit(resource);
    let limit = now.maximum.map_or(limit, |maximum| maximum.min(limit));
    setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })
}
