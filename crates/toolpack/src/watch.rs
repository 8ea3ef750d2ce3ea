//! Hot reload: the folders are watched, and the catalog follows them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use proto::Finding;
use strip::Catalog;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::loader::{Loaded, Toolpacks};

/// The name under which packs are published.
pub const SOURCE: &str = "toolpacks";

/// Editors write a file in several steps; we look when they have been quiet for this long.
const QUIET: Duration = Duration::from_millis(120);

/// A folder that is never quiet is looked at this often.
const PATIENCE: Duration = Duration::from_millis(600);

/// How often we look for tools folders that came or went, and again at files that were written while we read.
const ROUND: Duration = Duration::from_secs(1);

/// How often we look without any sign of a change, in case that an event never came.
const RESCAN: Duration = Duration::from_secs(10);

/// Endings of code that scripts import; a change does not make another pack, but warm workers must load it anew.
const CODE: [&str; 7] = ["py", "js", "mjs", "cjs", "json", "php", "inc"];

impl Toolpacks {
    /// Publishes the packs, and again whenever their files change, until cancelled. `published` hears when the packs
    /// that were there at the start are in the catalog.
    pub async fn watch(
        self: Arc<Self>,
        catalog: Arc<Catalog>,
        published: oneshot::Sender<()>,
        cancel: CancellationToken,
    ) {
        let (sender, mut events) = unbounded_channel();
        let mut watched = Watched::new(sender);
        // Before we look: what changes while we read is then told, and read again.
        watched.follow(&self);
        let mut last = self.look(Changed::default()).await;
        publish(&catalog, &last).await;
        report(&[], &last.findings);
        // Nobody may be waiting for it.
        let _ = published.send(());
        let mut rescan_at = Instant::now() + RESCAN;
        while !cancel.is_cancelled() {
            // A folder that came, or that the latest look led to, was not watched until now.
            let changed = if watched.follow(&self) {
                Changed::default()
            } else {
                // Only `recv` is part of the select: it can be dropped without losing an event. What was received is
                // looked at in any case.
                tokio::select! {
                    () = cancel.cancelled() => return,
                    first = receive(&mut events) => first.join_burst(&mut events).await,
                    () = tokio::time::sleep(ROUND) => {
                        let rescan = Instant::now() >= rescan_at;
                        if !rescan && !watched.is_blind() && !self.is_unsettled() {
                            continue;
                        }
                        Changed::default()
                    }
                }
            };
            let next = self.look(changed).await;
            rescan_at = Instant::now() + RESCAN;
            if !next.same_tools(&last) {
                tracing::info!(tools = next.tools.len(), "toolpacks changed");
                publish(&catalog, &next).await;
            }
            report(&last.findings, &next.findings);
            // Old tools go here, and their idle workers with them.
            last = next;
        }
    }

    async fn look(self: &Arc<Self>, changed: Changed) -> Loaded {
        let packs = Arc::clone(self);
        let looked = tokio::task::spawn_blocking(move || {
            let loaded = packs.load();
            for file in changed.files.iter().filter(|file| is_code(file)) {
                loaded.tools.iter().for_each(|tool| tool.code_changed(file));
            }
            if changed.unknown {
                loaded.tools.iter().for_each(|tool| tool.any_code_changed());
            }
            loaded
        });
        looked.await.unwrap_or_else(|error| {
            tracing::error!(%error, "looking at the toolpacks failed");
            Loaded { tools: self.tools(), findings: self.findings() }
        })
    }
}

/// Off the runtime's threads: the catalog compiles the schemas of new tools.
async fn publish(catalog: &Arc<Catalog>, loaded: &Loaded) {
    let (catalog, tools) = (Arc::clone(catalog), loaded.as_tools());
    let published = tokio::task::spawn_blocking(move || catalog.publish(SOURCE, tools));
    if let Err(error) = published.await {
        tracing::error!(%error, "publishing the toolpacks failed");
    }
}

/// What events say has changed.
#[derive(Default)]
struct Changed {
    files: BTreeSet<PathBuf>,
    /// Whether events were lost, so that any file may have changed.
    unknown: bool,
}

impl Changed {
    fn add(&mut self, event: Option<Vec<PathBuf>>) {
        match event {
            Some(files) => self.files.extend(files),
            None => self.unknown = true,
        }
    }

