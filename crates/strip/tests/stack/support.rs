use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use builtin::control;
use files::{FileParts, Files};
use futures_util::future::BoxFuture;
use proto::{
    Annotations, Caps, Clock, Code, Descriptor, Digest, Failure, Limits, Principal,
    RequestedLimits, TenantId, Via, digest,
};
use serde_json::{Value, json};
use store::{AuditFilter, AuditRow, Cache, CommitQueue, Database};
use strip::catalog::{LimitBounds, NameStyle, Pins, WireNames};
use strip::{
    Answer, Door, Job, Output, Part, Parts, Rate, RateRules, Request, Settings, Strip, Tool,
};
use tempfile::TempDir;

pub(crate) type Work = dyn Fn(Job) -> BoxFuture<'static, Result<Output, Failure>> + Send + Sync;

/// A tool with settable properties.
pub(crate) struct Fake {
    pub(crate) descriptor: Descriptor,
    pub(crate) work: Box<Work>,
    pub(crate) runs: Arc<AtomicUsize>,
    pub(crate) cache_key: Option<String>,
    pub(crate) revision: Arc<AtomicU64>,
    /// The code that it would run, if it runs any.
    pub(crate) code: Option<Arc<Mutex<&'static str>>>,
    pub(crate) part: Part,
    pub(crate) stores_excess: bool,
}

#[async_trait]
impl Tool for Fake {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn part(&self) -> Part {
        self.part
    }

    fn stores_excess(&self) -> bool {
        self.stores_excess
    }

    fn cache_key(&self, _input: &Value) -> Result<Option<String>, Failure> {
        Ok(self.cache_key.clone())
    }

    fn revision(&self) -> u64 {
        self.revision.load(Ordering::SeqCst)
    }

    fn native_failure(&self, failure: &Failure) -> Option<Value> {
        let native = json!({"structuredContent": {"error": {"message": failure.message}}});
        (self.part == Part::Workflow).then_some(native)
    }

    async fn code_digest(&self, _job: &Job) -> Result<Option<Digest>, Failure> {
        Ok(self.code.as_ref().map(|code| digest(code.lock().unwrap().as_bytes())))
    }

    async fn run(&self, call: &Job) -> Result<Output, Failure> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        (self.work)(call.clone()).await
    }
}

/// Echoes its input, takes any object, and calls itself deterministic.
pub(crate) fn echo(id: &str) -> Fake {
    tool(id, |call| Box::pin(async move { Ok(Output::new(json!({"echo": *call.input}))) }))
}

pub(crate) fn tool(
    id: &str,
    work: impl Fn(Job) -> BoxFuture<'static, Result<Output, Failure>> + Send + Sync + 'static,
) -> Fake {
    Fake {
        descriptor: Descriptor {
            unprefixed: false,
            id: id.parse().unwrap(),
            version: "1.0.0".parse().unwrap(),
            title: None,
            description: "a tool for tests".to_owned(),
            input_schema: json!({"type": "object"}),
            output_schema: Some(json!({"type": "object"})),
            deterministic: true,
            limits: RequestedLimits::default(),
            caps: Caps::default(),
            annotations: Annotations::default(),
            implementation: None,
            meta: None,
            extra: serde_json::Map::new(),
            files: None,
        },
        work: Box::new(work),
        runs: Arc::default(),
        cache_key: None,
        revision: Arc::default(),
        code: None,
        part: Part::Data,
        stores_excess: false,
    }
}

impl Fake {
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Descriptor)) -> Self {
        change(&mut self.descriptor);
        self
    }
}

pub(crate) struct Setup {
    pub(crate) strip: Arc<Strip>,
    pub(crate) clock: Clock,
    pub(crate) commits: CommitQueue,
    pub(crate) database: Database,
    _folder: TempDir,
}

