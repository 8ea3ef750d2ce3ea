//! Updates the index in the background when the catalog changes.

use std::path::PathBuf;
use std::sync::Arc;

use language::model::StaticModel;
use strip::Strip;
use tokio::sync::watch;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio_util::sync::CancellationToken;

use super::Finder;
use super::index::Index;

/// The task that builds indexes, and the channel that sets its model.
pub struct IndexBuilder {
    model: watch::Sender<Option<PathBuf>>,
    task: JoinHandle<()>,
}

impl IndexBuilder {
    /// Starts the task. The first index is built at the first search, so that gateways without searches pay neither
    /// time nor memory; with a configured model it is built at start, to report a broken model early.
    pub fn start(
        finder: &Arc<Finder>,
        strip: &Arc<Strip>,
        model: Option<PathBuf>,
        long_running: bool,
        ending: CancellationToken,
    ) -> Self {
        let at_once = long_running && model.is_some();
        let (model, models) = watch::channel(model);
        let (finder, strip) = (Arc::clone(finder), Arc::clone(strip));
        let task = tokio::spawn(async move {
            let keeping = async {
                if !at_once {
                    finder.searched.notified().await;
                }
                keep(&finder, &strip, models).await;
            };
            ending.run_until_cancelled(keeping).await;
        });
        Self { model, task }
    }

    /// Replaces the model.
    pub fn set_model(&self, folder: Option<PathBuf>) {
        self.model.send_if_modified(|current| {
            let differs = *current != folder;
            *current = folder;
            differs
        });
    }

    /// Waits until the task has ended.
    pub async fn end(self) {
        let _ = self.task.await;
    }
}

async fn keep(finder: &Finder, strip: &Arc<Strip>, mut models: watch::Receiver<Option<PathBuf>>) {
    let mut changes = strip.catalog().changes();
    let (mut model, mut other_model) = (None, true);
    loop {
        if other_model {
            let folder = models.borrow_and_update().clone();
            model = load(folder).await;
        }
        changes.borrow_and_update();
        let catalog = strip.catalog().snapshot();
        let current = finder.index.borrow().clone();
        let before = current.filter(|_| !other_model).map(|index| Arc::clone(&index.words));
        let with = model.clone();
        match spawn_blocking(move || Index::build(catalog, with, before)).await {
            Ok(index) => {
                finder.index.send_replace(Some(Arc::new(index)));
            }
            Err(error) => tracing::error!(%error, "the tools could not be indexed"),
        }
        tokio::select! {
            Ok(()) = changes.changed() => other_model = models.has_changed().unwrap_or(false),
            Ok(()) = models.changed() => other_model = true,
            else => return,
        }
    }
}

/// Reads a model; if that fails, logs a warning and uses words only.
async fn load(folder: Option<PathBuf>) -> Option<Arc<StaticModel>> {
    let folder = folder?;
    let shown = folder.display().to_string();
    match spawn_blocking(move || StaticModel::open(&folder)).await {
        Ok(Ok(model)) => Some(Arc::new(model)),
        Ok(Err(error)) => {
            tracing::warn!(%error, "`embeddings.path`: tools are found by words only");
            None
        }
        Err(error) => {
            tracing::error!(%error, folder = shown, "the model could not be read");
            None
        }
    }
}
