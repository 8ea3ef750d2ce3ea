//! The tools with the lenses that are in their folder now.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use research::{Lens, LensFault, Parts, Research, Settings, read_lenses};
use schema::yaml;

const LENS_LIMITS: yaml::Limits =
    yaml::Limits { max_bytes: 64 << 10, merge_keys: false, custom_tags: false };

/// Makes the parts of the tools from their settings.
type Assemble = Box<dyn Fn(Settings) -> Parts + Send + Sync>;

/// The tools; those that name a lens look for new lenses first.
pub(crate) struct Current {
    research: ArcSwap<Research>,
    folder: PathBuf,
    assemble: Assemble,
}

impl Current {
    pub(crate) fn new(settings: Settings, folder: PathBuf, assemble: Assemble) -> Self {
        let research = ArcSwap::from_pointee(Research::new(assemble(settings)));
        Self { research, folder, assemble }
    }

    pub(crate) fn get(&self) -> Arc<Research> {
        self.research.load_full()
    }

    /// Reads the lenses again. Faults that are new are logged.
    pub(crate) async fn with_new_lenses(&self) -> Arc<Research> {
        let folder = self.folder.clone();
        let read = tokio::task::spawn_blocking(move || lenses(&folder)).await;
        let research = self.get();
        let Ok((lenses, lens_faults)) = read else { return research };
        let known = research.settings();
        if lenses == known.lenses && lens_faults == known.lens_faults {
            return research;
        }
        for fault in lens_faults.iter().filter(|fault| !known.lens_faults.contains(fault)) {
            tracing::warn!("{fault}");
        }
        let settings = Settings { lenses, lens_faults, ..known.clone() };
        let research = Arc::new(Research::new((self.assemble)(settings)));
        self.research.store(Arc::clone(&research));
        research
    }
}

/// The lenses of a folder, and which files are none.
pub(crate) fn lenses(folder: &Path) -> (Vec<Lens>, Vec<LensFault>) {
    read_lenses(folder, |text| yaml::parse(text, LENS_LIMITS).map_err(|error| error.to_string()))
}
