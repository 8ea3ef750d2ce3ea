//! Hot reload: the folders are watched, and the catalog follows them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use proto::{Finding, Severity};
use strip::Catalog;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::loader::{Loaded, Toolpacks};

/// The name under which packs are published.
pub const SOURCE: &str = "toolpacks";

/// Editors write a file in several steps; a scan starts when there was no event for this long.
const QUIET: Duration = Duration::from_millis(120);

/// A folder with a constant stream of events is scanned this often.
const MAX_BURST: Duration = Duration::from_millis(600);

/// How often to check for tools folders that appeared or disappeared, and for files that were written during a scan.
const CHECK: Duration = Duration::from_secs(1);

/// How often to scan without any event, in case one was lost.
const RESCAN: Duration = Duration::from_secs(10);

/// Endings of code that scripts import: a change does not change the pack, but warm workers must load it again.
const CODE: [&str; 7] = ["py", "js", "mjs", "cjs", "json", "php", "inc"];

impl Toolpacks {
    /// Publishes the packs, and again whenever their files change, until cancelled. `published` is notified once the
    /// first scan is in the catalog.
    pub async fn watch(
        self: Arc<Self>,
        catalog: Arc<Catalog>,
        published: oneshot::Sender<()>,
        cancel: CancellationToken,
    ) {
        let (sender, mut events) = unbounded_channel();
        let mut watched = Watched::new(sender);
        // Watches before the first scan, so that changes during the scan are not missed.
        watched.follow(&self);
        let mut last = self.scan(Changed::default()).await;
        publish(&catalog, &last).await;
        report(&[], &last.findings);
        // The receiver may be gone.
        let _ = published.send(());
        let mut rescan_at = Instant::now() + RESCAN;
        while !cancel.is_cancelled() {
            // A new folder, or one that the last scan found, was not watched until now.
            let changed = if watched.follow(&self) {
                Changed::default()
            } else {
                // Only `recv` is part of the select: it can be dropped without losing an event. What was received is
                // handled in any case.
                tokio::select! {
                    () = cancel.cancelled() => return,
                    first = receive(&mut events) => first.join_burst(&mut events).await,
                    () = tokio::time::sleep(CHECK) => {
                        let rescan = Instant::now() >= rescan_at;
                        if !rescan && !watched.is_incomplete() && !self.is_unsettled() {
                            continue;
                        }
                        Changed::default()
                    }
                }
            };
            let next = self.scan(changed).await;
            rescan_at = Instant::now() + RESCAN;
            if !next.same_tools(&last) {
                tracing::info!(tools = next.tools.len(), "toolpacks changed");
                publish(&catalog, &next).await;
            }
            report(&last.findings, &next.findings);
            // Drops the old tools and their idle workers.
            last = next;
        }
    }

    async fn scan(self: &Arc<Self>, changed: Changed) -> Loaded {
        let packs = Arc::clone(self);
        let scanned = tokio::task::spawn_blocking(move || {
            let loaded = packs.load();
            for file in changed.files.iter().filter(|file| is_code(file)) {
                loaded.tools.iter().for_each(|tool| tool.code_changed(file));
            }
            if changed.unknown {
                loaded.tools.iter().for_each(|tool| tool.any_code_changed());
            }
            loaded
        });
        scanned.await.unwrap_or_else(|error| {
            tracing::error!(%error, "scanning the toolpacks failed");
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

/// The changes that events report.
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

    /// Adds the events that follow until there is a pause, or for a limited time.
    async fn join_burst(mut self, events: &mut UnboundedReceiver<Option<Vec<PathBuf>>>) -> Self {
        let latest = Instant::now() + MAX_BURST;
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
        // Without a watcher there are no events; the periodic checks go on.
        return std::future::pending().await;
    };
    let mut changed = Changed::default();
    changed.add(event);
    changed
}

/// Logs new findings, and files that can be used again.
fn report(before: &[Finding], now: &[Finding]) {
    for finding in now.iter().filter(|finding| !before.contains(finding)) {
        tracing::warn!(%finding, "a toolpack cannot be used");
    }
    for file in usable_again(before, now) {
        tracing::info!(file = %file.display(), "a toolpack can be used again");
    }
}

/// The files that had an error and have none now, unless they were removed.
fn usable_again<'a>(before: &'a [Finding], now: &[Finding]) -> BTreeSet<&'a Path> {
    let is_broken = |finding: &&Finding| finding.severity == Severity::Error;
    let broken: BTreeSet<&Path> =
        now.iter().filter(is_broken).map(|finding| finding.file.as_path()).collect();
    let before = before.iter().filter(is_broken).map(|finding| finding.file.as_path());
    before.filter(|file| !broken.contains(file) && file.exists()).collect()
}

fn is_code(file: &Path) -> bool {
    file.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| CODE.contains(&ending))
}