pub(crate) fn settings() -> Settings {
    let max = Limits {
        timeout: Duration::from_secs(120),
        max_input_bytes: 1 << 20,
        max_output_bytes: 1 << 20,
    };
    Settings {
        limits: LimitBounds { default: Limits::default(), server_input: 1 << 20, max },
        idempotency: Duration::from_secs(600),
        rate: RateRules::default(),
        name_style: NameStyle::Wire,
        schemas: strip::catalog::SchemaForm::AsIs,
        files: strip::files::Strategies::default(),
        inline: files::InlineLimits::default(),
    }
}

pub(crate) fn rate(count: u32, seconds: u64) -> Option<Rate> {
    Some(Rate { count: NonZeroU32::new(count).unwrap(), per: Duration::from_secs(seconds) })
}

pub(crate) async fn setup(tools: Vec<Fake>) -> Setup {
    setup_with(settings(), tools).await
}

pub(crate) async fn setup_with(settings: Settings, tools: Vec<Fake>) -> Setup {
    setup_with_cache(settings, 64 << 20, tools).await
}

/// A setup with a cache of this many bytes.
pub(crate) async fn setup_with_cache(
    settings: Settings,
    cache_bytes: u64,
    tools: Vec<Fake>,
) -> Setup {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    let commits = CommitQueue::start(database.clone());
    let clock = Clock::manual(1_800_000_000_000);
    let files = FileParts::in_folder(folder.path(), database.clone(), clock.clone()).unwrap();
    let parts = Parts {
        commits: commits.clone(),
        database: database.clone(),
        cache: Cache::memory(cache_bytes, clock.clone()),
        clock: clock.clone(),
        names: WireNames::default(),
        pins: Pins::default(),
        files: Files::new(files),
    };
    let strip = Strip::new(settings, parts);
    strip.catalog().publish("tests", shared(tools));
    Setup { strip, clock, commits, database, _folder: folder }
}

pub(crate) fn shared(tools: Vec<Fake>) -> Vec<Arc<dyn Tool>> {
    tools.into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect()
}

pub(crate) fn principal(tenant: &str, subject: &str) -> Arc<Principal> {
    Arc::new(Principal {
        tenant: TenantId::new(tenant),
        subject: subject.to_owned(),
        agent: None,
        scopes: vec!["files:read".to_owned(), "files:write".to_owned()],
        via: Via::Local,
    })
}

pub(crate) fn ask(tool: &str, input: Value) -> Request {
    Request::new(tool, input, principal("acme", "ann"), Door::Http)
}

impl Setup {
    /// Adds the control-flow tools.
    pub(crate) fn with_control(self) -> Self {
        self.strip.catalog().publish(control::SOURCE, control::tools(&self.strip));
        self
    }

    /// The same gateway, restarted on the same data: what was only in memory is gone.
    pub(crate) async fn restarted(self, tools: Vec<Fake>) -> Self {
        self.strip.runs().flush().await.unwrap();
        let folder = self._folder.path();
        let files =
            FileParts::in_folder(folder, self.database.clone(), self.clock.clone()).unwrap();
        let parts = Parts {
            commits: self.commits.clone(),
            database: self.database.clone(),
            cache: Cache::memory(64 << 20, self.clock.clone()),
            clock: self.clock.clone(),
            names: WireNames::default(),
            pins: Pins::default(),
            files: Files::new(files),
        };
        let strip = Strip::new(settings(), parts);
        strip.catalog().publish("tests", shared(tools));
        strip.catalog().publish(control::SOURCE, control::tools(&strip));
        Self { strip, ..self }
    }

    pub(crate) async fn call(&self, tool: &str, input: Value) -> Answer {
        self.strip.call(ask(tool, input)).await
    }

    /// The rows of the trail, newest first, after everything queued has been written.
    pub(crate) async fn rows(&self) -> Vec<AuditRow> {
        self.commits.close().await.unwrap();
        self.database.audit_rows(AuditFilter::default()).await.unwrap()
    }
}

pub(crate) fn code(answer: &Answer) -> Option<Code> {
    answer.result.as_ref().err().map(|failure| failure.code)
}
