//! The gateway process: builds store, egress, tools, prompts and local sockets, and closes them in order.

pub mod approvals;
mod audit;
mod board;
pub mod call_operations;
pub mod collection_files;
pub mod connect_record;
mod console;
pub mod database;
pub mod files;
pub mod findings;
pub mod foundation;
pub mod handover;
pub mod install;
mod local_sessions;
pub mod login;
mod names;
mod operations;
pub mod path_files;
pub mod port;
mod process;
pub mod programs;
mod prompts;
pub mod quarantine;
mod registration;
pub mod reload;
mod research_flow;
pub mod server_operations;
mod servers;
mod settings;
mod socket_path;
mod sources;
pub mod waiting;
mod watch;
mod workflows;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::approvals::Approvals;
use ::files::Files;
use ::operations::Table;
use anyhow::Context as _;
use auth::client::OAuthClient;
use auth::secrets::{SecretService, SecretStore};
use auth::vault::KeySource;
use auth::{Access, AccessOptions, AdminFault, AdminToken, ApiKeys, ApprovalLinks, LocalAccess};
use builtin::finder::{self, Finder, IndexBuilder};
use builtin::{control, results};
use config::{Loaded, Overrides, Resolved};
use doors::LocalDoor;
use egress::http::{AddressPolicy, Client, OwnListeners};
use egress::process::Runner;
use egress::sandbox::Tier;
use planner::PlanService;
use store::{Cache, CommitQueue, DataFolder, Database};
use strip::catalog::{Pins, WireNames};
use strip::{Parts, Strip};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use upstream::{Registry, Status, Upstreams};
use webtools::WebTools;

use reading::{Bounds, Readers};

use approvals::Webhook;
use audit::AuditRetention;
pub use board::Board;
use collection_files::CollectionFiles;
pub use console::{ConfigSource, GatewayConsole};
use files::ConfinedText;
pub use foundation::Foundation;
use names::StoredNames;
use operations::Services;
pub use process::Process;
use quarantine::Quarantine;
use research_flow::ResearchFlow;
pub use settings::needs_restart;
pub use socket_path::SocketPath;
use sources::Sources;
pub use watch::Freshness;
use workflows::OpenWorkflows;

/// The memory for recorded answers, in bytes.
const CACHE_BYTES: u64 = 64 << 20;

/// How long new local sessions may send their first request when the process ends.
const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_millis(30);

/// How long the process waits at its end for each part that a database without an answer may hold up.
const CLOSE_TIME: Duration = Duration::from_millis(500);

/// The parts of a running gateway.
pub struct Gateway {
    strip: Arc<Strip>,
    sources: tokio::sync::Mutex<Sources>,
    upstreams: Arc<Upstreams>,
    keyring: Arc<OAuthClient>,
    key: KeySource,
    secrets: Arc<SecretStore>,
    secret_service: Arc<SecretService>,
    /// The secrets of the running config.
    resolved: Mutex<Arc<Resolved>>,
    indexes: IndexBuilder,
    registry: Arc<Registry>,
    store: Store,
    listeners: OwnListeners,
    runner: Arc<Runner>,
    door: LocalDoor,
    keys: Arc<ApiKeys>,
    client: Client,
    quarantine: Arc<Quarantine>,
    operations: Arc<Table>,
    console: Arc<GatewayConsole>,
    audit_retention: Arc<AuditRetention>,
    approvals: Arc<Approvals>,
    workflows: OpenWorkflows,
    web_tools: Arc<WebTools>,
    flow: ResearchFlow,
    /// Ends sessions and watches.
    ending: CancellationToken,
    /// Stops new local sessions, shortly before the others end.
    closing: CancellationToken,
    sockets: Vec<JoinHandle<()>>,
    names: JoinHandle<()>,
}

struct Store {
    database: Database,
    commits: CommitQueue,
    /// Released last.
    folder: DataFolder,
}

