use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dag::{Dag, Task};
use files::{FileParts, Files};
use proto::{Clock, Code, Failure, Limits, Principal, RequestedLimits, TenantId, Via};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::{Cache, CommitQueue, Database};
use strip::catalog::{LimitBounds, NameStyle, Pins, SchemaForm, WireNames};
use strip::typed::{About, TypedOutput, TypedTool, typed};
use strip::{Job, Parts, RateRules, Strip};
use tempfile::TempDir;
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::{Progress, StartOptions, Until};
use crate::{Settings, Workflows};

const LONG: Duration = Duration::from_secs(60);

/// Repeats a text, once it may.
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

struct Setup {
    folder: TempDir,
    database: Database,
    commits: CommitQueue,
    gate: Arc<Semaphore>,
}

impl Setup {
    async fn new(permits: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let database = Database::open(folder.path()).await.expect("a database");
        let commits = CommitQueue::start(database.clone());
        Self { folder, database, commits, gate: Arc::new(Semaphore::new(permits)) }
    }

    /// The workflows of a process that starts on this data.
    fn workflows(&self) -> Workflows {
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

fn caller(subject: &str) -> Arc<Principal> {
    Arc::new(Principal {
        tenant: TenantId::new("acme"),
        subject: subject.to_owned(),
        agent: None,
        scopes: Vec::new(),
        via: Via::Local,
    })
}

fn repeat(id: &str, text: &str, times: usize) -> Task {
    let arguments = json!({"text": text, "times": times});
    let arguments = arguments.as_object().cloned().unwrap_or_else(Map::new);
    let tool = Some("t.repeat".to_owned());
    Task { id: id.to_owned(), tool, arguments, ..Task::default() }
}

fn dag(tasks: Vec<Task>) -> Dag {
    Dag { name: Some("repeat".to_owned()), tasks }
}

#[tokio::test]
async fn a_dag_goes_on_without_its_caller_and_its_outputs_are_read_whole_after_a_restart() {
    let setup = Setup::new(0).await;
    let (ann, bob) = (caller("ann"), caller("bob"));
    let workflows = setup.workflows();
    let many = Task { for_each: Some(json!(["a", "b"])), ..repeat("many", "{{ item }}", 2) };
    // Together they are longer than one answer, though no text is long enough to be stored by itself.
    let names = ["one", "two", "three", "four"];
    let text_of = |name: &str| name.repeat(40);
    let mut tasks: Vec<_> = names.iter().map(|name| repeat(name, &text_of(name), 2_500)).collect();
    tasks.push(many);
    let id = Uuid::new_v4();
    let options = StartOptions { id: Some(id), ..StartOptions::default() };
    let started = workflows.start_dag(&ann, dag(tasks), options).await.expect("it starts");
    assert_eq!(started, id);
    let soon = Duration::from_millis(10);
    let running = workflows.wait_for(&ann, id, Until::End, soon).await.expect("it runs");
    assert!(matches!(&running, Progress::Running(answer) if answer["status"] == "running"));
    assert_eq!(workflows.task_output(&ann, id, "one").await.expect("no output"), Value::Null);

    setup.gate.add_permits(6);
    let ended = workflows.wait_for(&ann, id, Until::End, LONG).await.expect("it ends");
    let Progress::Ended(answer) = ended else { panic!("{ended:?}") };
    assert_eq!(answer["status"], "complete");
    let stored = answer["results"].as_array().into_iter().flatten();
    assert!(stored.filter(|result| result["output"]["ref_id"].is_string()).count() > 0);

    let again = setup.workflows();
    for workflows in [&workflows, &again] {
        let ended = workflows.wait_for(&ann, id, Until::Pause, LONG).await.expect("its end");
        assert!(matches!(ended, Progress::Ended(_)));
        for name in names {
            let output = workflows.task_output(&ann, id, name).await.expect("its output");
            assert_eq!(output, json!({"texts": vec![text_of(name); 2_500]}), "{name}");
        }
        let many = workflows.task_output(&ann, id, "many").await.expect("its outputs");
        assert_eq!(many, json!([{"texts": ["a", "a"]}, {"texts": ["b", "b"]}]));
        let none = workflows.task_output(&ann, id, "none").await.expect("no such task");
        assert_eq!(none, Value::Null);
        let other = workflows.wait_for(&bob, id, Until::End, LONG).await;
        assert_eq!(other.expect_err("another caller's").code, Code::NotFound);
        let other = workflows.task_output(&bob, id, "one").await;
        assert_eq!(other.expect_err("another caller's").code, Code::NotFound);
        assert!(workflows.run_of_unfinished(&ann, id).await.expect("it ended").is_none());
    }
}

#[tokio::test]
async fn a_start_with_the_same_key_finds_the_first_workflow() {
    let setup = Setup::new(10).await;
    let (ann, workflows) = (caller("ann"), setup.workflows());
    let start = async |text: &str, topic: &str| {
        let options = StartOptions {
            id: Some(Uuid::new_v4()),
            idempotency_key: Some("research:1".to_owned()),
            request: Some(json!({"topic": topic})),
        };
        workflows.start_dag(&ann, dag(vec![repeat("one", text, 1)]), options).await
    };
    let first = start("a", "heat").await.expect("it starts");
    let ended = workflows.wait_for(&ann, first, Until::End, LONG).await.expect("it ends");
    assert!(matches!(ended, Progress::Ended(_)));
    assert_eq!(start("b", "heat").await.expect("the same request"), first);
    let other = start("a", "rain").await.expect_err("another request");
    assert_eq!(other.code, Code::InvalidInput, "{other}");

    let unknown = Task { tool: Some("t.none".to_owned()), ..repeat("one", "a", 1) };
    let refused = workflows.start_dag(&ann, dag(vec![unknown]), StartOptions::default()).await;
    assert_eq!(refused.expect_err("no such tool").code, Code::InvalidInput);
}
