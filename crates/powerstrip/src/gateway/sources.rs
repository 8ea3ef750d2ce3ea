//! Where tools and prompts come from: folders, read once or followed, and read anew when the config changes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use egress::http::{AddressPolicy, Client};
use egress::process::Runner;
use egress::sandbox::{Mode, Tier};
use strip::catalog::{LimitBounds, WireNames};
use strip::{Catalog, Strip, Tool};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolpack::{Runtime, Toolpacks};

use super::{Freshness, prompts};
use crate::config::{Config, Sandbox};
use crate::environment::Environment;

/// What `sandbox: required` asks for: files and system calls fenced.
const REQUIRED: Tier = Tier::T1;

/// The name that the catalog knows packs' source by.
const PACKS: &str = "toolpacks";

/// The folders in use, and the tasks that follow them.
pub(super) struct Sources {
    strip: Arc<Strip>,
    runner: Arc<Runner>,
    client: Client,
    environment: BTreeMap<String, String>,
    freshness: Freshness,
    ending: CancellationToken,
    packs: Following,
    prompts: Following,
}

/// A task that follows a folder.
struct Following {
    cancel: CancellationToken,
    task: Option<JoinHandle<()>>,
}

impl Following {
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
            packs: Following::none(ending),
            prompts: Following::none(ending),
        };
        sources.follow_packs(config).await;
        sources.follow_prompts(config.prompts.clone()).await;
        sources
    }

    /// The client for the tools, under another set of rules.
    pub(super) fn allow(&mut self, config: &Config) {
        let listeners = self.client.policy().own_listeners().clone();
        self.client = self.client.with_policy(AddressPolicy::new(config.egress.rules(), listeners));
    }

    /// Reads the packs anew, with all that the config says about how they run.
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
                publish(&packs, &self.strip).await;
                None
            }
            Freshness::Followed => {
                let (there, ready) = oneshot::channel();
                let bounds = config.limits.bounds();
                let following =
                    follow(packs, Arc::clone(&self.strip), bounds, cancel.clone(), there);
                let task = tokio::spawn(following);
                // Whoever asks next finds the packs that are there now.
                let _ = ready.await;
                Some(task)
            }
        };
        self.packs = Following { cancel, task };
    }

    /// Reads the prompts, from this folder from now on.
    pub(super) async fn follow_prompts(&mut self, folder: PathBuf) {
        self.prompts.end().await;
        let told = Mutex::default();
        prompts::load(&self.strip, &folder, &told).await;
        let cancel = self.ending.child_token();
        let task = (self.freshness == Freshness::Followed).then(|| {
            tokio::spawn(prompts::follow(Arc::clone(&self.strip), folder, told, cancel.clone()))
        });
        self.prompts = Following { cancel, task };
    }

    pub(super) async fn close(mut self) {
        self.packs.end().await;
        self.prompts.end().await;
    }
}

/// Reads the packs once.
async fn publish(packs: &Arc<Toolpacks>, strip: &Arc<Strip>) {
    let (packs, strip) = (Arc::clone(packs), Arc::clone(strip));
    let published = tokio::task::spawn_blocking(move || {
        let loaded = packs.load();
        strip.catalog().publish(PACKS, loaded.as_tools());
        for finding in &loaded.findings {
            tracing::warn!(%finding, "a toolpack cannot be used");
        }
    });
    if let Err(error) = published.await {
        tracing::error!(%error, "looking at the toolpacks failed");
    }
}

/// Follows the packs' folders; `there` hears when they have been read for the first time.
async fn follow(
    packs: Arc<Toolpacks>,
    strip: Arc<Strip>,
    bounds: LimitBounds,
    cancel: CancellationToken,
    there: oneshot::Sender<()>,
) {
    // The packs publish to a catalog of their own, which tells us when to pass them on.
    let bell = Arc::new(Catalog::new(bounds, WireNames::default()));
    let mut changes = bell.changes();
    let passing_on = async {
        let mut there = Some(there);
        while changes.changed().await.is_ok() {
            let tools = packs.tools().into_iter().map(|tool| tool as Arc<dyn Tool>).collect();
            strip.catalog().publish(PACKS, tools);
            if let Some(there) = there.take() {
                // The folders come under watch right after they were read.
                tokio::task::yield_now().await;
                let _ = there.send(());
            }
        }
    };
    tokio::select! {
        () = Arc::clone(&packs).watch(Arc::clone(&bell), cancel) => {}
        () = passing_on => {}
    }
}
