//! The whole strip in one process: store, egress, tools, prompts and the local socket, put together and taken apart.

pub(crate) mod approvals;
mod board;
pub(crate) mod files;
mod names;
mod prompts;
mod quarantine;
mod registration;
pub(crate) mod runs;
mod servers;
mod settings;
mod socket_path;
mod sources;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use async_trait::async_trait;
use auth::client::OAuthClient;
use auth::vault::KeySource;
use auth::{Access, AccessOptions, AdminFault, AdminToken, ApiKeys, ApprovalLinks, LocalAccess};
use config::{Config, Environment, Loaded, Overrides, Servers};
use doors::{LocalDoor, Operator, ServerDesk, SocketDoor};
use egress::http::{AddressPolicy, Client, OwnListeners};
use egress::process::Runner;
use egress::sandbox::Tier;
use proto::Clock;
use serde_json::Value;
use store::{AuditTrail, Cache, DataFolder, Database};
use strip::approval::Approvals;
use strip::catalog::{Pins, WireNames};
use strip::files::Files;
use strip::{Failure, Parts, Strip, control};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use upstream::{Registry, Upstreams};

use crate::builtin;
use crate::context::Context;
use crate::extractor::{Bounds, TextExtractor};
use crate::files::FileErrands;
use crate::finder::{self, Finder, Keeper};
use crate::keys::KeyErrands;
pub(crate) use crate::watch::Freshness;

use approvals::{ApprovalErrands, Webhook};
pub(crate) use board::Board;
pub(crate) use names::{NAMES, RELEASE};
use names::{NameDesk, StoredNames};
use quarantine::Quarantine;
pub(crate) use quarantine::{APPROVE, QUARANTINE};
use registration::Desk;
use runs::RunDesk;
pub(crate) use settings::needs_restart;
pub(crate) use socket_path::SocketPath;
use sources::Sources;

/// How many bytes of recorded answers are kept in memory.
const CACHE_BYTES: u64 = 64 << 20;

/// The file in the data folder that holds the key of the vault.
const KEY_FILE: &str = "vault.key";

/// How long sessions that have just been opened may still bring their first request when the process ends.
const LAST_WORDS: Duration = Duration::from_millis(30);

/// How long calls of local sessions may take to finish when the process ends.
const DRAIN: Duration = Duration::from_secs(10);

/// What the rest of a gateway is built from, and what must be taken apart in order.
pub(crate) struct Gateway {
    strip: Arc<Strip>,
    sources: tokio::sync::Mutex<Sources>,
    upstreams: Arc<Upstreams>,
    keyring: Arc<OAuthClient>,
    key: KeySource,
    keeper: Keeper,
    registry: Arc<Registry>,
    store: Store,
    listeners: OwnListeners,
    runner: Arc<Runner>,
    door: LocalDoor,
    keys: Arc<ApiKeys>,
    client: Client,
    desks: Arc<Desks>,
    approvals: Arc<Approvals>,
    /// Ends sessions and watches.
    ending: CancellationToken,
    /// Stops new local sessions, a little before the others end.
    closing: CancellationToken,
    sockets: Vec<JoinHandle<()>>,
    names: JoinHandle<()>,
}

struct Store {
    database: Database,
    audit: AuditTrail,
    /// Let go of last of all.
    folder: DataFolder,
}

/// What the operator may ask for, each answered by whom it concerns.
struct Desks {
    quarantine: Arc<Quarantine>,
    keys: KeyErrands,
    files: FileErrands<Arc<Strip>>,
    approvals: ApprovalErrands,
    runs: RunDesk,
    names: NameDesk,
}

#[async_trait]
impl Operator for Desks {
    async fn ask(&self, method: &str, params: Value) -> Option<Result<Value, String>> {
        let desks: [&dyn Operator; 6] =
            [&self.keys, &self.files, &self.approvals, &self.runs, &self.names, &*self.quarantine];
        for desk in desks {
            if let Some(answer) = desk.ask(method, params.clone()).await {
                return Some(answer);
            }
        }
        None
    }
}

