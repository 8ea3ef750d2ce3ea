//! Finding pack files, and telling whether they changed.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use proto::Finding;

use crate::Fault;
use crate::pack::{Folder, Pack};
use crate::root::{Root, read_text};

const ENDING: &str = ".tool.yaml";

/// Folders full of other people's files.
const FOREIGN: [&str; 3] = ["node_modules", "__pycache__", "vendor"];

/// Deeper than any folder of tools; a loop of links is not followed in the first place.
const MAX_DEPTH: usize = 16;

/// A pack file and the folder it was found in.
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) folder: Folder,
    /// The tools folder as the operator wrote it, for messages.
    named: PathBuf,
    linked: bool,
}

impl Place {
    /// Reads the pack and all it refers to. Whether its schemas can be used is another question, and costs more.
    pub(crate) fn read(&self) -> Result<(Pack, String), Fault> {
        if self.linked {
            self.folder.root.confine(&self.path)?;
        }
        let text = read_text(&self.path)?;
        Pack::load(&self.path, &text, &self.folder).map(|pack| (pack, text))
    }

    /// The fault as a finding, with paths as the operator knows them.
    pub(crate) fn finding(&self, fault: &Fault) -> Finding {
        let mut finding = fault.finding(&self.path);
        finding.file = self.shown(&finding.file);
        finding
    }

    /// A path below the root in the words of the operator.
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

/// All pack files of these folders, by path. A folder that does not exist has none.
pub(crate) fn scan(folders: &[PathBuf]) -> Vec<Place> {
    let mut places = Vec::new();
    let mut seen = BTreeSet::new();
    for named in folders {
        let (Ok(tools), Ok(root)) = (fs::canonicalize(named), Root::of(named)) else { continue };
        let folder = Folder { tools, root };
        let mut files = Vec::new();
        collect(&folder.tools, 0, &mut files);
        for (path, linked) in files {
            if seen.insert(path.clone()) {
                places.push(Place { path, folder: folder.clone(), named: named.clone(), linked });
            }
        }
    }
    places.sort_by(|a, b| a.path.cmp(&b.path));
    places
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<(PathBuf, bool)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            if depth < MAX_DEPTH && !FOREIGN.contains(&name) {
                collect(&entry.path(), depth + 1, files);
            }
        } else if name.ends_with(ENDING) && (kind.is_file() || entry.path().is_file()) {
            files.push((entry.path(), kind.is_symlink()));
        }
    }
}

/// What a file's metadata said when it was last read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Device, inode, size, modification and change time; nothing for a file that is not there.
    facts: Option<[i128; 5]>,
    settled: bool,
}

/// Clocks of file systems are coarse: two writes within this time may look like one.
const COARSE_NS: i128 = 1_000_000_000;

impl Stamp {
    pub(crate) fn of(file: &Path) -> Self {
        let Ok(facts) = fs::metadata(file) else { return Self { facts: None, settled: true } };
        let whole =
            |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        let changed = whole(facts.ctime(), facts.ctime_nsec());
        let modified = whole(facts.mtime(), facts.mtime_nsec());
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(i128::MAX));
        Self {
            facts: Some([
                i128::from(facts.dev()),
                i128::from(facts.ino()),
                i128::from(facts.size()),
                modified,
                changed,
            ]),
            settled: now - changed > COARSE_NS,
        }
    }

    /// Whether a later change of the file is sure to show in its stamp.
    pub(crate) fn is_settled(self) -> bool {
        self.settled
    }
}
