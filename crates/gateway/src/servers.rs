//! Starts the MCP servers behind the strip and reports their state.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use auth::client::OAuthClient;
use auth::secrets::SecretStore;
use builtin::finder;
use config::Servers;
use egress::http::Client;
use egress::process::Runner;
use environment::Environment;
use operations::servers::{
    HiddenCharacters, LeaseView, ProcessView, ReplicaLeaseView, ReplicaView, ServerState,
    ServerSummary, ToolNote,
};
use proto::{Clock, Code, Failure, Principal};
use store::Database;
use strip::Strip;
use strip::catalog::Snapshot;
use strip::servers::Outages;
use tokio::time::Instant;
use upstream::{
    Deps, LeaseStatus, ListStore, Registry, ReplicaLease, ReplicaStatus, Status, Timing, ToolList,
    Upstream, Upstreams,
};

/// How long a short-lived command waits for servers to start.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long contested names are kept for servers that come earlier in the config and have not listed their tools yet.
const NAME_WAIT: Duration = Duration::from_secs(30);

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// What the servers are started with.
pub(super) struct ServerDeps<'a> {
    pub(super) strip: &'a Arc<Strip>,
    pub(super) runner: &'a Arc<Runner>,
    pub(super) client: Client,
    pub(super) keyring: &'a Arc<OAuthClient>,
    pub(super) secrets: &'a Arc<SecretStore>,
    pub(super) database: &'a Database,
    pub(super) clock: Clock,
    pub(super) environment: &'a Environment,
}

/// Starts connecting the servers and returns at once.
pub(super) fn start(servers: Servers, deps: ServerDeps<'_>) -> Arc<Upstreams> {
    let (catalog, own) = (Arc::clone(deps.strip.catalog()), Arc::clone(deps.strip.catalog()));
    order_names(deps.strip, &servers);
    let upstream_deps = Deps {
        runner: Arc::clone(deps.runner),
        http: deps.client,
        publish: Arc::new(move |name, tools| catalog.publish(&source(name), tools)),
        publish_own: Arc::new(move |name, instance, tools| {
            own.publish_own((name, &source(name)), instance, tools)
        }),
        keyring: Some(Arc::clone(deps.keyring)),
        secrets: Some(Arc::clone(deps.secrets)),
        servers: Arc::clone(deps.strip.servers()),
        lists: Arc::new(StoredLists(deps.database.clone())),
        began_unix_ms: deps.clock.unix_ms(),
        clock: deps.clock,
        environment: deps.environment.texts(),
        timing: Timing::default(),
    };
    let upstreams = Arc::new(Upstreams::start(servers, upstream_deps));
    let outages: Arc<dyn Outages> = Arc::clone(&upstreams) as _;
    deps.strip.set_outages(Arc::downgrade(&outages));
    upstreams
}

/// Applies a new config; servers whose entry has not changed keep running.
pub(super) async fn apply(upstreams: &Upstreams, servers: Servers, strip: &Arc<Strip>) {
    order_names(strip, &servers);
    upstreams.apply(servers).await;
}

/// Lets servers get contested names in the order of the config, not in the order in which they happen to start.
fn order_names(strip: &Arc<Strip>, servers: &Servers) {
    strip.servers().set_order(servers.iter().map(|(name, _)| name.clone()).collect());
    let catalog = strip.catalog();
    let used =
        || servers.iter().filter(|(_, config)| !config.disabled && config.invalid.is_empty());
    let awaited: Vec<_> = used().map(|(name, _)| source(name)).collect();
    catalog.set_servers(servers.iter().map(|(name, _)| name.as_str()), &awaited);
    if awaited.is_empty() {
        return;
    }
    // The gateway's own tools have their names before any server, whenever they are published.
    let own = [finder::SOURCE, workflow::SOURCE].map(str::to_owned).into_iter();
    let unprefixed = used().filter(|(_, config)| !config.prefix);
    catalog.set_name_order(own.chain(unprefixed.map(|(name, _)| source(name))).collect());
    let catalog = Arc::downgrade(strip.catalog());
    tokio::spawn(async move {
        tokio::time::sleep(NAME_WAIT).await;
        if let Some(catalog) = catalog.upgrade() {
            catalog.settle_names();
        }
    });
}