impl Gateway {
    /// Builds everything on a data folder that this process owns.
    pub(crate) async fn open(
        config: &Config,
        servers: Servers,
        environment: &Environment,
        folder: DataFolder,
        freshness: Freshness,
    ) -> anyhow::Result<Self> {
        let (runner, database) = tokio::join!(Runner::new(), Database::open(folder.path()));
        let runner = runner.context("processes cannot be started on this host")?;
        // `check` runs on a folder of its own; the configured one stays hidden then, too.
        let runner = Arc::new(runner.hiding(folder.path()).hiding(&config.data_dir));
        let database = database?;
        let interrupted = database.close_interrupted_calls().await?;
        if interrupted > 0 {
            tracing::warn!(
                "{interrupted} calls had begun when the gateway last ended; the audit trail lists them as `interrupted`"
            );
        }
        let audit = AuditTrail::start(database.clone());
        let clock = Clock::default();
        let keys = Arc::new(ApiKeys::open(database.clone(), clock.clone()).await?);
        let listeners = OwnListeners::default();
        let policy = AddressPolicy::new(config.egress.rules(), listeners.clone());
        let client = Client::new(policy).context("the guarded HTTP client cannot be built")?;
        let path = folder.path();
        let mut files = files::parts(config, environment, path, database.clone(), &client)?;
        files.text = Arc::new(TextExtractor::new(Arc::clone(&runner), Bounds::default()));
        let held = names::holders(database.server_names().await?);
        let parts = Parts {
            audit: audit.clone(),
            database: database.clone(),
            cache: Cache::memory(CACHE_BYTES, clock.clone()),
            clock: clock.clone(),
            names: WireNames::from_stored(database.wire_names().await?),
            pins: Pins::from_stored(database.pins().await?)
                .with_announced(held.keys().cloned(), config.registration.max_tools),
            files: Files::new(files),
        };
        let strip = Strip::new(config.settings(), parts);
        strip.set_agents(config.profiles());
        strip.catalog().publish(control::SOURCE, control::tools(&strip));
        strip.catalog().publish(builtin::SOURCE, builtin::tools(clock.clone()));

        let ending = CancellationToken::new();
        let key = environment
            .vault_key()
            .map_or_else(|| KeySource::File(folder.path().join(KEY_FILE)), KeySource::Given);
        let keyring = OAuthClient::new(database.clone(), key.clone(), clock.clone());
        if config.auth.is_some() {
            keyring.set_multi_user();
        }
        let wires = servers::Wires {
            strip: &strip,
            runner: &runner,
            client: client.clone(),
            keyring: &keyring,
            database: &database,
            clock: clock.clone(),
            environment,
        };
        let upstreams = servers::start(servers, wires);
        let sources =
            Sources::open(config, &strip, &runner, client.clone(), environment, freshness, &ending)
                .await;

        let known = Arc::clone(&upstreams);
        let finder = Finder::new(&strip, Arc::new(move |name| servers::state(&known, name)));
        strip.catalog().publish(finder::SOURCE, finder.tools());
        let model = config.embeddings.path.clone();
        let keeper = Keeper::start(finder, Arc::clone(&strip), model, freshness, ending.clone());

        let (terms, kept) = (registration::terms(config), StoredNames::new(&database, &clock));
        let registry = Arc::new(Registry::new(Arc::clone(&upstreams), terms, held, Arc::new(kept)));
        tokio::spawn({
            let (registry, ending) = (Arc::clone(&registry), ending.clone());
            async move { ending.run_until_cancelled(registry.tend()).await }
        });
        if freshness == Freshness::Followed {
            let (strip, ending) = (Arc::clone(&strip), ending.clone());
            tokio::spawn(async move {
                let tended = async { tokio::join!(strip.files().tend(), strip.tend_records()) };
                ending.run_until_cancelled(tended).await
            });
        }
        let told = (Arc::clone(&upstreams), Arc::clone(&registry), Arc::clone(&strip));
        let asked = Arc::clone(&upstreams);
        let door =
            LocalDoor::new(Arc::clone(&strip), LocalAccess::default().user(), ending.clone())
                .reporting_servers(Arc::new(move || servers::report(&told.0, &told.1, &told.2)))
                .logging_in(Arc::new(move |server, principal| {
                    let upstreams = Arc::clone(&asked);
                    Box::pin(async move { servers::login(&upstreams, &server, &principal).await })
                }));
        let closing = CancellationToken::new();
        let asked = (&database, &Clock::default(), &audit);
        let approvals = approvals::open(config, &strip, asked, &ending).await?;
        let quarantine = Arc::new(Quarantine::new(&strip, &database));
        // `powerstrip stdio` relays its client's messages to the one, and nobody's to the other.
        let desks = Arc::new(Desks {
            quarantine: Arc::clone(&quarantine),
            keys: KeyErrands(Arc::clone(&keys)),
            files: FileErrands::new(Arc::clone(&strip)),
            approvals: ApprovalErrands(Arc::clone(&approvals)),
            runs: RunDesk(Arc::clone(&strip)),
            names: NameDesk(Arc::clone(&registry)),
        });
        let operated = door.clone().operated(Arc::clone(&desks) as Arc<dyn Operator>);
        let mut sockets = Vec::new();
        for (place, door) in [
            (SocketPath::of(folder.path()), door.clone()),
            (SocketPath::for_operator(folder.path()), operated),
        ] {
            sockets.extend(open_socket(place, door, closing.clone()).await);
        }
        let kept = (Arc::clone(&strip), database.clone(), Arc::clone(&quarantine));
        let names = tokio::spawn(keep_names(kept, ending.clone()));
        Ok(Self {
            strip,
            sources: tokio::sync::Mutex::new(sources),
            upstreams,
            keyring,
            key,
            keeper,
            registry,
            store: Store { database, audit, folder },
            listeners,
            runner,
            door,
            keys,
            client,
            desks,
            approvals,
            ending,
            closing,
            sockets,
            names,
        })
    }

