//! A tools folder of its own for each test, and what is needed to call what lies in it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use egress::http::{AddressPolicy, Client, OwnListeners};
use egress::process::Runner;
use egress::sandbox::{Mode, Tier};
use proto::{Code, Limits, Principal, TenantId};
use serde_json::Value;
use strip::{Door, Failure, Job, Output, Request, Tool};
use tempfile::TempDir;
use toolpack::{Loaded, PackTool, Runtime, Toolpacks};

/// Longer than any test should ever wait; a machine under load gets there all the same.
pub(crate) const BOUND: Duration = Duration::from_secs(30);

pub(crate) struct Workshop {
    dir: TempDir,
    pub(crate) packs: Arc<Toolpacks>,
}

/// What differs between workshops.
pub(crate) struct Setting {
    pub(crate) env: Vec<(&'static str, String)>,
    pub(crate) sandbox: Mode,
    pub(crate) allow: Vec<&'static str>,
    /// The most that the host offers.
    pub(crate) tier: Tier,
}

impl Default for Setting {
    fn default() -> Self {
        Self { env: Vec::new(), sandbox: Mode::Auto, allow: Vec::new(), tier: Tier::T2 }
    }
}

pub(crate) async fn runtime(setting: Setting) -> Arc<Runtime> {
    let runner = Runner::with_launcher(env!("CARGO_BIN_EXE_toolpack-launcher")).await.unwrap();
    let rules = setting.allow.iter().map(|rule| rule.parse().unwrap()).collect();
    let environment: BTreeMap<String, String> =
        setting.env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Arc::new(Runtime {
        runner: Arc::new(runner.at_most(setting.tier)),
        http: Client::new(AddressPolicy::new(rules, OwnListeners::default())).unwrap(),
        environment,
        sandbox: setting.sandbox,
        max: Limits { timeout: BOUND, ..Limits::default() },
    })
}

impl Workshop {
    pub(crate) async fn new() -> Self {
        Self::with(Setting::default()).await
    }

    pub(crate) async fn with(setting: Setting) -> Self {
        let dir = TempDir::new().unwrap();
        fs::create_dir_all(dir.path().join("tools")).unwrap();
        let packs = Toolpacks::new(vec![dir.path().join("tools")], runtime(setting).await);
        Self { packs: Arc::new(packs), dir }
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn tools(&self) -> PathBuf {
        self.dir.path().join("tools")
    }

    /// Writes a file below the root, folders included.
    pub(crate) fn write(&self, path: &str, text: &str) -> &Self {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Changes a file in one step, so that nobody finds it empty on the way.
    pub(crate) fn overwrite(&self, path: &str, text: &str) {
        let file = fs::OpenOptions::new().write(true).open(self.dir.path().join(path));
        let mut file = file.unwrap();
        assert_eq!(file.metadata().unwrap().len(), text.len() as u64, "nothing is cut off");
        file.write_all(text.as_bytes()).unwrap();
    }

    /// Writes a pack `demo.NAME` that takes and gives anything.
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
    let principal = Principal {
        tenant: TenantId::new("t"),
        subject: "s".to_owned(),
        agent: None,
        scopes: Vec::new(),
    };
    Job::new(Request::new("demo", input, Arc::new(principal), Door::Cli))
}

pub(crate) async fn run(tool: &PackTool, input: Value) -> Result<Output, Failure> {
    tool.run(&call(input)).await
}

/// Waits until something holds, and says what did not if it never does.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < BOUND, "{what} did not come true");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether a program is missing here; says so, because a skipped test should be seen.
pub(crate) async fn is_missing(program: &str) -> bool {
    let runtime = runtime(Setting::default()).await;
    let missing = runtime.runner.locate(program).await.is_err();
    if missing {
        eprintln!("skipped: `{program}` is not installed");
    }
    missing
}

pub(crate) fn assert_code(failure: &Failure, code: Code, words: &str) {
    assert_eq!(failure.code, code, "{failure}");
    assert!(failure.message.contains(words), "{failure}");
}
