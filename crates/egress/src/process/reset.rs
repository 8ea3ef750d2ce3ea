//! Resets a long-lived program to its initial state, apart from its own memory.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal};

use super::tree;

/// The poll interval while the processes of a run are dying.
const STEP: Duration = Duration::from_millis(2);

/// The most polls; a program that keeps starting processes is given up.
const LOOKS: usize = 100;

/// Where a run has shared memory of its own.
const SHARED_MEMORY: &str = "/dev/shm";

/// A run of a long-lived program.
pub(super) struct Run<'a> {
    pub(super) supervisor: Pid,
    /// Whether the program lives in namespaces of its own.
    pub(super) isolated: bool,
    pub(super) private_folder: Option<&'a Path>,
}

impl Run<'_> {
    /// Whether only the program itself is alive, and all that it could write is empty.
    pub(super) fn is_untouched(&self) -> bool {
        let alone = tree::program_and_others(self.supervisor, self.isolated);
        let program = alone.filter(|(_, others)| others.is_empty()).map(|(program, _)| program);
        let places = program.and_then(|program| self.places(program));
        places.is_some_and(|places| places.iter().all(|place| is_empty(place)))
    }

    /// Kills every process of the run but the program itself, and empties the private folder and the run's own shared
    /// memory. False if any of it is left: such a program must not be used again.
    pub(super) async fn reset(&self) -> bool {
        let Some(program) = self.end_others().await else { return false };
        let Some(places) = self.places(program) else { return false };
        if places.iter().all(|place| is_empty(place)) {
            return true;
        }
        // Off the runtime's threads: the program chose how much is in there.
        let emptied = tokio::task::spawn_blocking(move || places.iter().all(|place| empty(place)));
        emptied.await.unwrap_or(false)
    }

    async fn end_others(&self) -> Option<Pid> {
        for _ in 0..LOOKS {
            let (program, others) = tree::program_and_others(self.supervisor, self.isolated)?;
            if others.is_empty() {
                return Some(program);
            }
            tree::signal(&others, Signal::KILL);
            tokio::time::sleep(STEP).await;
        }
        None
    }

    /// The folders that the program could write, as paths of this process. A run in namespaces may have its own mounts there.
    fn places(&self, program: Pid) -> Option<Vec<PathBuf>> {
        let root =
            if self.isolated { format!("/proc/{program}/root").into() } else { PathBuf::from("/") };
        let inside = |path: &Path| root.join(path.strip_prefix("/").unwrap_or(path));
        let mut places = Vec::new();
        if let Some(folder) = self.private_folder {
            let place = inside(folder);
            place.is_dir().then(|| places.push(place))?;
        }
        let shared = inside(Path::new(SHARED_MEMORY));
        if self.isolated && is_other_device(&shared, Path::new(SHARED_MEMORY)) {
            places.push(shared);
        }
        Some(places)
    }
}

/// Whether two folders are on different file systems; the host's own must never be emptied.
fn is_other_device(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => one.dev() != other.dev(),
        (Ok(_), Err(error)) => error.kind() == io::ErrorKind::NotFound,
        (Err(_), _) => false,
    }
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

fn empty(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    for entry in entries.flatten() {
        // The check at the end finds entries that cannot be removed.
        let _ = if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            fs::remove_dir_all(entry.path())
        } else {
            fs::remove_file(entry.path())
        };
    }
    is_empty(folder)
}
