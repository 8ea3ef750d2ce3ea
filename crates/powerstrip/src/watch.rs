//! Tells when files change. Changes come in bursts: editors write, rename and touch; one burst is told once.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc::{Receiver, channel};
use tokio_util::sync::CancellationToken;

/// A burst is over when nothing has happened for so long.
const QUIET: Duration = Duration::from_millis(120);

/// How often we look anyway: a folder may be of a kind that nobody can watch, or may not exist yet.
const ROUND: Duration = Duration::from_secs(2);

/// Calls `changed` after each burst of changes at or below a path, and each round, until cancelled.
///
/// What is called must find out for itself whether anything is different: a neighbour's change wakes it, too.
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
            // One wake-up that nobody has answered yet is as good as many.
            let _ = wake.try_send(());
        }
    })
    .inspect_err(|error| tracing::debug!(%error, "files cannot be watched; looking now and then"))
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

/// Watches a folder with all below it, and the folder around it, where it comes and goes.
fn follow(watcher: &mut RecommendedWatcher, watched: &mut Vec<PathBuf>, path: &Path) {
    let around = path.ancestors().skip(1).find(|folder| folder.is_dir());
    let own = path.is_dir().then_some((path, RecursiveMode::Recursive));
    let wanted: Vec<_> =
        own.into_iter().chain(around.map(|folder| (folder, RecursiveMode::NonRecursive))).collect();
    watched.retain(|folder| {
        let stays = wanted.iter().any(|(path, _)| path == folder);
        if !stays {
            // The kernel has already forgotten a folder that is gone.
            let _ = watcher.unwatch(folder);
        }
        stays
    });
    for (folder, mode) in wanted {
        if !watched.iter().any(|known| known == folder) && watcher.watch(folder, mode).is_ok() {
            watched.push(folder.to_owned());
        }
    }
}
