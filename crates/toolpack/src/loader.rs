//! Folders to tools, again and again: what did not change stays the same tool, what broke stays the last good one.

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

pub(crate) use scan::{Place, Stamp, scan};

/// Fewer packs than this are not worth a thread of their own.
const MIN_SHARE: usize = 32;

/// The packs of some folders.
pub struct Toolpacks {
    folders: Vec<PathBuf>,
    runtime: Arc<Runtime>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    files: BTreeMap<PathBuf, Kept>,
    loaded: Loaded,
}

/// The tools of all packs that can be used, and what is wrong with the others.
#[derive(Clone, Default)]
pub struct Loaded {
    pub tools: Vec<Arc<PackTool>>,
    pub findings: Vec<Finding>,
}

/// What is remembered of one file between two looks.
struct Kept {
    /// The file's path as the operator knows it.
    shown: PathBuf,
    /// The pack's own file and those it refers to, as they were when they were read.
    stamps: Vec<(PathBuf, Stamp)>,
    good: Option<Good>,
    fault: Option<Finding>,
    /// A file outside the tools folder that would mend the fault if it came or changed.
    awaits: Option<PathBuf>,
}

#[derive(Clone)]
struct Good {
    tool: Arc<PackTool>,
    /// The sum of the text and of everything it refers to.
    sum: Digest,
}

impl Toolpacks {
    /// Packs from these folders, each searched with all below it. Nothing is read before [`Toolpacks::load`].
    pub fn new(folders: Vec<PathBuf>, runtime: Arc<Runtime>) -> Self {
        Self { folders, runtime, state: Mutex::default() }
    }

    /// Looks at the folders. A tool whose files did not change is the same `Arc` as before; a file that broke keeps
    /// its last good version and adds a finding.
    pub fn load(&self) -> Loaded {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut files = BTreeMap::new();
        let mut stale = Vec::new();
        for place in scan(&self.folders) {
            match state.files.remove(&place.path) {
                Some(kept) if kept.is_current() => {
                    files.insert(place.path, kept);
                }
                known => stale.push((place, known.and_then(|kept| kept.good))),
            }
        }
        files.extend(in_parallel(stale, |(place, good)| {
            let kept = self.examine(&place, good);
            (place.path, kept)
        }));
        state.loaded = settle(&files);
        state.files = files;
        state.loaded.clone()
    }

    /// What was wrong when the folders were last looked at.
    pub fn findings(&self) -> Vec<Finding> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).loaded.findings.clone()
    }

    /// The tools as they were when the folders were last looked at.
    pub fn tools(&self) -> Vec<Arc<PackTool>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).loaded.tools.clone()
    }

    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Whether a file was written this very moment, and so may have been read half old, half new.
    pub(crate) fn is_unsettled(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut stamps = state.files.values().flat_map(|kept| &kept.stamps);
        stamps.any(|(_, stamp)| !stamp.is_settled())
    }

    /// The folders in which something may happen to a pack.
    pub(crate) fn watched_folders(&self) -> BTreeSet<PathBuf> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut folders = BTreeSet::new();
        for kept in state.files.values() {
            let files = kept.stamps.iter().map(|(file, _)| file);
            for file in files.chain(&kept.awaits) {
                // What is awaited may lie in a folder that is yet to come.
                folders.extend(
                    file.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_owned),
                );
            }
        }
        folders
    }

    /// Reads one pack, and decides which version of it is served.
    fn examine(&self, place: &Place, good: Option<Good>) -> Kept {
        let shown = place.shown(&place.path);
        let own = Stamp::of(&place.path);
        let read = place.read().and_then(|(pack, text)| {
            let sum = sum(&text, &pack);
            // The catalog checks the schemas of what it is offered, and names those it cannot use. Only where a
            // version is served already must we know before: a broken one must not take its place.
            if good.as_ref().is_some_and(|good| good.sum != sum) {
                pack.check_schemas()?;
            }
            Ok((pack, sum))
        });
        match read {
            Ok((pack, sum)) => {
                let mut stamps = vec![(place.path.clone(), own)];
                stamps.extend(pack.files.iter().map(|file| (file.clone(), Stamp::of(file))));
                let good = match good {
                    Some(good) if good.sum == sum => good,
                    _ => {
                        Good { tool: Arc::new(PackTool::new(pack, Arc::clone(&self.runtime))), sum }
                    }
                };
                Kept { shown, stamps, good: Some(good), fault: None, awaits: None }
            }
            Err(fault) => Kept {
                shown,
                stamps: vec![(place.path.clone(), own)],
                good,
                fault: Some(place.finding(&fault)),
                awaits: fault.missing.or(fault.file),
            },
        }
    }
}

impl Kept {
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

    /// Whether both hold the very same tools.
    pub(crate) fn same_tools(&self, other: &Self) -> bool {
        self.tools.len() == other.tools.len()
            && self.tools.iter().zip(&other.tools).all(|(a, b)| Arc::ptr_eq(a, b))
    }
}

/// Decides who keeps an id and major that two files claim: the first by path.
fn settle(files: &BTreeMap<PathBuf, Kept>) -> Loaded {
    let mut loaded = Loaded::default();
    let mut owners = Owners::default();
    for kept in files.values() {
        loaded.findings.extend(kept.fault.clone());
        let Some(good) = &kept.good else { continue };
        match owners.claim(&kept.shown, good.tool.pack()) {
            Ok(()) => loaded.tools.push(Arc::clone(&good.tool)),
            Err(fault) => loaded.findings.push(fault.finding(&kept.shown)),
        }
    }
    loaded
}

/// Who offers which tool in which major.
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
                    "`{}` in major {} stands in two files: {} is used, {} is not",
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

/// Spreads work over the processors where there is enough of it; the results keep their order.
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

fn sum(text: &str, pack: &Pack) -> Digest {
    let mut bytes = text.as_bytes().to_vec();
    bytes.extend_from_slice(pack.descriptor.definition_hash().as_bytes());
    digest(&bytes)
}
