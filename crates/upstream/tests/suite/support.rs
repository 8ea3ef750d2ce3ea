//! A catalog with servers in it, and callers.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use egress::http::{AddressPolicy, Client};
use egress::process::Runner;
use operations::servers::ServerState;
use proto::{Clock, Failure, Limits, Principal, TenantId, Via};
use serde_json::Value;
use server_entry::ServerConfig;
use strip::catalog::{LimitBounds, WireNames};
use strip::servers::Servers;
use strip::{Catalog, Door, Job, Output, Request};
use tokio::sync::OnceCell;
use upstream::{Deps, ListStore, Status, Timing, ToolList, Upstreams};

/// The longest that a test waits for anything.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

/// The longest that ten thousand tools may take to be read, checked and offered by a debug build.
pub(crate) const MANY: Duration = Duration::from_secs(120);

/// Short waits for tests.
pub(crate) fn quick() -> Timing {
    Timing {
        probe: Duration::from_millis(500),
        start: Duration::from_secs(10),
        list: Duration::from_secs(20),
        relist: Duration::from_secs(60),
        idle: Duration::from_secs(60),
        backoff: Duration::from_millis(20),
        backoff_max: Duration::from_millis(200),
        start_backoff_max: Duration::from_millis(200),
        stable: Duration::from_secs(10),
        health: Duration::from_millis(50),
        health_timeout: Duration::from_secs(2),
    }
}

/// Stores lists in memory.
#[derive(Default)]
pub(crate) struct Lists(pub(crate) Mutex<HashMap<String, ToolList>>);

#[async_trait]
impl ListStore for Lists {
    async fn load(&self, server: &str) -> Option<ToolList> {
        self.0.lock().unwrap().get(server).cloned()
    }

    async fn save(&self, server: &str, list: &ToolList) {
        self.0.lock().unwrap().insert(server.to_owned(), list.clone());
    }
}

/// A catalog with servers.
pub(crate) struct Setup {
    pub(crate) catalog: Arc<Catalog>,
    /// What servers offer in addition to tools.
    pub(crate) servers: Arc<Servers>,
    pub(crate) upstreams: Upstreams,
    pub(crate) lists: Arc<Lists>,
    pub(crate) clock: Clock,
}

pub(crate) async fn runner() -> Arc<Runner> {
    static RUNNER: OnceCell<Arc<Runner>> = OnceCell::const_new();
    let launcher = env!("CARGO_BIN_EXE_upstream-launcher");
    let made =
        RUNNER.get_or_init(async || Arc::new(Runner::with_launcher(launcher).await.unwrap()));
    Arc::clone(made.await)
}

impl Setup {
    pub(crate) async fn with(servers: Vec<(&str, ServerConfig)>) -> Self {
        Self::timed(servers, quick(), Arc::default()).await
    }

    pub(crate) async fn timed(
        servers: Vec<(&str, ServerConfig)>,
        timing: Timing,
        lists: Arc<Lists>,
    ) -> Self {
        Self::guarded(servers, timing, lists, AddressPolicy::default()).await
    }

