//! The MCP servers behind the strip: what they are connected with, and what is told of them.

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
use strip::{Failure, Strip};
use tokio::time::Instant;
use upstream::{
    Deps, LeaseStatus, ListStore, Registry, State, Status, Timing, ToolList, Upstreams,
};

/// How long a command that ends soon waits for servers that are being started.
const PATIENCE: Duration = Duration::from_secs(10);

const STEP: Duration = Duration::from_millis(20);

/// What servers are connected with.
pub(super) struct Wires<'a> {
    pub(super) strip: &'a Arc<Strip>,
    pub(super) runner: &'a Arc<Runner>,
    pub(super) client: Client,
    pub(super) keyring: &'a Arc<OAuthClient>,
    pub(super) database: &'a Database,
    pub(super) clock: Clock,
    pub(super) environment: &'a Environment,
}

/// Starts to connect the servers, and returns at once.
pub(super) fn start(servers: Servers, wires: Wires<'_>) -> Arc<Upstreams> {
    let catalog = Arc::clone(wires.strip.catalog());
    let deps = Deps {
        runner: Arc::clone(wires.runner),
        http: wires.client,
        publish: Arc::new(move |name, tools| catalog.publish(&source(name), tools)),
        keyring: Some(Arc::clone(wires.keyring)),
        servers: Arc::clone(wires.strip.servers()),
        lists: Arc::new(StoredLists(wires.database.clone())),
        clock: wires.clock,
        environment: wires.environment.texts(),
        timing: Timing::default(),
    };
    Arc::new(Upstreams::start(servers, deps))
}

/// Waits, within bounds, until every server is ready or known to be down.
pub(super) async fn settle(upstreams: &Upstreams) {
    let deadline = Instant::now() + PATIENCE;
    let starting = || {
        upstreams.statuses().iter().any(|status| match status.state {
            State::Starting => true,
            // Its tools are known a moment after it answers.
            State::Ready => status.list_age.is_none(),
            State::Disabled | State::Faulty | State::Asleep | State::Down => false,
        })
    };
    while starting() && Instant::now() < deadline {
        tokio::time::sleep(STEP).await;
    }
}

/// The link by which somebody logs in to a server; none if that is not needed.
pub(super) async fn login(
    upstreams: &Upstreams,
    server: &str,
    principal: &Arc<Principal>,
) -> Result<Option<String>, Failure> {
    let none = || Failure::new(Code::NotFound, format!("there is no server `{server}`"));
    let upstream = upstreams.get(server).ok_or_else(none)?;
    Ok(upstream.login(principal).await?.map(|link| link.to_string()))
}

/// How one server is, in a word.
pub(super) fn state(upstreams: &Upstreams, name: &str) -> Option<String> {
    let state = upstreams.get(name)?.status().state;
    serde_json::to_value(state).ok()?.as_str().map(str::to_owned)
}

/// How every server is, for people and programs.
pub(super) fn report(upstreams: &Upstreams, registry: &Registry, strip: &Strip) -> Value {
    let (snapshot, leases) = (strip.catalog().snapshot(), registry.leases());
    let told = |status: &Status| told(status, leases.get(&status.name), &snapshot);
    upstreams.statuses().iter().map(told).collect()
}

/// By which name a server publishes. It may bear any, also one by which another source of tools goes.
fn source(server: &str) -> String {
    format!("server {server}")
}

fn ms(time: Option<Duration>) -> Option<u64> {
    time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// What a server's leases are, if it registered itself.
fn leased(lease: &LeaseStatus) -> Value {
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

fn told(status: &Status, lease: Option<&LeaseStatus>, snapshot: &Snapshot) -> Value {
    let source = source(&status.name);
    let hiding = snapshot
        .entries()
        .iter()
        .filter(|entry| entry.hidden_characters > 0 && entry.source == source)
        .map(|entry| json!({"tool": entry.descriptor.id, "characters": entry.hidden_characters}));
    let quarantined = snapshot
        .quarantined()
        .iter()
        .filter(|held| held.source == source)
        .map(|held| json!({"tool": held.id, "reason": held.reason()}));
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
        "lease": lease.map(leased),
    })
}

/// The lists in the gateway's database. What cannot be kept or read only costs a listing.
struct StoredLists(Database);

#[async_trait]
impl ListStore for StoredLists {
    async fn load(&self, server: &str) -> Option<ToolList> {
        let stored = self.0.server_list(server).await.unwrap_or_else(|error| {
            tracing::warn!(server, %error, "the last list of a server cannot be read");
            None
        })?;
        serde_json::from_str(&stored)
            .inspect_err(|error| tracing::warn!(server, %error, "the last list of a server is of another form"))
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
            tracing::warn!(server, error, "the list of a server could not be stored");
        }
    }
}