    /// The strip behind every door.
    pub(crate) fn strip(&self) -> &Arc<Strip> {
        &self.strip
    }

    /// The door for pipes of this process.
    pub(crate) fn door(&self) -> &LocalDoor {
        &self.door
    }

    /// Who may come in by doors that are reached at this URL.
    pub(crate) fn access(&self, options: Option<AccessOptions>, url: &str) -> Access {
        match options {
            None => LocalAccess::default().into(),
            Some(mut options) => {
                options.public_url = url.to_owned();
                let keys = Arc::clone(&self.keys);
                Access::guarded(options, keys, &self.client, Clock::default())
            }
        }
    }

    /// What shows that somebody runs this gateway; made when it is first asked for.
    pub(crate) fn admin(&self) -> Result<AdminToken, AdminFault> {
        AdminToken::open(self.store.folder.path())
    }

    /// Where calls that wait are told of at this URL, if anywhere; the links in it open here.
    pub(crate) fn approval_webhook(
        &self,
        loaded: &Loaded,
        base: &str,
    ) -> anyhow::Result<Option<Webhook>> {
        let approvals = &loaded.config.approvals;
        let Some((target, secret)) = approvals.webhook.as_ref().zip(loaded.webhook_secret.as_ref())
        else {
            return Ok(None);
        };
        let links = Arc::new(ApprovalLinks::new(&self.key, Clock::default())?);
        Ok(Some(Webhook {
            url: target.url.clone(),
            secret: auth::Secret::new(secret.expose()),
            link_ttl: approvals.link_ttl.0,
            base: base.to_owned(),
            links,
            client: self.client.clone(),
            clock: Clock::default(),
        }))
    }

    /// Waits, within bounds, until every server is ready or known to be down.
    pub(crate) async fn settle(&self) {
        servers::settle(&self.upstreams).await;
    }

    /// How every server is.
    pub(crate) fn servers(&self) -> Value {
        servers::report(&self.upstreams, &self.registry, &self.strip)
    }

    /// What the dashboard needs to know of this process.
    pub(crate) fn dashboard(&self, context: &Arc<Context>, flags: Overrides) -> Arc<Board> {
        let (quarantine, runner) = (Arc::clone(&self.desks.quarantine), Arc::clone(&self.runner));
        Arc::new(Board::new(Arc::clone(context), flags, quarantine, runner))
    }

    /// What only the operator may ask.
    pub(crate) fn operator(&self) -> &dyn Operator {
        &*self.desks
    }

    /// The calls that wait for a person.
    pub(crate) fn approvals(&self) -> &Arc<Approvals> {
        &self.approvals
    }

