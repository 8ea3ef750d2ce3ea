//! Sets up workflows.

use std::sync::Arc;
use std::time::Duration;

use auth::Access;
use config::{Config, PlannerKind, Resolved};
use egress::http::Client;
use llm::{EmbeddingOptions, Model, ModelOptions};
use operations::workflows::WorkflowConsole;
use planner::{PlanBy, PlanService};
use store::StoreError;
use strip::Strip;
use tokio_util::sync::CancellationToken;
use workflow::{SOURCE, Settings, Workflows};

use super::{Gateway, servers};

/// Workflows and those that ran when the last process ended.
pub(super) struct OpenWorkflows {
    pub(super) all: Workflows,
    pub(super) planner: Arc<PlanService>,
    running: std::sync::Mutex<Vec<uuid::Uuid>>,
}

/// Offers the tools of workflows. A process that stays (`long_running`) takes over the workflows of the last one.
pub(super) async fn open(
    config: &Config,
    strip: &Arc<Strip>,
    planner: PlanService,
    long_running: bool,
    ending: &CancellationToken,
) -> Result<OpenWorkflows, StoreError> {
    let all = Workflows::new(strip, strip.clock().clone(), settings(config));
    let planner = Arc::new(planner);
    all.set_planner(planner.clone());
    let running = if long_running { all.take_over().await? } else { Vec::new() };
    strip.catalog().publish(SOURCE, all.tools());
    let (tended, ending) = (all.clone(), ending.clone());
    tokio::spawn(async move { ending.run_until_cancelled(tended.tend()).await });
    Ok(OpenWorkflows { all, planner, running: running.into() })
}

/// What the config says about workflows.
pub(super) fn settings(config: &Config) -> Settings {
    let config::Workflows { ttl, control_calls_per_minute, parallel_tasks, max_active, .. } =
        &config.workflows;
    let count = |number: std::num::NonZeroU32| usize::try_from(number.get()).unwrap_or(usize::MAX);
    Settings {
        ttl: ttl.0,
        control_calls_per_minute: control_calls_per_minute.get(),
        parallel_tasks: count(*parallel_tasks),
        max_active: count(*max_active),
    }
}

/// The planner that the config chooses.
pub(super) fn plan_by(config: &Config, resolved: &Resolved, client: &Client) -> PlanBy {
    match (config.workflows.planner, model(config, resolved, client)) {
        (Some(PlannerKind::Client), _) => PlanBy::Client,
        (Some(PlannerKind::Plain), _) | (_, None) => PlanBy::Plain,
        (_, Some(model)) => PlanBy::Model(model),
    }
}

/// The language model.
pub(super) fn model(config: &Config, resolved: &Resolved, client: &Client) -> Option<Model> {
    let settings = config.model.as_ref()?;
    let options = ModelOptions {
        url: settings.url.clone(),
        name: settings.name.clone(),
        key: resolved.model_key.clone(),
        embeddings: settings.embeddings.as_ref().map(embedding_options),
    };
    Some(Model::new(client.clone(), options))
}

fn embedding_options(settings: &config::ModelEmbeddings) -> EmbeddingOptions {
    let dimensions = settings.dimensions.map(|count| count.get() as usize);
    EmbeddingOptions { name: settings.name.clone(), dimensions }
}

impl Gateway {
    /// The workflows, for doors and pages.
    pub fn workflows(&self) -> Arc<dyn WorkflowConsole> {
        Arc::new(self.workflows.all.clone())
    }

    /// Continues the workflows that ran when the last process ended, once the servers are ready. Their owners are checked
    /// against these access rules.
    pub fn resume_workflows(&self, access: Access) {
        let workflows = self.workflows.all.clone();
        self.strip.set_access_check(Arc::new(move |principal| {
            access.still_valid(principal).map_err(|gone| gone.to_string())
        }));
        let mut running = self.workflows.running.lock();
        let running = running.as_deref_mut().map(std::mem::take).unwrap_or_default();
        let (upstreams, ending) = (Arc::clone(&self.upstreams), self.ending.clone());
        tokio::spawn(async move {
            let resumed = async {
                servers::settle(&upstreams).await;
                workflows.resume_all(running).await;
            };
            ending.run_until_cancelled(resumed).await
        });
    }

    /// After `shutdown`, lets running tasks finish for at most `time` and starts nothing new.
    pub fn drain_workflows(
        &self,
        shutdown: CancellationToken,
        time: Duration,
    ) -> impl Future<Output = ()> + Send + use<> {
        let workflows = self.workflows.all.clone();
        async move {
            shutdown.cancelled().await;
            workflows.drain(time).await;
        }
    }
}