impl Gateway {
    /// Builds the gateway on a data folder that this process owns.
    pub async fn open(
        process: &Process,
        loaded: &Loaded,
        foundation: Foundation,
        freshness: Freshness,
    ) -> anyhow::Result<Self> {
        let Foundation { folder, database, runner, key, secrets, clock } = foundation;
        let (config, environment) = (&loaded.config, &loaded.environment);
        database::recover(&database, folder.path()).await?;
        let commits = CommitQueue::start_in(database.clone(), folder.path());
        let keys = Arc::new(ApiKeys::open(database.clone(), clock.clone()).await?);
        let listeners = OwnListeners::default();
        let policy = AddressPolicy::new(config.egress.rules(), listeners.clone());
        let client = Client::new(policy).context("the guarded HTTP client cannot be built")?;
        let path = folder.path();
        let readers = Readers::new(Arc::clone(&runner), Bounds::default());
        let mut files = files::parts(loaded, path, database.clone(), &client, &clock)?;
        files.text = Arc::new(ConfinedText(readers.clone()));
        let holders = names::holders(database.server_names().await?);
        let parts = Parts {
            commits: commits.clone(),
            database: database.clone(),
            cache: Cache::memory(CACHE_BYTES, clock.clone()),
            clock: clock.clone(),
            names: WireNames::open(database.wire_names().await?)
                .with_bare(database.bare_names().await?)
                .context(
                    "delete the damaged row from the table `bare_names`, or restore a backup",
                )?,
            pins: Pins::open(database.pins().await?)
                .with_announced(holders.keys().cloned(), config.registration.max_tools),
            files: Files::new(files),
        };
        let strip = Strip::new(config.settings(), parts);
        strip.set_agents(config.profiles());
        let audit_retention = Arc::new(AuditRetention::new(&database));
        strip.catalog().add_registered(holders.keys().map(String::as_str));
        strip.catalog().publish(control::SOURCE, control::tools(&strip));
        strip.catalog().publish(builtin::SOURCE, builtin::tools(clock.clone()));
        strip.catalog().publish(results::SOURCE, vec![results::tool(&strip)]);

        let ending = CancellationToken::new();
        let keyring = OAuthClient::new(database.clone(), key.clone(), clock.clone());
        if config.auth.is_some() {
            keyring.set_multi_user();
        }
        let resolved = loaded.resolve(&foundation::vault_secrets(&secrets, loaded).await);
        process.secrets.store(Arc::new(resolved.scrubber()));
        audit_retention.apply(&strip, config, resolved.scrubber());
        if freshness == Freshness::Followed {
            for fault in loaded.warnings.iter().chain(&resolved.off) {
                tracing::warn!("{fault}");
            }
        }
        let web_tools = Arc::new(WebTools::new(webtools::Parts {
            catalog: Arc::clone(strip.catalog()),
            client: client.clone(),
            runner: Arc::clone(&runner),
            readers: readers.clone(),
            clock: clock.clone(),
        }));
        let collections = Arc::new(collection_files::open(config, database.clone(), clock.clone()));
        web_tools.apply(config, &resolved.provider_keys, &environment.texts()).await;
        let deps = servers::ServerDeps {
            strip: &strip,
            runner: &runner,
            client: client.clone(),
            keyring: &keyring,
            secrets: &secrets,
            database: &database,
            clock: clock.clone(),
            environment,
        };
        let upstreams = servers::start(resolved.servers.clone(), deps);
        let sources =
            Sources::open(config, &strip, &runner, client.clone(), environment, freshness, &ending)
                .await;
        let known = Arc::clone(&upstreams);
        let finder = Finder::new(&strip, Arc::new(move |name| servers::state(&known, name)));
        strip.catalog().publish(finder::SOURCE, finder.tools());
        let model = config.embeddings.path.clone();
        let long_running = freshness == Freshness::Followed;
        let indexes = IndexBuilder::start(&finder, &strip, model, long_running, ending.clone());
        let (terms, names) =
            (registration::terms(config), StoredNames::new(&database, &clock, &strip));
        let registry =
            Arc::new(Registry::new(Arc::clone(&upstreams), terms, holders, Arc::new(names)));
        tokio::spawn({
            let (registry, ending) = (Arc::clone(&registry), ending.clone());
            async move { ending.run_until_cancelled(registry.maintain()).await }
        });
        if freshness == Freshness::Followed {
            let leftovers = Arc::clone(&runner);
            tokio::spawn(async move { leftovers.remove_leftovers().await });
            let (strip, ending) = (Arc::clone(&strip), ending.clone());
            let audit_retention = Arc::clone(&audit_retention);
            tokio::spawn(async move {
                let tended = async {
                    tokio::join!(
                        strip.files().sweep_forever(),
                        strip.tend_records(),
                        audit_retention.sweep_forever(strip.clock())
                    )
                };
                ending.run_until_cancelled(tended).await
            });
        }
        let closing = CancellationToken::new();
        let approvals =
            approvals::open(config, &strip, database.clone(), commits.clone(), &ending).await?;
        let planner = PlanService::new(finder, &strip, &database, &clock);
        planner.plan_by(workflows::plan_by(config, &resolved, &client));
        let workflows = workflows::open(config, &strip, planner, long_running, &ending).await?;
        let flow = ResearchFlow {
            strip: Arc::clone(&strip),
            workflows: workflows.all.clone(),
            collections: Arc::clone(&collections),
            web_tools: Arc::clone(&web_tools),
            readers: readers.clone(),
            model: Arc::default(),
            published: Mutex::default(),
        };
        flow.apply(config, workflows::model(config, &resolved, &client));
        let quarantine = Arc::new(Quarantine::new(&strip, &database));
        let console = Arc::new(GatewayConsole::new(&upstreams, &registry, &strip));
        let secret_service =
            SecretService::new(Arc::clone(&secrets), commits.clone(), loaded.secret_names());
        let operations = Arc::new(operations::table(&Services {
            secrets: &secret_service,
            strip: &strip,
            keys: &keys,
            registry: &registry,
            upstreams: &upstreams,
            console: &console,
            quarantine: &quarantine,
            keyring: &keyring,
            workflows: &workflows.all,
            collections: &Arc::new(CollectionFiles::new(&collections, readers)),
        }));
        let door =
            LocalDoor::new(Arc::clone(&strip), LocalAccess::default().user(), ending.clone())
                .with_operations(Arc::clone(&operations));
        // `powerstrip stdio` relays messages of its client to the local socket, never to the operator socket.
        let mut sockets = Vec::new();
        for (path, door) in [
            (SocketPath::of(folder.path()), door.clone()),
            (SocketPath::for_operator(folder.path()), door.clone().for_operator()),
        ] {
            sockets.extend(local_sessions::open_socket(path, door, closing.clone()).await);
        }
        let names = tokio::spawn(names::store_names(
            Arc::clone(&strip),
            database.clone(),
            Arc::clone(&quarantine),
            ending.clone(),
        ));
        Ok(Self {
            strip,
            sources: tokio::sync::Mutex::new(sources),
            upstreams,
            keyring,
            key,
            secrets,
            secret_service,
            resolved: Mutex::new(Arc::new(resolved)),
            indexes,
            registry,
            store: Store { database, commits, folder },
            listeners,
            runner,
            door,
            keys,
            client,
            quarantine,
            operations,
            console,
            audit_retention,
            approvals,
            workflows,
            web_tools,
            flow,
            ending,
            closing,
            sockets,
            names,
        })
    }

