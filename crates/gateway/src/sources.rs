//! The folders of toolpacks and prompts: read once or watched, and read again when the config changes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use config::{Config, Sandbox};
use egress::http::Client;
use egress::process::Runner;
use egress::sandbox::{Mode, Tier};
use environment::Environment;
use strip::{Catalog, Strip};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolpack::{Runtime, Toolpacks};

use super::prompts;
use crate::watch::Freshness;

/// The least that `sandbox: required` accepts: files and system calls confined.
const REQUIRED: Tier = Tier::T1;

/// How long a start waits for the toolpacks; after that they are published once they are read.
const FIRST_LOAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The folders and the tasks that watch them.
pub(super) struct Sources {
    strip: Arc<Strip>,
    runner: Arc<Runner>,
    client: Client,
    environment: BTreeMap<String, String>,
    freshness: Freshness,
    ending: CancellationToken,
    packs: WatchTask,
    prompts: WatchTask,
}

/// A task that watches a folder.
struct WatchTask {
    cancel: CancellationToken,
    task: Option<JoinHandle<()>>,
}

impl WatchTask {
    fn none(ending: &CancellationToken) -> Self {
        Self { cancel: ending.child_token(), task: None }
    }

    async fn end(&mut self) {
        self.cancel.cancel();
        if let Some(task) = self.task.take() {
            let _ = task.await;
        }
    }
}

impl Sources {
    pub(super) async fn open(
        config: &Config,
        strip: &Arc<Strip>,
        runner: &Arc<Runner>,
        client: Client,
        environment: &Environment,
        freshness: Freshness,
        ending: &CancellationToken,
    ) -> Self {
        let mut sources = Self {
            strip: Arc::clone(strip),
            runner: Arc::clone(runner),
            client,
            environment: environment.texts(),
            freshness,
            ending: ending.clone(),
            packs: WatchTask::none(ending),
            prompts: WatchTask::none(ending),
        };
        sources.follow_packs(config).await;
        sources.follow_prompts(config.prompts.clone()).await;
        sources
    }

    /// Sets the variables that toolpacks can name. Returns whether they differ.
    pub(super) fn set_environment(&mut self, variables: BTreeMap<String, String>) -> bool {
        let differ = self.environment != variables;
        self.environment = variables;
        differ
    }

    /// Reads the toolpacks again, with the current settings.
    pub(super) async fn follow_packs(&mut self, config: &Config) {
        self.packs.end().await;
        let runtime = Arc::new(Runtime {
            runner: Arc::clone(&self.runner),
            http: self.client.clone(),
            environment: self.environment.clone(),
            sandbox: match config.sandbox {
                Sandbox::Auto => Mode::Auto,
                Sandbox::Required => Mode::Required(REQUIRED),
                Sandbox::Off => Mode::Off,
            },
            max: config.limits.bounds().max,
        });
        let packs = Arc::new(Toolpacks::new(config.tools.clone(), runtime));
        let cancel = self.ending.child_token();
        let task = match self.freshness {
            Freshness::Once => {
                publish(&packs, self.strip.catalog()).await;
                None
            }
            Freshness::Followed => {
                let (published, ready) = oneshot::channel();
                let catalog = Arc::clone(self.strip.catalog());
                let task = tokio::spawn(packs.watch(catalog, published, cancel.clone()));
                // Calls that come next find the tools that exist now.
                if tokio::time::timeout(FIRST_LOAD_TIMEOUT, ready).await.is_err() {
                    tracing::warn!("reading the tools folders takes long; starting without them");
                }
                Some(task)
            }
        };
        self.packs = WatchTask { cancel, task };
    }

    /// Reads and watches the prompts in this folder.
    pub(super) async fn follow_prompts(&mut self, folder: PathBuf) {
        self.prompts.end().await;
        let reported = Mutex::default();
        prompts::load(&self.strip, &folder, &reported).await;
        let cancel = self.ending.child_token();
        let task = (self.freshness == Freshness::Followed).then(|| {
            tokio::spawn(prompts::follow(Arc::clone(&self.strip), folder, reported, cancel.clone()))
        });
        self.prompts = WatchTask { cancel, task };
    }

    pub(super) async fn close(mut self) {
        self.packs.end().await;
        self.prompts.end().await;
    }
}

/// Reads the toolpacks once.
async fn publish(packs: &Arc<Toolpacks>, catalog: &Arc<Catalog>) {
    let (packs, catalog) = (Arc::clone(packs), Arc::clone(catalog));
    let published = tokio::task::spawn_blocking(move || {
        let loaded = packs.load();
        catalog.publish(toolpack::SOURCE, loaded.as_tools());
        for finding in &loaded.findings {
            tracing::warn!(%finding, "a toolpack cannot be used");
        }
    });
    if let Err(error) = published.await {
        tracing::error!(%error, "the toolpacks could not be read");
    }
}
