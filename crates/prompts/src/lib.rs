//! Prompts as files with versions: `packs/<domain>/<name>.vN.md`, described by `<name>.spec.yaml`, pinned in
//! `REGISTRY.yaml`.
//!
//! A **body** (`outline.v2.md`) is a Jinja template over its arguments, by name: `{{ topic }}`. An optional argument
//! that was not given may be tested (`{% if audience %}`) but not printed.
//!
//! A **spec** (`outline.spec.yaml`, for every major of the name; `outline.v1.spec.yaml`, if it exists, for that major
//! only) has the keys
//! ```yaml
//! description: Outline a report on a topic.      # required: people and models choose by it
//! title: Report outline                          # for menus
//! inputSchema:                                   # JSON Schema 2020-12 of an object; absent: no arguments
//!   type: object
//!   properties:
//!     topic: { type: string, description: What the report is about, minLength: 1 }
//!     depth: { type: integer, minimum: 1, maximum: 4, default: 2 }
//!   required: [topic]
//! constraints:
//!   maxRenderedChars: 8000                       # a longer text is refused
//!   maxArgumentChars: 2000                       # of each textual argument
//! ```
//! Arguments that `properties` does not name are refused unless the schema has rules for them
//! (`additionalProperties`, `patternProperties`).
//!
//! The **registry** pins the SHA-256 of each body, as `sha256sum` prints it:
//! ```yaml
//! research/outline:
//!   v1: 5f2c…
//! ```
//! A body that no longer matches its pin is an error and is not served: a changed text is a new version.
//!
//! The prompts in `shipped/` are compiled in ([`Snapshot::with_shipped`]); a file of the same name and major replaces one.

mod body;
mod error;
mod fault;
mod files;
mod pins;
mod prompt;
mod render;
mod shipped;
mod snapshot;
mod spec;
pub mod template;

use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::watch;

use proto::Finding;

pub use error::PromptError;
pub use pins::pin;
pub use prompt::{Argument, Prompt};
pub use snapshot::Snapshot;

/// The prompts that are served now. Readers take a snapshot; a reload replaces it.
#[derive(Debug)]
pub struct Prompts {
    current: ArcSwap<Snapshot>,
    revision: watch::Sender<u64>,
}

impl Prompts {
    /// No prompts yet.
    pub fn empty() -> Self {
        Self::new(Snapshot::default())
    }

    /// Starts with these prompts.
    pub fn new(snapshot: Snapshot) -> Self {
        Self { current: ArcSwap::from_pointee(snapshot), revision: watch::channel(0).0 }
    }

    /// The prompts of this moment.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Replaces the prompts; subscribers are notified only if something differs.
    pub fn replace(&self, snapshot: Snapshot) {
        let previous = self.current.swap(Arc::new(snapshot));
        if *previous != **self.current.load() {
            self.revision.send_modify(|revision| *revision += 1);
        }
    }

    /// Notifies when the prompts change; the value is the newest revision.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }
}

/// All problems in the prompts of a folder.
pub fn lint(dir: &Path) -> Vec<Finding> {
    Snapshot::load(dir).1
}

#[cfg(test)]
mod tests;
