//! A tools folder for each test, and helpers to call its packs.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use egress::http::{AddressPolicy, Client, OwnListeners};
use egress::process::Runner;
use egress::sandbox::{Mode, Tier};
use proto::{Code, Failure, Limits, Principal, TenantId, Via};
use serde_json::Value;
use strip::{Door, Job, Output, Request, Tool};
use tempfile::TempDir;
use toolpack::{Loaded, PackTool, Runtime, Toolpacks};

/// The longest that a test waits, even on a busy machine.
pub(crate) const BOUND: Duration = Duration::from_secs(30);

pub(crate) struct Setup {
    dir: TempDir,
    pub(crate) packs: Arc<Toolpacks>,
}

/// The options of a setup.
pub(crate) struct Options {
    pub(crate) env: Vec<(&'static str, String)>,
    pub(crate) sandbox: Mode,
    pub(crate) allow: Vec<&'static str>,
    /// The highest sandbox tier that the host offers.
    pub(crate) tier: Tier,
}

impl Default for Options {
    fn default() -> Self {
        Self { env: Vec::new(), sandbox: Mode::Auto, allow: Vec::new(), tier: Tier::T2 }
    }
}

pub(crate) async fn runtime(options: Options) -> Arc<Runtime> {
    let runner = Runner::with_launcher(env!("CARGO_BIN_EXE_toolpack-launcher")).await.unwrap();
    let rules = options.allow.iter().map(|rule| rule.parse().unwrap()).collect();
    let environment: BTreeMap<String, String> =
        options.env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Arc::new(Runtime {
        runner: Arc::new(runner.at_most(options.tier)),
        http: Client::new(AddressPolicy::new(rules, OwnListeners::default())).unwrap(),
        environment,
        sandbox: options.sandbox,
        max: Limits { timeout: BOUND, ..Limits::default() },
    })
}

impl Setup {
    pub(crate) async fn new() -> Self {
        Self::with(Options::default()).await
    }

    pub(crate) async fn with(options: Options) -> Self {
        let dir = TempDir::new().unwrap();
        fs::create_dir_all(dir.path().join("tools")).unwrap();
        let packs = Toolpacks::new(vec![dir.path().join("tools")], runtime(options).await);
        Self { packs: Arc::new(packs), dir }
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn tools(&self) -> PathBuf {
        self.dir.path().join("tools")
    }

    /// Writes a file below the root and creates its folders.
    pub(crate) fn write(&self, path: &str, text: &str) -> &Self {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Changes a file in one step, so that no scan finds it empty.
    pub(crate) fn overwrite(&self, path: &str, text: &str) {
        let file = fs::OpenOptions::new().write(true).open(self.dir.path().join(path));
        let mut file = file.unwrap();
        assert_eq!(file.metadata().unwrap().len(), text.len() as u64, "nothing is cut off");
        file.write_all(text.as_bytes()).unwrap();
    }

    /// Writes a pack `demo.NAME` that accepts and returns anything.
    pub(crate) fn pack(&self, name: &str, rest: &str) -> &Self {
        self.write(&format!("tools/{name}.tool.yaml"), &pack_text(name, rest))
    }

    pub(crate) fn load(&self) -> Loaded {
        self.packs.load()
    }

    /// The tool `demo.NAME`; the pack must be without fault.
    pub(crate) fn tool(&self, name: &str) -> Arc<PackTool> {
        let loaded = self.load();
        let tool = find(&loaded, name);
        tool.unwrap_or_else(|| panic!("no demo.{name}: {:?}", loaded.findings))
    }

    pub(crate) async fn run(&self, name: &str, input: Value) -> Result<Output, Failure> {
        run(&self.tool(name), input).await
    }

    pub(crate) async fn data(&self, name: &str, input: Value) -> Value {
        (*self.run(name, input).await.unwrap().data).clone()
    }

    pub(crate) async fn failure(&self, name: &str, input: Value) -> Failure {
        self.run(name, input).await.unwrap_err()
    }
}

pub(crate) fn pack_text(name: &str, rest: &str) -> String {
    format!("id: demo.{name}\nversion: 1.0.0\ninputSchema: {{}}\noutputSchema: {{}}\n{rest}\n")
}

pub(crate) fn find(loaded: &Loaded, name: &str) -> Option<Arc<PackTool>> {
    let id = format!("demo.{name}");
    loaded.tools.iter().find(|tool| tool.descriptor().id.as_str() == id).cloned()
}

pub(crate) fn call(input: Value) -> Job {
    Job::new(request(input))
}

pub(crate) fn request(input: Value) -> Request {
    let principal = Principal {
        tenant: TenantId::new("t"),
        subject: "s".to_owned(),
        agent: None,
        scopes: Vec::new(),
        via: Via::Local,
    };
    Request::new("demo", input, Arc::new(principal), Door::Cli)
}

pub(crate) async fn run(tool: &PackTool, input: Value) -> Result<Output, Failure> {
    tool.run(&call(input)).await
}

/// Waits until a condition holds; panics with its name after a timeout.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < BOUND, "{what} did not come true");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether a program is missing here; prints it, because a skipped test should be visible.
pub(crate) async fn is_missing(program: &str) -> bool {
    let runtime = runtime(Options::default()).await;
    let missing = runtime.runner.locate(program).await.is_err();
    if missing {
        testkit::skip_without(format_args!("`{program}`"));
    }
    missing
}

pub(crate) fn assert_code(failure: &Failure, code: Code, words: &str) {
    assert_eq!(failure.code, code, "{failure}");
    assert!(failure.message.contains(words), "{failure}");
}
