//! Loads tools from folders, repeatedly: an unchanged pack stays the same tool, a broken one keeps its last good version.

mod scan;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use proto::{Digest, Finding, ToolId, digest};
use strip::Tool;

use crate::Fault;
use crate::pack::Pack;
use crate::runtime::Runtime;
use crate::tool::PackTool;

pub(crate) use scan::{PackFile, Stamp, scan};

/// The fewest packs per thread.
const MIN_SHARE: usize = 32;

/// The packs of some folders.
pub struct Toolpacks {
    folders: Vec<PathBuf>,
    runtime: Arc<Runtime>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    files: BTreeMap<PathBuf, FileEntry>,
    loaded: Loaded,
}

/// The tools of all packs that can be used, and what is wrong with the others.
#[derive(Clone, Default)]
pub struct Loaded {
    pub tools: Vec<Arc<PackTool>>,
    pub findings: Vec<Finding>,
}

/// What is known about one file from the last scan.
struct FileEntry {
    /// The file's path as the operator wrote it.
    shown: PathBuf,
    /// The pack's own file and those it refers to, as they were when they were read.
    stamps: Vec<(PathBuf, Stamp)>,
    served: Option<ServedVersion>,
    fault: Option<Finding>,
    /// A file outside the tools folder whose appearance or change may fix the fault.
    awaits: Option<PathBuf>,
}

#[derive(Clone)]
struct ServedVersion {
    tool: Arc<PackTool>,
    /// The digest of the text and of everything it refers to.
    digest: Digest,
}

impl Toolpacks {
    /// Packs from these folders and their subfolders. Nothing is read before [`Toolpacks::load`].
    pub fn new(folders: Vec<PathBuf>, runtime: Arc<Runtime>) -> Self {
        Self { folders, runtime, state: Mutex::default() }
    }

    /// Scans the folders. A tool whose files did not change is the same `Arc` as before; a file that broke keeps its last
    /// good version and adds a finding, and so does a folder that cannot be read.
    pub fn load(&self) -> Loaded {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut files = BTreeMap::new();
        let mut stale = Vec::new();
        let mut scan = scan(&self.folders);
        for file in std::mem::take(&mut scan.files) {
            match state.files.remove(&file.path) {
                Some(entry) if entry.is_current() => {
                    files.insert(file.path, entry);
                }
                known => stale.push((file, known.and_then(|entry| entry.served))),
            }
        }
        files.extend(in_parallel(stale, |(file, served)| {
            let entry = self.examine(&file, served);
            (file.path, entry)
        }));
        let missing = std::mem::take(&mut state.files);
        files.extend(
            missing.into_iter().filter(|(path, entry)| scan.may_contain(path, &entry.shown)),
        );
        state.loaded = settle(&files);
        state.loaded.findings.extend(scan.findings());
        state.files = files;
        state.loaded.clone()
    }

    /// The findings of the last scan.
    pub fn findings(&self) -> Vec<Finding> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).loaded.findings.clone()
    }

    /// The tools of the last scan.
    pub fn tools(&self) -> Vec<Arc<PackTool>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).loaded.tools.clone()
    }

    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Whether a file was written so recently that it may have been read half old, half new.
    pub(crate) fn is_unsettled(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut stamps = state.files.values().flat_map(|entry| &entry.stamps);
        stamps.any(|(_, stamp)| !stamp.is_settled())
    }

    /// The folders whose changes may affect a pack.
    pub(crate) fn watched_folders(&self) -> BTreeSet<PathBuf> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut folders = BTreeSet::new();
        for entry in state.files.values() {
            let files = entry.stamps.iter().map(|(file, _)| file);
            for file in files.chain(&entry.awaits) {
                // The folder of an awaited file may not exist yet.
                folders.extend(
                    file.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_owned),
                );
            }
        }
        folders
    }

    /// Reads one pack, and decides which version of it is served.
    fn examine(&self, file: &PackFile, served: Option<ServedVersion>) -> FileEntry {
        let shown = file.shown(&file.path);
        let own = Stamp::of(&file.path);
        let read = file.read().and_then(|(pack, text)| {
            let digest = digest_of(&text, &pack);
            // The catalog checks schemas when it publishes. Only where a version is served already they are checked here,
            // so that a broken one does not replace it.
            if served.as_ref().is_some_and(|served| served.digest != digest) {
                pack.check_schemas()?;
            }
            Ok((pack, digest))
        });
        match read {
            Ok((pack, digest)) => {
                let mut stamps = vec![(file.path.clone(), own)];
                stamps.extend(pack.files.iter().map(|file| (file.clone(), Stamp::of(file))));
                let served = match served {
                    Some(served) if served.digest == digest => served,
                    _ => ServedVersion {
                        tool: Arc::new(PackTool::new(pack, Arc::clone(&self.runtime))),
                        digest,
                    },
                };
                FileEntry { shown, stamps, served: Some(served), fault: None, awaits: None }
            }
            Err(fault) => FileEntry {
                shown,
                stamps: vec![(file.path.clone(), own)],
                served,
                fault: Some(file.finding(&fault)),
                awaits: fault.missing.or(fault.file),
            },
        }
    }
}