/// The folders under watch.
struct Watched {
    watcher: Option<RecommendedWatcher>,
    /// Each with its device and inode: a folder that was deleted and created again must be watched again.
    folders: BTreeMap<PathBuf, (u64, u64)>,
    /// Whether a folder could not be watched, so that changes are only found by scanning.
    incomplete: bool,
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
            // The receiver is gone when watching has ended.
            let _ = sender.send(files);
        });
        let watcher = watcher
            .inspect_err(
                |error| tracing::warn!(%error, "files cannot be watched; scanning each second"),
            )
            .ok();
        Self { incomplete: watcher.is_none(), watcher, folders: BTreeMap::new() }
    }

    fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Watches the folders that exist now; returns whether any of them is new or gone.
    fn follow(&mut self, packs: &Toolpacks) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        let mut current: BTreeMap<PathBuf, (RecursiveMode, (u64, u64))> = BTreeMap::new();
        let tools: Vec<_> =
            packs.folders().iter().filter_map(|folder| fs::canonicalize(folder).ok()).collect();
        for folder in packs.watched_folders() {
            if !tools.iter().any(|tools| folder.starts_with(tools))
                && let Some(identity) = identity(&folder)
            {
                current.insert(folder, (RecursiveMode::NonRecursive, identity));
            }
        }
        for folder in tools {
            if let Some(identity) = identity(&folder) {
                current.insert(folder, (RecursiveMode::Recursive, identity));
            }
        }
        let before = self.folders.len();
        self.folders.retain(|folder, identity| {
            let stays = current.get(folder).is_some_and(|(_, now)| now == identity);
            if !stays {
                // The kernel has already forgotten a folder that is gone.
                let _ = watcher.unwatch(folder);
            }
            stays
        });
        let mut moved = self.folders.len() != before;
        self.incomplete = false;
        for (folder, (mode, identity)) in current {
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
                    self.incomplete = true;
                }
            }
        }
        moved
    }
}

fn identity(folder: &Path) -> Option<(u64, u64)> {
    fs::metadata(folder)
        .ok()
        .filter(fs::Metadata::is_dir)
        .map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_usable_again_only_without_any_error() {
        let folder = tempfile::tempdir().unwrap();
        let finding = |name: &str, message: &str| Finding {
            severity: Severity::Error,
            file: folder.path().join(name),
            line: None,
            message: message.to_owned(),
        };
        let file = folder.path().join("a.tool.yaml");
        fs::write(&file, "id: a.b").unwrap();
        let before = [finding("a.tool.yaml", "`kind` is missing"), finding("gone.tool.yaml", "x")];
        let still = [finding("a.tool.yaml", "`run` is missing")];
        assert!(usable_again(&before, &still).is_empty(), "it is broken in another way");
        assert_eq!(usable_again(&before, &[]), BTreeSet::from([file.as_path()]));
        let advice = [Finding { severity: Severity::Advice, ..still[0].clone() }];
        assert_eq!(usable_again(&before, &advice).len(), 1, "advice does not hinder");
        assert!(usable_again(&advice, &[]).is_empty(), "it was usable before");
    }
}
