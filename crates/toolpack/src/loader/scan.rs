//! Finds pack files, and detects whether they changed.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, io};

use proto::{Finding, Severity};

use crate::Fault;
use crate::pack::{Folder, Pack};
use crate::root::{Root, read_text};

const ENDING: &str = ".tool.yaml";

/// Folders of third-party files.
const SKIPPED: [&str; 3] = ["node_modules", "__pycache__", "vendor"];

/// The deepest level of subfolders; links to folders are not followed.
const MAX_DEPTH: usize = 16;

/// A pack file and the folder it was found in.
pub(crate) struct PackFile {
    pub(crate) path: PathBuf,
    pub(crate) folder: Folder,
    /// The tools folder as the operator wrote it, for messages.
    named: PathBuf,
    linked: bool,
}

impl PackFile {
    /// Reads the pack and all it refers to. Schemas are not compiled, which would cost more.
    pub(crate) fn read(&self) -> Result<(Pack, String), Fault> {
        if self.linked {
            self.folder.root.confine(&self.path)?;
        }
        let text = read_text(&self.path)?;
        Pack::load(&self.path, &text, &self.folder).map(|pack| (pack, text))
    }

    /// The fault as a finding, with paths as the operator wrote them.
    pub(crate) fn finding(&self, fault: &Fault) -> Finding {
        let mut finding = fault.finding(&self.path);
        finding.file = self.shown(&finding.file);
        finding
    }

    /// A path below the root as the operator would write it.
    pub(crate) fn shown(&self, path: &Path) -> PathBuf {
        if let Ok(below) = path.strip_prefix(&self.folder.tools) {
            return self.named.join(below);
        }
        match (path.strip_prefix(self.folder.root.path()), self.named.parent()) {
            (Ok(below), Some(parent)) => parent.join(below),
            _ => path.to_owned(),
        }
    }
}

/// What the tools folders contain.
#[derive(Default)]
pub(crate) struct Scan {
    /// Pack files by path.
    pub(crate) files: Vec<PackFile>,
    /// Folders whose content is not known at present, and why.
    pub(crate) unreadable: Vec<(PathBuf, io::Error)>,
}

/// All pack files of these folders. A folder that does not exist has none.
pub(crate) fn scan(folders: &[PathBuf]) -> Scan {
    let mut scan = Scan::default();
    let mut seen = BTreeSet::new();
    for named in folders {
        let (tools, root) = match (fs::canonicalize(named), Root::of(named)) {
            (Ok(tools), Ok(root)) => (tools, root),
            (Err(error), _) | (_, Err(error)) => {
                scan.cannot_read(named, error);
                continue;
            }
        };
        let folder = Folder { tools, root };
        let mut files = Vec::new();
        scan.collect(&folder.tools, 0, &mut files);
        for (path, linked) in files {
            if seen.insert(path.clone()) {
                let (folder, named) = (folder.clone(), named.clone());
                scan.files.push(PackFile { path, folder, named, linked });
            }
        }
    }
    scan.files.sort_by(|a, b| a.path.cmp(&b.path));
    scan
}

impl Scan {
    fn collect(&mut self, folder: &Path, depth: usize, files: &mut Vec<(PathBuf, bool)>) {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.cannot_read(folder, error),
        };
        for entry in entries {
            let (entry, kind) = match entry.and_then(|entry| Ok((entry.file_type()?, entry))) {
                Ok((kind, entry)) => (entry, kind),
                Err(error) => {
                    self.cannot_read(folder, error);
                    continue;
                }
            };
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            if kind.is_dir() {
                if depth < MAX_DEPTH && !SKIPPED.contains(&name) {
                    self.collect(&entry.path(), depth + 1, files);
                }
            } else if name.ends_with(ENDING) && (kind.is_file() || entry.path().is_file()) {
                files.push((entry.path(), kind.is_symlink()));
            }
        }
    }

    /// Notes a folder that exists and cannot be read.
    fn cannot_read(&mut self, folder: &Path, error: io::Error) {
        if error.kind() != io::ErrorKind::NotFound {
            self.unreadable.push((folder.to_owned(), error));
        }
    }

    /// Whether a file may still exist although it was not found.
    pub(crate) fn may_contain(&self, path: &Path, shown: &Path) -> bool {
        let below = |folder: &PathBuf| path.starts_with(folder) || shown.starts_with(folder);
        self.unreadable.iter().any(|(folder, _)| below(folder))
    }

    /// The unreadable folders as findings.
    pub(crate) fn findings(&self) -> impl Iterator<Item = Finding> {
        self.unreadable.iter().map(|(folder, error)| Finding {
            severity: Severity::Error,
            file: folder.clone(),
            line: None,
            message: format!("the folder cannot be read, its tools stay as they were: {error}"),
        })
    }
}

/// A file's metadata when it was last read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Device, inode, size, modification and change time; none for a file that does not exist.
    metadata: Option<[i128; 5]>,
    settled: bool,
}

/// The resolution of file system clocks: two writes within this time may look like one.
const COARSE_NS: i128 = 1_000_000_000;

impl Stamp {
    pub(crate) fn of(file: &Path) -> Self {
        let Ok(metadata) = fs::metadata(file) else {
            return Self { metadata: None, settled: true };
        };
        let whole =
            |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        let changed = whole(metadata.ctime(), metadata.ctime_nsec());
        let modified = whole(metadata.mtime(), metadata.mtime_nsec());
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(i128::MAX));
        Self {
            metadata: Some([
                i128::from(metadata.dev()),
                i128::from(metadata.ino()),
                i128::from(metadata.size()),
                modified,
                changed,
            ]),
            settled: now - changed > COARSE_NS,
        }
    }

    /// Whether any later change of the file would change its stamp.
    pub(crate) fn is_settled(self) -> bool {
        self.settled
    }
}