    /// The link by which the local user logs in to a server; none if that is not needed.
    pub(crate) async fn login(&self, server: &str) -> Result<Option<String>, Failure> {
        servers::login(&self.upstreams, server, &LocalAccess::default().user()).await
    }

    /// The tokens for servers.
    pub(crate) fn keyring(&self) -> &Arc<OAuthClient> {
        &self.keyring
    }

    /// Where servers register themselves; where callers need credentials, by keys that were given out alone.
    pub(crate) fn server_desk(&self, guarded: bool) -> anyhow::Result<Arc<dyn ServerDesk>> {
        let folder = self.store.folder.path();
        let token = if guarded { None } else { Some(registration::local_token(folder)) };
        let token = token.transpose();
        let token = token.context("the registration token cannot be kept in the data folder")?;
        let (upstreams, registry) = (Arc::clone(&self.upstreams), Arc::clone(&self.registry));
        let reported = Arc::clone(&self.strip);
        Ok(Arc::new(Desk::new(upstreams, registry, reported, Arc::clone(&self.keys), token)))
    }

    /// Our own listeners, which no tool may call.
    pub(crate) fn listeners(&self) -> &OwnListeners {
        &self.listeners
    }

    /// How far this host can confine processes.
    pub(crate) fn tier(&self) -> Tier {
        self.runner.host().tier()
    }

    /// Closes a gateway that was shared, once nobody else holds it.
    pub(crate) async fn close_shared(gateway: Arc<Self>) {
        match Arc::try_unwrap(gateway) {
            Ok(gateway) => gateway.close().await,
            Err(_) => {
                tracing::error!("the gateway is still in use; its last audit rows may be missing")
            }
        }
    }

    /// Ends sessions, commits what is not committed, and lets go of the data folder.
    pub(crate) async fn close(self) {
        self.closing.cancel();
        self.approvals.end();
        if !self.sockets.is_empty() {
            tokio::time::sleep(LAST_WORDS).await;
        }
        self.ending.cancel();
        for socket in self.sockets {
            let _ = socket.await;
        }
        self.upstreams.stop().await;
        self.keeper.end().await;
        self.sources.into_inner().close().await;
        let _ = self.names.await;
        if let Err(error) = self.strip.runs().flush().await {
            tracing::error!(%error, "what runs have come to could not be written");
        }
        if let Err(error) = self.store.audit.close().await {
            tracing::error!(%error, "the last audit rows could not be written");
        }
        self.store.database.close().await;
        drop(self.store.folder);
    }
}

/// Opens a socket in the data folder. Without it, the gateway works; only commands beside it do not reach it.
async fn open_socket(
    place: io::Result<SocketPath>,
    door: LocalDoor,
    closing: CancellationToken,
) -> Option<JoinHandle<()>> {
    let opened = async {
        let place = place?;
        let socket = SocketDoor::bind(place.path()).await?;
        Ok::<_, io::Error>((place, socket))
    };
    match opened.await {
        Ok((place, socket)) => Some(tokio::spawn(async move {
            // The place keeps the folder open by which the socket is named.
            let _place = place;
            if let Err(error) = socket.serve(door, closing, DRAIN).await {
                tracing::warn!(%error, "the local socket is closed");
            }
        })),
        Err(error) => {
            tracing::warn!(%error, "commands beside this process cannot reach it: no local socket");
            None
        }
    }
}

/// Stores wire names as they are given out, and definitions as they are first trusted, so that they outlive this process.
async fn keep_names(
    (strip, database, quarantine): (Arc<Strip>, Database, Arc<Quarantine>),
    ending: CancellationToken,
) {
    let mut changes = strip.catalog().changes();
    loop {
        changes.borrow_and_update();
        quarantine.keep().await;
        let new = strip.catalog().take_new_names();
        if !new.is_empty()
            && let Err(error) = database.save_wire_names(&new).await
        {
            tracing::error!(%error, "the names given to tools could not be stored");
        }
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            () = ending.cancelled() => {
                quarantine.keep().await;
                let last = strip.catalog().take_new_names();
                if !last.is_empty() {
                    let _ = database.save_wire_names(&last).await;
                }
                return;
            }
        }
    }
}