    /// Adds the events that follow until the folder is quiet, or has been busy for long enough.
    async fn join_burst(mut self, events: &mut UnboundedReceiver<Option<Vec<PathBuf>>>) -> Self {
        let latest = Instant::now() + PATIENCE;
        loop {
            let quiet = latest.min(Instant::now() + QUIET);
            match timeout_at(quiet, events.recv()).await {
                Ok(Some(event)) => self.add(event),
                Ok(None) | Err(_) => return self,
            }
        }
    }
}

/// Waits for an event. It can be dropped without losing one.
async fn receive(events: &mut UnboundedReceiver<Option<Vec<PathBuf>>>) -> Changed {
    let Some(event) = events.recv().await else {
        // Without a watcher there are no events; the rounds go on.
        return std::future::pending().await;
    };
    let mut changed = Changed::default();
    changed.add(event);
    changed
}

/// Says what is newly wrong, and what is mended.
fn report(before: &[Finding], now: &[Finding]) {
    for finding in now.iter().filter(|finding| !before.contains(finding)) {
        tracing::warn!(%finding, "a toolpack cannot be used");
    }
    for finding in before.iter().filter(|finding| !now.contains(finding)) {
        tracing::info!(file = %finding.file.display(), "a toolpack is mended");
    }
}

fn is_code(file: &Path) -> bool {
    file.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| CODE.contains(&ending))
}

/// The folders under watch.
struct Watched {
    watcher: Option<RecommendedWatcher>,
    /// Each with its device and inode: a folder of the same name that was made anew must be watched anew.
    folders: BTreeMap<PathBuf, (u64, u64)>,
    /// Whether a folder could not be watched, so that we have to look by ourselves.
    blind: bool,
}

impl Watched {
    /// Sends the files of each event, or nothing where events were lost.
    fn new(sender: UnboundedSender<Option<Vec<PathBuf>>>) -> Self {
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let files = match event {
                Ok(event) if event.need_rescan() => None,
                Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
                Ok(event) => Some(event.paths),
                Err(_) => None,
            };
            // Nobody listens any more when the watch has ended.
            let _ = sender.send(files);
        });
        let watcher = watcher
            .inspect_err(
                |error| tracing::warn!(%error, "files cannot be watched; looking each second"),
            )
            .ok();
        Self { blind: watcher.is_none(), watcher, folders: BTreeMap::new() }
    }

    fn is_blind(&self) -> bool {
        self.blind
    }

    /// Watches the folders that exist now; tells whether any of them is new or gone.
    fn follow(&mut self, packs: &Toolpacks) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        let mut wanted: BTreeMap<PathBuf, (RecursiveMode, (u64, u64))> = BTreeMap::new();
        let tools: Vec<_> =
            packs.folders().iter().filter_map(|folder| fs::canonicalize(folder).ok()).collect();
        for folder in packs.watched_folders() {
            if !tools.iter().any(|tools| folder.starts_with(tools))
                && let Some(identity) = identity(&folder)
            {
                wanted.insert(folder, (RecursiveMode::NonRecursive, identity));
            }
        }
        for folder in tools {
            if let Some(identity) = identity(&folder) {
                wanted.insert(folder, (RecursiveMode::Recursive, identity));
            }
        }
        let before = self.folders.len();
        self.folders.retain(|folder, identity| {
            let stays = wanted.get(folder).is_some_and(|(_, now)| now == identity);
            if !stays {
                // The kernel has already forgotten a folder that is gone.
                let _ = watcher.unwatch(folder);
            }
            stays
        });
        let mut moved = self.folders.len() != before;
        self.blind = false;
        for (folder, (mode, identity)) in wanted {
            if self.folders.contains_key(&folder) {
                continue;
            }
            match watcher.watch(&folder, mode) {
                Ok(()) => {
                    self.folders.insert(folder, identity);
                    moved = true;
                }
                Err(error) => {
                    tracing::debug!(folder = %folder.display(), %error, "a folder cannot be watched");
                    self.blind = true;
                }
            }
        }
        moved
    }
}

fn identity(folder: &Path) -> Option<(u64, u64)> {
    fs::metadata(folder).ok().filter(fs::Metadata::is_dir).map(|facts| (facts.dev(), facts.ino()))
}