    /// The strip behind every door.
    pub fn strip(&self) -> &Arc<Strip> {
        &self.strip
    }

    /// The door for this process's own pipes.
    pub fn door(&self) -> &LocalDoor {
        &self.door
    }

    /// The access rules for doors at this URL.
    pub fn access(&self, options: Option<AccessOptions>, url: &str) -> Access {
        match options {
            None => LocalAccess::default().into(),
            Some(mut options) => {
                options.public_url = url.to_owned();
                let keys = Arc::clone(&self.keys);
                Access::guarded(options, keys, &self.client, self.strip.clock().clone())
            }
        }
    }

    /// The operator's token; created when it is first needed.
    pub fn admin(&self) -> Result<AdminToken, AdminFault> {
        AdminToken::open(self.store.folder.path())
    }

    /// The webhook for pending approvals, if configured; its links start with `base`.
    pub fn approval_webhook(&self, loaded: &Loaded, base: &str) -> anyhow::Result<Option<Webhook>> {
        let (approvals, resolved) = (&loaded.config.approvals, self.resolved());
        let secret = resolved.webhook_secret.as_ref();
        let Some((target, secret)) = approvals.webhook.as_ref().zip(secret) else {
            return Ok(None);
        };
        let links = Arc::new(ApprovalLinks::new(&self.key, self.strip.clock().clone())?);
        Ok(Some(Webhook {
            url: target.url.clone(),
            secret: secret.clone(),
            link_ttl: approvals.link_ttl.0,
            base: base.to_owned(),
            links,
            client: self.client.clone(),
            clock: self.strip.clock().clone(),
        }))
    }