/// Waits, up to a timeout, until every server is ready or known to be down.
pub(super) async fn settle(upstreams: &Upstreams) {
    let deadline = Instant::now() + SETTLE_TIMEOUT;
    let starting = || {
        upstreams.statuses().iter().any(|status| match status.state {
            ServerState::Starting => true,
            ServerState::Degraded => status.list_age.is_none(),
            _ => false,
        })
    };
    while starting() && Instant::now() < deadline {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// The link where a caller logs in to a server; `None` if no login is needed.
pub(super) async fn login(
    upstreams: &Upstreams,
    server: &str,
    principal: &Arc<Principal>,
) -> Result<Option<String>, Failure> {
    let unknown = || {
        Failure::new(
            Code::NotFound,
            format!("there is no server `{server}`; `powerstrip servers` lists them"),
        )
    };
    let upstream = upstreams.get(server).ok_or_else(unknown)?;
    Ok(upstream.login(principal).await?.map(|link| link.to_string()))
}

/// The state of a server, in one word.
pub(super) fn state(upstreams: &Upstreams, name: &str) -> Option<String> {
    Some(upstreams.get(name)?.status().state.as_str().to_owned())
}

/// The state of every server.
pub(super) fn summaries(
    upstreams: &Upstreams,
    registry: &Registry,
    strip: &Strip,
) -> Vec<ServerSummary> {
    let (snapshot, leases) = (strip.catalog().snapshot(), registry.leases());
    let statuses = upstreams.statuses().into_iter();
    let summarize = |status: Status| {
        let lease = leases.get(&status.name);
        summarize(status, lease, &snapshot)
    };
    statuses.map(summarize).collect()
}

/// The state of one server.
pub(super) fn summary(
    upstream: &Upstream,
    registry: &Registry,
    strip: &Strip,
) -> (ServerSummary, Vec<ProcessView>) {
    let mut status = upstream.status();
    let processes = std::mem::take(&mut status.processes);
    let leases = registry.leases();
    let lease = leases.get(&status.name);
    (summarize(status, lease, &strip.catalog().snapshot()), processes)
}

/// The catalog's source name of a server. The prefix keeps it apart from other sources.
pub(super) fn source(server: &str) -> String {
    format!("server {server}")
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The leases of a server that registered itself.
fn view_lease(lease: &LeaseStatus) -> LeaseView {
    let view = |replica: &ReplicaLease| ReplicaLeaseView {
        url: replica.url.clone(),
        expires_in_ms: ms(replica.expires_in),
    };
    LeaseView {
        version: lease.version.clone(),
        age_ms: ms(lease.age),
        replicas: lease.replicas.iter().map(view).collect(),
    }
}

fn view_replica(replica: ReplicaStatus) -> ReplicaView {
    ReplicaView {
        url: replica.url,
        era: replica.era.map(|era| era.to_string()),
        outstanding: replica.outstanding,
        admitted: replica.admitted,
        last_error: replica.last_error,
    }
}

fn summarize(status: Status, lease: Option<&LeaseStatus>, snapshot: &Snapshot) -> ServerSummary {
    let source = source(&status.name);
    let hidden = snapshot
        .entries()
        .iter()
        .filter(|entry| entry.hidden_characters > 0 && entry.source == source)
        .map(|entry| HiddenCharacters {
            tool: entry.descriptor.id.to_string(),
            characters: entry.hidden_characters,
        });
    let unportable = snapshot
        .entries()
        .iter()
        .filter(|entry| entry.source == source)
        .filter_map(|entry| Some((&entry.descriptor.id, entry.unportable()?)))
        .map(|(id, reason)| ToolNote { tool: id.to_string(), reason: reason.to_owned() });
    let quarantined = snapshot
        .quarantined()
        .iter()
        .filter(|tool| tool.source == source)
        .map(|tool| ToolNote { tool: tool.id.to_string(), reason: tool.reason() });
    let listed = status.faults.into_iter();
    let listed = listed.map(|fault| ToolNote { tool: fault.tool, reason: fault.reason });
    let ours = snapshot.faults().iter().filter(|fault| fault.source == source);
    let ours = ours
        .map(|fault| ToolNote { tool: fault.tool.to_string(), reason: fault.reason.to_string() });
    ServerSummary {
        kind: if status.announced { "registered" } else { status.transport }.to_owned(),
        transport: status.transport.to_owned(),
        state: status.state,
        disabled: status.state == ServerState::Disabled,
        reason: status.reason,
        era: status.era.map(|era| era.to_string()),
        server: status.server,
        tools: status.tools,
        list_age_ms: status.list_age.map(ms),
        faults: listed.chain(ours).collect(),
        hidden_characters: hidden.collect(),
        unportable: unportable.collect(),
        quarantined: quarantined.collect(),
        last_error: status.last_error,
        last_error_unix_ms: status.last_error_unix_ms,
        retry_in_ms: status.retry_in.map(ms),
        stderr_tail: status.stderr_tail,
        replicas: status.replicas.into_iter().map(view_replica).collect(),
        sessions: status.sessions,
        restarts: status.restarts,
        odd_messages: status.odd_messages,
        lease: lease.map(view_lease),
        name: status.name,
    }
}

/// Stores tool lists in the database. A list that cannot be stored or read is fetched from the server again.
struct StoredLists(Database);

#[async_trait]
impl ListStore for StoredLists {
    async fn load(&self, server: &str) -> Option<ToolList> {
        let stored = self.0.server_list(server).await.unwrap_or_else(|error| {
            tracing::warn!(server, %error, "the stored tool list of a server cannot be read");
            None
        })?;
        serde_json::from_str(&stored)
            .inspect_err(|error| tracing::warn!(server, %error, "the stored tool list of a server has an unknown format"))
            .ok()
    }

    async fn save(&self, server: &str, list: &ToolList) {
        let saved = match serde_json::to_string(list) {
            Ok(text) => {
                self.0.save_server_list(server, &text).await.map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = saved {
            tracing::warn!(server, error, "the tool list of a server could not be stored");
        }
    }
}
