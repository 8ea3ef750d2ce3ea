//! Folders to tools, again and again: what did not change stays the same tool, what broke stays the last good one.

mod scan;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use proto::{Digest, ToolId, digest};
use strip::{Finding, Schema, Tool};

use crate::Fault;
use crate::pack::Pack;
use crate::root::read_text;
use crate::runtime::Runtime;
use crate::tool::PackTool;

pub(crate) use scan::{Place, Stamp, scan};

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
        for place in scan(&self.folders) {
            let known = state.files.remove(&place.path);
            let kept = match known {
                Some(kept) if kept.is_current() => kept,
                known => self.examine(&place, known.and_then(|kept| kept.good)),
            };
            files.insert(place.path, kept);
        }
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

    /// Whether something may have changed without a sign: a broken pack waits for a file that nobody watches,
    /// and a file that was written this very moment may have been read half old, half new.
    pub(crate) fn is_unsettled(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.files.values().any(|kept| {
            kept.fault.is_some() || kept.stamps.iter().any(|(_, stamp)| !stamp.is_settled())
        })
    }

    /// The folders of files that packs refer to.
    pub(crate) fn outer_folders(&self) -> Vec<PathBuf> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut folders: Vec<_> = state
            .files
            .values()
            .flat_map(|kept| &kept.stamps)
            .filter_map(|(file, _)| file.parent().map(Path::to_owned))
            .collect();
        folders.sort();
        folders.dedup();
        folders
    }

    /// Reads one pack, and decides which version of it is served.
    fn examine(&self, place: &Place, good: Option<Good>) -> Kept {
        let shown = place.shown(&place.path);
        let own = Stamp::of(&place.path);
        let read = read_text(&place.path)
            .and_then(|text| Ok((Pack::load(&place.path, &text, &place.folder)?, text)))
            .and_then(|(pack, text)| Ok((check_schemas(pack)?, text)));
        match read {
            Ok((pack, text)) => {
                let mut stamps = vec![(place.path.clone(), own)];
                stamps.extend(pack.files.iter().map(|file| (file.clone(), Stamp::of(file))));
                let sum = sum(&text, &pack);
                let good = match good {
                    Some(good) if good.sum == sum => good,
                    _ => Good { tool: Arc::new(PackTool::new(pack, Arc::clone(&self.runtime))), sum },
                };
                Kept { shown, stamps, good: Some(good), fault: None }
            }
            Err(fault) => {
                let fault = Some(place.finding(&fault));
                Kept { shown, stamps: vec![(place.path.clone(), own)], good, fault }
            }
        }
    }
}

impl Kept {
    fn is_current(&self) -> bool {
        self.fault.is_none()
            && self.stamps.iter().all(|(file, stamp)| stamp.is_settled() && *stamp == Stamp::of(file))
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

/// Refuses schemas that the catalog could not use, before they replace ones that it can.
pub(crate) fn check_schemas(pack: Pack) -> Result<Pack, Fault> {
    let manifest = &pack.manifest;
    let output = pack.descriptor.output_schema.as_ref();
    for (name, placed, schema) in [
        ("inputSchema", &manifest.input_schema, Some(&pack.descriptor.input_schema)),
        ("outputSchema", &manifest.output_schema, output),
    ] {
        if let Some(Err(why)) = schema.map(Schema::compile) {
            return Err(Fault::at(placed.line, format!("`{name}` cannot be used: {why}")));
        }
    }
    Ok(pack)
}

fn sum(text: &str, pack: &Pack) -> Digest {
    let mut bytes = text.as_bytes().to_vec();
    bytes.extend_from_slice(pack.descriptor.definition_hash().as_bytes());
    digest(&bytes)
}
