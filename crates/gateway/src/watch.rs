//! Watches files and folders. Editors write, rename and touch a file in one go; such a burst counts as one change.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc::{Receiver, channel};
use tokio_util::sync::CancellationToken;

/// Whether files are read once, or again whenever they change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// For a command that ends soon.
    Once,
    /// For a long-running process.
    Followed,
}

/// A burst is over when nothing has happened for this long.
const QUIET: Duration = Duration::from_millis(120);

/// How often to check without an event: some file systems send none, and the path may not exist yet.
const ROUND: Duration = Duration::from_secs(2);

/// Calls `changed` after each burst of changes at or below a path, and each round, until cancelled.
///
/// `changed` must check whether anything is different: changes to other files in the same folder wake it, too.
pub(crate) async fn watch<F: Future<Output = ()>>(
    path: PathBuf,
    cancel: CancellationToken,
    changed: impl Fn() -> F,
) {
    let path = std::path::absolute(&path).unwrap_or(path);
    let (wake, mut woken) = channel(1);
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        let touched =
            event.as_ref().map_or(true, |event| !matches!(event.kind, EventKind::Access(_)));
        if touched {
            // A wake-up that is already queued covers this change, too.
            let _ = wake.try_send(());
        }
    })
    .inspect_err(
        |error| tracing::debug!(%error, "files cannot be watched; checking them periodically"),
    )
    .ok();
    let mut watched: Vec<PathBuf> = Vec::new();
    loop {
        if let Some(watcher) = &mut watcher {
            follow(watcher, &mut watched, &path);
        }
        tokio::select! {
            () = cancel.cancelled() => return,
            () = burst(&mut woken) => {}
            () = tokio::time::sleep(ROUND) => {}
        }
        changed().await;
    }
}

async fn burst(woken: &mut Receiver<()>) {
    if woken.recv().await.is_none() {
        return std::future::pending().await;
    }
    while tokio::time::timeout(QUIET, woken.recv()).await.is_ok_and(|more| more.is_some()) {}
}

/// Watches the path recursively, and its nearest existing parent folder to notice when the path is created or removed.
fn follow(watcher: &mut RecommendedWatcher, watched: &mut Vec<PathBuf>, path: &Path) {
    let parent = path.ancestors().skip(1).find(|folder| folder.is_dir());
    let own = path.is_dir().then_some((path, RecursiveMode::Recursive));
    let targets: Vec<_> =
        own.into_iter().chain(parent.map(|folder| (folder, RecursiveMode::NonRecursive))).collect();
    watched.retain(|folder| {
        let stays = targets.iter().any(|(path, _)| path == folder);
        if !stays {
            // Fails for a folder that was removed: the kernel has dropped that watch.
            let _ = watcher.unwatch(folder);
        }
        stays
    });
    for (folder, mode) in targets {
        if !watched.iter().any(|known| known == folder) && watcher.watch(folder, mode).is_ok() {
            watched.push(folder.to_owned());
        }
    }
}