impl FileEntry {
    fn is_current(&self) -> bool {
        self.fault.is_none()
            && self
                .stamps
                .iter()
                .all(|(file, stamp)| stamp.is_settled() && *stamp == Stamp::of(file))
    }
}

impl Loaded {
    /// The tools as the catalog takes them.
    pub fn as_tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.iter().map(|tool| Arc::clone(tool) as Arc<dyn Tool>).collect()
    }

    /// Whether both have identical tools.
    pub(crate) fn same_tools(&self, other: &Self) -> bool {
        self.tools.len() == other.tools.len()
            && self.tools.iter().zip(&other.tools).all(|(a, b)| Arc::ptr_eq(a, b))
    }
}

/// Resolves conflicts where two files claim one id and major: the first by path wins.
fn settle(files: &BTreeMap<PathBuf, FileEntry>) -> Loaded {
    let mut loaded = Loaded::default();
    let mut owners = Owners::default();
    for entry in files.values() {
        loaded.findings.extend(entry.fault.clone());
        let Some(served) = &entry.served else { continue };
        match owners.claim(&entry.shown, served.tool.pack()) {
            Ok(()) => loaded.tools.push(Arc::clone(&served.tool)),
            Err(fault) => loaded.findings.push(fault.finding(&entry.shown)),
        }
    }
    loaded
}

/// Which file offers which tool in which major.
#[derive(Default)]
pub(crate) struct Owners(HashMap<(ToolId, u64), PathBuf>);

impl Owners {
    pub(crate) fn claim(&mut self, path: &Path, pack: &Pack) -> Result<(), Fault> {
        let manifest = &pack.manifest;
        let key = (manifest.id.clone(), manifest.version.major);
        if let Some(owner) = self.0.get(&key) {
            return Err(Fault::at(
                manifest.lines.id,
                format!(
                    "`{}` in major {} is in two files: {} is used, {} is not",
                    manifest.id,
                    manifest.version.major,
                    owner.display(),
                    path.display()
                ),
            ));
        }
        self.0.insert(key, path.to_owned());
        Ok(())
    }
}

/// Spreads the work over the processors if there is enough of it; the results keep their order.
pub(crate) fn in_parallel<T: Send, R: Send>(
    mut work: Vec<T>,
    each: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let share = work.len().div_ceil(processors);
    if processors == 1 || share < MIN_SHARE {
        return work.into_iter().map(each).collect();
    }
    std::thread::scope(|scope| {
        let each = &each;
        let mut threads = Vec::new();
        while !work.is_empty() {
            let piece = work.split_off(work.len().saturating_sub(share));
            threads.push(scope.spawn(move || piece.into_iter().map(each).collect::<Vec<_>>()));
        }
        let done = threads.into_iter().rev().map(|thread| thread.join());
        done.flat_map(|piece| piece.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

fn digest_of(text: &str, pack: &Pack) -> Digest {
    let mut bytes = text.as_bytes().to_vec();
    bytes.extend_from_slice(pack.descriptor.definition_hash().as_bytes());
    digest(&bytes)
}
