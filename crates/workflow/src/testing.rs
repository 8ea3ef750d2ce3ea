//! A gateway's workflows on a temporary folder, with one tool.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dag::{Dag, Task};
use files::{FileParts, Files};
use proto::{Clock, Failure, Limits, Principal, RequestedLimits, TenantId, Via};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use store::{Cache, CommitQueue, Database};
use strip::catalog::{LimitBounds, NameStyle, Pins, SchemaForm, WireNames};
use strip::typed::{About, TypedOutput, TypedTool, typed};
use strip::{Job, Parts, RateRules, Strip};
use tempfile::TempDir;
use tokio::sync::Semaphore;

use crate::{Settings, Workflows};

pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Repeats a text after its gate has opened.
struct Repeat {
    gate: Arc<Semaphore>,
}

#[derive(Deserialize, JsonSchema)]
struct Input {
    text: String,
    times: usize,
}

#[derive(Serialize, JsonSchema)]
struct Repeated {
    texts: Vec<String>,
}

#[async_trait]
impl TypedTool for Repeat {
    type Input = Input;
    type Output = Repeated;

    fn about(&self) -> About {
        let limits =
            RequestedLimits { max_output_bytes: Some(1 << 20), ..RequestedLimits::default() };
        About { limits, ..About::reader("t.repeat", "Repeat", "Repeats a text.") }
    }

    async fn run(&self, input: Input, _job: &Job) -> Result<TypedOutput<Repeated>, Failure> {
        self.gate.acquire().await.expect("it is never closed").forget();
        Ok(Repeated { texts: vec![input.text; input.times] }.into())
    }
}

pub(crate) struct Setup {
    folder: TempDir,
    pub(crate) database: Database,
    pub(crate) commits: CommitQueue,
    pub(crate) gate: Arc<Semaphore>,
}

impl Setup {
    pub(crate) async fn new(permits: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let database = Database::open(folder.path()).await.expect("a database");
        let commits = CommitQueue::start(database.clone());
        Self { folder, database, commits, gate: Arc::new(Semaphore::new(permits)) }
    }

    /// The workflows of a process that starts on this data.
    pub(crate) fn workflows(&self) -> Workflows {
        let (database, clock) = (self.database.clone(), Clock::default());
        let files = FileParts::in_folder(self.folder.path(), database.clone(), clock.clone());
        let parts = Parts {
            commits: self.commits.clone(),
            database,
            cache: Cache::memory(1 << 20, clock.clone()),
            clock: clock.clone(),
            names: WireNames::default(),
            pins: Pins::default(),
            files: Files::new(files.expect("a folder of files")),
        };
        let max = Limits { timeout: LONG, max_input_bytes: 1 << 20, max_output_bytes: 1 << 20 };
        let settings = strip::Settings {
            limits: LimitBounds { default: Limits::default(), server_input: 1 << 20, max },
            idempotency: LONG,
            rate: RateRules::default(),
            name_style: NameStyle::Wire,
            schemas: SchemaForm::AsIs,
            files: strip::files::Strategies::default(),
            inline: files::InlineLimits::default(),
        };
        let strip = Strip::new(settings, parts);
        let tool = Repeat { gate: Arc::clone(&self.gate) };
        strip.catalog().publish("tests", vec![typed(tool)]);
        Workflows::new(&strip, clock, Settings::default())
    }
}

pub(crate) fn caller(subject: &str) -> Arc<Principal> {
    Arc::new(Principal {
        tenant: TenantId::new("acme"),
        subject: subject.to_owned(),
        agent: None,
        scopes: Vec::new(),
        via: Via::Local,
    })
}

pub(crate) fn repeat(id: &str, text: &str, times: usize) -> Task {
    let arguments = json!({"text": text, "times": times});
    let arguments = arguments.as_object().cloned().unwrap_or_else(Map::new);
    let tool = Some("t.repeat".to_owned());
    Task { id: id.to_owned(), tool, arguments, ..Task::default() }
}

pub(crate) fn dag(tasks: Vec<Task>) -> Dag {
    Dag { name: Some("repeat".to_owned()), tasks }
}