    /// With an `egress.allow`.
    pub(crate) async fn guarded(
        servers: Vec<(&str, ServerConfig)>,
        timing: Timing,
        lists: Arc<Lists>,
        policy: AddressPolicy,
    ) -> Self {
        let bounds = LimitBounds {
            default: Limits::default(),
            server_input: 1 << 20,
            max: Limits::default(),
        };
        let catalog = Arc::new(Catalog::new(bounds, WireNames::default()));
        let clock = Clock::manual(1_000_000);
        let offered = Arc::new(Servers::default());
        let deps = Deps {
            runner: runner().await,
            http: Client::new(policy).unwrap(),
            keyring: None,
            secrets: None,
            publish: {
                let catalog = Arc::clone(&catalog);
                Arc::new(move |source, tools| catalog.publish(source, tools))
            },
            publish_own: {
                let catalog = Arc::clone(&catalog);
                Arc::new(move |name, instance, tools| {
                    catalog.publish_own((name, name), instance, tools)
                })
            },
            servers: Arc::clone(&offered),
            lists: Arc::clone(&lists) as Arc<dyn ListStore>,
            clock: clock.clone(),
            began_unix_ms: clock.unix_ms(),
            environment: [("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())].into(),
            timing,
        };
        let upstreams = Upstreams::start(owned(servers), deps);
        Self { catalog, servers: offered, upstreams, lists, clock }
    }

    /// The ids in the catalog.
    pub(crate) fn tools(&self) -> Vec<String> {
        let snapshot = self.catalog.snapshot();
        snapshot.entries().iter().map(|entry| entry.descriptor.id.to_string()).collect()
    }

    /// Waits until a tool is in the catalog, and its server's list is known, which happens a moment later.
    pub(crate) async fn wait_for_tool(&self, tool: &str) {
        self.wait_for_tool_within(tool, TIMEOUT).await;
    }

    /// Waits for a tool up to a given time, for long lists.
    pub(crate) async fn wait_for_tool_within(&self, tool: &str, limit: Duration) {
        let server = tool.split(':').next().unwrap_or_default();
        let listed = || self.upstreams.get(server).is_none_or(|s| s.status().list_age.is_some());
        within(limit, &format!("{tool} is offered"), || {
            self.catalog.snapshot().resolve(tool).is_ok() && listed()
        })
        .await;
    }

    pub(crate) fn status(&self, server: &str) -> Status {
        self.upstreams.get(server).unwrap().status()
    }

    pub(crate) async fn wait_for_state(&self, server: &str, state: ServerState) {
        eventually(&format!("{server} is {state:?}"), || self.status(server).state == state).await;
    }

    pub(crate) async fn call(&self, tool: &str, input: Value) -> Result<Output, Failure> {
        self.run(call_by("local", tool, input)).await
    }

    pub(crate) async fn run(&self, call: Request) -> Result<Output, Failure> {
        let snapshot = self.catalog.snapshot();
        let entry = Arc::clone(snapshot.resolve(&call.tool).unwrap());
        tokio::time::timeout(TIMEOUT, entry.tool.run(&Job::new(call)))
            .await
            .expect("a call has an end")
    }

    /// Asks a server for something other than a tool.
    pub(crate) async fn request(
        &self,
        server: &str,
        method: &str,
        params: Value,
    ) -> Result<Value, Failure> {
        let call = call_by("local", "", params);
        let output = self.servers.get(server).unwrap().request(method, &Job::new(call)).await?;
        Ok(Value::clone(&output.data))
    }

    pub(crate) async fn text(&self, tool: &str, input: Value) -> String {
        text(&self.call(tool, input).await.unwrap())
    }
}

pub(crate) fn owned(servers: Vec<(&str, ServerConfig)>) -> Vec<(String, ServerConfig)> {
    servers.into_iter().map(|(name, config)| (name.to_owned(), config)).collect()
}

pub(crate) fn at(url: &str) -> ServerConfig {
    ServerConfig { url: Some(url.to_owned()), ..ServerConfig::default() }
}

pub(crate) fn call_by(subject: &str, tool: &str, input: Value) -> Request {
    let principal = Principal {
        tenant: TenantId::new("local"),
        subject: subject.to_owned(),
        agent: None,
        scopes: Vec::new(),
        via: Via::Local,
    };
    Request::new(tool, input, Arc::new(principal), Door::Cli)
}

/// The first text block of a result.
pub(crate) fn text(output: &Output) -> String {
    let native = output.native.as_ref().expect("the result as the server gave it");
    native["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// Waits until a condition holds.
pub(crate) async fn eventually(what: &str, condition: impl Fn() -> bool) {
    within(TIMEOUT, what, condition).await;
}

pub(crate) async fn within(limit: Duration, what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < limit, "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The fixture server, which Cargo puts next to the launcher.
pub(crate) fn fixture() -> PathBuf {
    let launcher = PathBuf::from(env!("CARGO_BIN_EXE_upstream-launcher"));
    let program = launcher.with_file_name("powerstrip-fixture");
    assert!(program.is_file(), "build it first: cargo build -p fixture");
    program
}
