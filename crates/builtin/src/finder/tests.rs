use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use auth::LocalAccess;
use files::{FileParts, Files};
use proto::{Annotations, Caps, Clock, Descriptor, Failure, Limits, Principal, RequestedLimits};
use serde_json::{Value, json};
use store::{Cache, CommitQueue, Database};
use strip::agents::{Agent, Listing, Profiles, SEARCH_TOOLS, Skill};
use strip::catalog::{LimitBounds, NameStyle, Pins, WireNames};
use strip::{Door, Job, Output, Parts, RateRules, Request, Settings, Strip, Tool};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio_util::sync::CancellationToken;

use super::{Finder, IndexBuilder, SOURCE};

struct Named(Descriptor);

#[async_trait]
impl Tool for Named {
    fn descriptor(&self) -> &Descriptor {
        &self.0
    }

    async fn run(&self, _: &Job) -> Result<Output, Failure> {
        Ok(Output::new(json!({})))
    }
}

fn named(id: &str, description: &str) -> Arc<dyn Tool> {
    Arc::new(Named(Descriptor {
        unprefixed: false,
        id: id.parse().unwrap(),
        version: "1.0.0".parse().unwrap(),
        title: None,
        description: description.to_owned(),
        input_schema: json!({"type": "object"}),
        output_schema: None,
        deterministic: false,
        limits: RequestedLimits::default(),
        caps: Caps::default(),
        annotations: Annotations::default(),
        implementation: None,
        meta: None,
        extra: serde_json::Map::new(),
        files: None,
    }))
}

struct Setup {
    strip: Arc<Strip>,
    index_builder: IndexBuilder,
    ending: CancellationToken,
    folder: tempfile::TempDir,
}

async fn setup(tools: Vec<Arc<dyn Tool>>, long_running: bool) -> Setup {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    let clock = Clock::default();
    let settings = Settings {
        limits: LimitBounds {
            default: Limits::default(),
            server_input: 1 << 20,
            max: Limits::default(),
        },
        idempotency: Duration::from_secs(60),
        rate: RateRules::default(),
        name_style: NameStyle::Wire,
        schemas: strip::catalog::SchemaForm::AsIs,
        files: strip::files::Strategies::default(),
        inline: files::InlineLimits::default(),
    };
    let files = FileParts::in_folder(folder.path(), database.clone(), clock.clone()).unwrap();
    let parts = Parts {
        commits: CommitQueue::start(database.clone()),
        database,
        cache: Cache::memory(1 << 20, clock.clone()),
        clock,
        names: WireNames::default(),
        pins: Pins::default(),
        files: Files::new(files),
    };
    let strip = Strip::new(settings, parts);
    strip.catalog().publish("tests", tools);
    let finder = Finder::new(&strip, Arc::new(|_| None));
    strip.catalog().publish(SOURCE, finder.tools());
    strip.set_agents(searching("crm"));
    let ending = CancellationToken::new();
    let index_builder = IndexBuilder::start(&finder, &strip, None, long_running, ending.clone());
    Setup { strip, index_builder, ending, folder }
}

/// One agent that searches all tools of a server.
fn searching(server: &str) -> Profiles {
    let skill = Skill {
        servers: BTreeSet::from([server.to_owned()]),
        tools: Vec::new(),
        auto_approve: true,
        approval_timeout: Duration::from_secs(300),
        approve: BTreeMap::new(),
    };
    let agent = Agent { skills: vec!["s".to_owned()], listing: Listing::Search, schemas: None };
    Profiles {
        skills: BTreeMap::from([("s".to_owned(), skill)]),
        agents: BTreeMap::from([("finder".to_owned(), agent)]),
    }
}

fn finder() -> Arc<Principal> {
    auth::as_agent(&LocalAccess::default().user(), "finder").unwrap()
}