    /// Waits, up to a timeout, until every server is ready or known to be down.
    pub async fn settle(&self) {
        servers::settle(&self.upstreams).await;
    }

    /// The state of every server.
    pub fn server_statuses(&self) -> Vec<Status> {
        self.upstreams.statuses()
    }

    /// What the dashboard shows about this process.
    pub fn dashboard(&self, process: &Process, flags: Overrides) -> Arc<Board> {
        let (quarantine, runner) = (Arc::clone(&self.quarantine), Arc::clone(&self.runner));
        let secrets = Arc::clone(&self.secret_service);
        Arc::new(Board::new(process.clone(), flags, quarantine, runner, secrets))
    }

    /// The operations of this gateway.
    pub fn operations(&self) -> &Arc<Table> {
        &self.operations
    }

    /// What an operator watches and switches.
    pub fn console(&self) -> &Arc<GatewayConsole> {
        &self.console
    }

    /// The pending approvals.
    pub fn approvals(&self) -> &Arc<Approvals> {
        &self.approvals
    }

    /// The secrets of the running config.
    pub fn resolved(&self) -> Arc<Resolved> {
        Arc::clone(&self.resolved.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Fetches the secrets of a configuration.
    pub async fn resolve(&self, loaded: &Loaded) -> Resolved {
        loaded.resolve(&foundation::vault_secrets(&self.secrets, loaded).await)
    }

    /// The secrets in the vault.
    pub fn secrets(&self) -> &Arc<SecretStore> {
        &self.secrets
    }

    /// The tokens for servers.
    pub fn keyring(&self) -> &Arc<OAuthClient> {
        &self.keyring
    }

    /// The gateway's own listeners, which tools must not call.
    pub fn listeners(&self) -> &OwnListeners {
        &self.listeners
    }

    /// The sandbox tier of this host.
    pub fn tier(&self) -> Tier {
        self.runner.host().tier()
    }

    /// Closes a shared gateway, if this is its last reference.
    pub async fn close_shared(gateway: Arc<Self>) {
        match Arc::try_unwrap(gateway) {
            Ok(gateway) => gateway.close().await,
            Err(_) => {
                tracing::error!("the gateway is still in use; its last audit rows may be missing")
            }
        }
    }

    /// After `shutdown`, lets the calls of local sessions finish for at most `time`.
    pub fn drain_local_calls(
        &self,
        shutdown: CancellationToken,
        time: Duration,
    ) -> impl Future<Output = ()> + Send + use<> {
        local_sessions::drain(self.door.clone(), Arc::clone(&self.strip), shutdown, time)
    }

    /// Ends sessions, commits pending rows and releases the data folder.
    pub async fn close(self) {
        self.closing.cancel();
        self.approvals.end();
        self.strip.runs().end_waiting();
        self.workflows.all.drain(local_sessions::DRAIN_TIMEOUT).await;
        if !self.sockets.is_empty() {
            tokio::time::sleep(FIRST_REQUEST_TIMEOUT).await;
        }
        self.ending.cancel();
        for socket in self.sockets {
            let _ = socket.await;
        }
        self.upstreams.stop().await;
        self.indexes.end().await;
        self.web_tools.close().await;
        self.sources.into_inner().close().await;
        let _ = timeout(CLOSE_TIME, self.names).await;
        if let Err(error) = self.strip.runs().close().await {
            tracing::error!(%error, "the state of runs could not be written");
        }
        if let Err(error) = self.store.commits.close().await {
            tracing::error!(%error, "the last audit rows could not be written");
        }
        if timeout(CLOSE_TIME, self.store.database.close()).await.is_err() {
            tracing::warn!("the database does not answer; its connections are not closed");
        }
        drop(self.store.folder);
    }
}
