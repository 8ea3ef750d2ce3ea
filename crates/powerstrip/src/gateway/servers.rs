//! Starts the MCP servers behind the strip and reports their state.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use auth::client::OAuthClient;
use config::{Environment, Servers};
use egress::http::Client;
use egress::process::Runner;
use proto::{Clock, Code, Principal};
use serde_json::{Value, json};
use store::Database;
use strip::catalog::Snapshot;
use strip::servers::Outages;
use strip::{Failure, Strip};
use tokio::time::Instant;
use upstream::{
    Deps, LeaseStatus, ListStore, Registry, State, Status, Timing, ToolList, Upstreams,
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
    pub(super) database: &'a Database,
    pub(super) clock: Clock,
    pub(super) environment: &'a Environment,
}

/// Starts connecting the servers and returns at once.
pub(super) fn start(servers: Servers, deps: ServerDeps<'_>) -> Arc<Upstreams> {
    let catalog = Arc::clone(deps.strip.catalog());
    order_names(deps.strip, &servers);
    let upstream_deps = Deps {
        runner: Arc::clone(deps.runner),
        http: deps.client,
        publish: Arc::new(move |name, tools| catalog.publish(&source(name), tools)),
        keyring: Some(Arc::clone(deps.keyring)),
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
    let unprefixed = servers.iter().filter(|(_, config)| !config.prefix && !config.disabled);
    let sources: Vec<_> = unprefixed.map(|(name, _)| source(name)).collect();
    if sources.is_empty() {
        return;
    }
    strip.catalog().set_name_order(sources);
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
            State::Starting => true,
            // The tools are listed shortly after the server is ready.
            State::Ready => status.list_age.is_none(),
            State::Disabled | State::Faulty | State::Asleep | State::Down => false,
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
    let state = upstreams.get(name)?.status().state;
    serde_json::to_value(state).ok()?.as_str().map(str::to_owned)
}

/// The state of every server, as JSON.
pub(super) fn report(upstreams: &Upstreams, registry: &Registry, strip: &Strip) -> Value {
    let (snapshot, leases) = (strip.catalog().snapshot(), registry.leases());
    let describe = |status: &Status| describe(status, leases.get(&status.name), &snapshot);
    upstreams.statuses().iter().map(describe).collect()
}

/// The catalog's source name of a server. The prefix keeps it apart from other sources.
fn source(server: &str) -> String {
    format!("server {server}")
}

fn ms(time: Option<Duration>) -> Option<u64> {
    time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// The leases of a server that registered itself, as JSON.
fn describe_lease(lease: &LeaseStatus) -> Value {
    let replicas = lease
        .replicas
        .iter()
        .map(|replica| json!({"url": replica.url, "expiresInMs": ms(Some(replica.expires_in))}));
    json!({
        "version": lease.version,
        "ageMs": ms(Some(lease.age)),
        "replicas": replicas.collect::<Vec<_>>(),
    })
}

fn describe(status: &Status, lease: Option<&LeaseStatus>, snapshot: &Snapshot) -> Value {
    let source = source(&status.name);
    let hiding = snapshot
        .entries()
        .iter()
        .filter(|entry| entry.hidden_characters > 0 && entry.source == source)
        .map(|entry| json!({"tool": entry.descriptor.id, "characters": entry.hidden_characters}));
    let quarantined = snapshot
        .quarantined()
        .iter()
        .filter(|tool| tool.source == source)
        .map(|tool| json!({"tool": tool.id, "reason": tool.reason()}));
    let mut faults = json!(status.faults);
    if let Value::Array(faults) = &mut faults {
        let ours = snapshot.faults().iter().filter(|fault| fault.source == source);
        faults.extend(ours.map(|fault| json!({"tool": fault.tool, "reason": fault.reason})));
    }
    let replicas = status.replicas.iter().map(|replica| {
        json!({
            "url": replica.url,
            "era": replica.era,
            "outstanding": replica.outstanding,
            "admitted": replica.admitted,
            "lastError": replica.last_error,
        })
    });
    json!({
        "name": status.name,
        "transport": status.transport,
        "state": status.state,
        "era": status.era,
        "server": status.server,
        "tools": status.tools,
        "listAgeMs": ms(status.list_age),
        "faults": faults,
        "hiddenCharacters": hiding.collect::<Vec<_>>(),
        "quarantined": quarantined.collect::<Vec<_>>(),
        "lastError": status.last_error,
        "retryInMs": ms(status.retry_in),
        "stderrTail": status.stderr_tail,
        "replicas": replicas.collect::<Vec<_>>(),
        "sessions": status.sessions,
        "restarts": status.restarts,
        "oddMessages": status.odd_messages,
        "lease": lease.map(describe_lease),
    })
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