impl Setup {
    async fn search(&self, caller: Arc<Principal>, query: &str) -> Vec<String> {
        let call = Request::new(SEARCH_TOOLS, json!({"query": query}), caller, Door::Cli);
        let answer = self.strip.call(call).await.result.unwrap();
        let tools = answer["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["id"].as_str().unwrap().to_owned()).collect()
    }

    async fn end(self) {
        self.ending.cancel();
        self.index_builder.end().await;
        assert_eq!(Arc::strong_count(&self.strip), 1, "no task keeps the strip alive");
    }
}

#[tokio::test]
async fn ten_thousand_tools_cost_a_few_hundred_tokens() {
    let tools = (0..10_000).map(|number| {
        named(
            &format!("crm:tool_{number}"),
            "Changes the record of a customer, and notifies its owner about it.",
        )
    });
    let setup = setup(tools.collect(), false).await;
    let (client, server) = tokio::io::duplex(64 << 10);
    let (read, write) = tokio::io::split(server);
    let serving = doors::serve_session(Arc::clone(&setup.strip), finder(), read, write);
    let serving = tokio::spawn(serving);
    let (read, mut write) = tokio::io::split(client);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let request =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    write.write_all(format!("{request}\n").as_bytes()).await.unwrap();
    let mut line = String::new();
    BufReader::new(read).read_line(&mut line).await.unwrap();
    let answer: Value = serde_json::from_str(&line).unwrap();
    let shown = &answer["result"]["tools"];
    assert_eq!(shown.as_array().unwrap().len(), 3);
    // What a model sees of a tool: its name, description and input schema.
    let bytes: usize = shown
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| {
            json!([tool["name"], tool["description"], tool["inputSchema"]]).to_string().len()
        })
        .sum();
    assert!(bytes < 2_400, "{bytes} bytes are more than about 600 tokens");
    assert!(line.len() < 6_000, "{} bytes in all", line.len());
    drop(write);
    serving.await.unwrap().unwrap();
    setup.end().await;
}

#[tokio::test]
async fn best_matches_come_first_and_recent_use_breaks_ties() {
    let tools = vec![
        named("crm:find_a", "Finds a customer."),
        named("crm:find_b", "Finds a customer."),
        named("docs:find", "Finds a customer in documents."),
        named("crm:delete", "Deletes an invoice."),
    ];
    let setup = setup(tools, true).await;
    let user = LocalAccess::default().user();
    assert_eq!(setup.search(Arc::clone(&user), "delete an invoice").await[0], "crm:delete");
    assert_eq!(setup.search(finder(), "find a customer").await[..2], ["crm:find_a", "crm:find_b"]);
    let call = Request::new("crm:find_b", json!({}), finder(), Door::Cli);
    setup.strip.call(call).await.result.unwrap();
    let found = setup.search(finder(), "find a customer").await;
    assert_eq!(found[0], "crm:find_b", "{found:?}");
    assert!(!found.contains(&"docs:find".to_owned()), "{found:?}");
    let others = setup.search(user, "find a customer").await;
    assert!(others.contains(&"docs:find".to_owned()), "{others:?}");

    setup.strip.set_agents(searching("docs"));
    assert_eq!(setup.search(finder(), "find a customer").await, ["docs:find"], "at once");
    setup.end().await;
}

#[tokio::test]
async fn the_model_can_be_set_and_removed_at_run_time() {
    let tools = vec![
        named("crm:sketch", "Zibbles."),
        named("crm:count", "Counts."),
        named("crm:idle", "Nothing."),
    ];
    let setup = setup(tools, true).await;
    assert!(setup.search(finder(), "florp").await.is_empty(), "no word in common");
    let folder = setup.folder.path().join("model");
    write_model(&folder);
    setup.index_builder.set_model(Some(folder));
    assert_finds_eventually(&setup, "florp", &["crm:sketch"]).await;
    setup.index_builder.set_model(Some(setup.folder.path().join("nowhere")));
    assert_finds_eventually(&setup, "florp", &[]).await;
    assert_eq!(
        setup.search(finder(), "counts").await[0],
        "crm:count",
        "search by words still works"
    );
    setup.end().await;
}

async fn assert_finds_eventually(setup: &Setup, query: &str, expected: &[&str]) {
    for _ in 0..500 {
        if setup.search(finder(), query).await == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("`{query}` finds {:?}", setup.search(finder(), query).await);
}

/// A model in which `florp` and `zibbles` have the same meaning, and `counts` the opposite.
fn write_model(folder: &Path) {
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "unk_token": "[UNK]",
            "vocab": {"[UNK]": 0, "florp": 1, "zibbles": 2, "counts": 3}},
    });
    let rows: [[f32; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]];
    let data: Vec<u8> = rows.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    let header =
        json!({"embeddings": {"dtype": "F32", "shape": [4, 2], "data_offsets": [0, data.len()]}});
    let header = header.to_string().into_bytes();
    let length = u64::try_from(header.len()).unwrap().to_le_bytes();
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    std::fs::write(folder.join("model.safetensors"), [&length[..], &header, &data].concat())
        .unwrap();
}
