//! What the guard stack costs a call, without any door: `cargo run --release -p strip --example stack_rate`.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "prints what it measured")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use files::{FileParts, Files};
use proto::{
    Annotations, Caps, Clock, Descriptor, Failure, Limits, Principal, RequestedLimits, TenantId,
    Via,
};
use serde_json::json;
use store::{Cache, CommitQueue, Database};
use strip::catalog::{LimitBounds, NameStyle, Pins, WireNames};
use strip::{Door, Job, Output, Parts, RateRules, Request, Settings, Strip, Tool};

const CALLS: u32 = 20_000;

struct Echo(Descriptor);

#[async_trait]
impl Tool for Echo {
    fn descriptor(&self) -> &Descriptor {
        &self.0
    }

    async fn run(&self, call: &Job) -> Result<Output, Failure> {
        Ok(Output { data: Arc::clone(&call.input), ..Output::new(serde_json::Value::Null) })
    }
}

fn echo(id: &str, deterministic: bool) -> Arc<dyn Tool> {
    let message = json!({"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]});
    Arc::new(Echo(Descriptor {
        unprefixed: false,
        id: id.parse().unwrap(),
        version: "1.0.0".parse().unwrap(),
        title: None,
        description: "Echoes.".to_owned(),
        input_schema: message.clone(),
        output_schema: Some(message),
        deterministic,
        limits: RequestedLimits::default(),
        caps: Caps::default(),
        annotations: Annotations { read_only_hint: Some(true), ..Annotations::default() },
        implementation: None,
        meta: None,
        extra: serde_json::Map::new(),
        files: None,
    }))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    let clock = Clock::default();
    let limits =
        LimitBounds { default: Limits::default(), server_input: 1 << 20, max: Limits::default() };
    let files = FileParts::in_folder(folder.path(), database.clone(), clock.clone()).unwrap();
    let strip = Strip::new(
        Settings {
            limits,
            idempotency: Duration::from_secs(600),
            rate: RateRules::default(),
            name_style: NameStyle::Wire,
            schemas: strip::catalog::SchemaForm::AsIs,
            files: strip::files::Strategies::default(),
            inline: files::InlineLimits::default(),
        },
        Parts {
            commits: CommitQueue::start(database.clone()),
            database,
            cache: Cache::memory(64 << 20, clock.clone()),
            clock,
            names: WireNames::default(),
            pins: Pins::default(),
            files: Files::new(files),
        },
    );
    strip.catalog().publish("example", vec![echo("t.recorded", true), echo("t.fresh", false)]);
    let principal = Arc::new(Principal {
        tenant: TenantId::new("local"),
        subject: "local".to_owned(),
        agent: None,
        scopes: Vec::new(),
        via: Via::Local,
    });
    for (tool, distinct, what) in [
        ("t.recorded", true, "recorded, distinct inputs"),
        ("t.recorded", false, "recorded, equal inputs"),
        ("t.fresh", true, "not recorded"),
    ] {
        let began = Instant::now();
        for number in 0..CALLS {
            let input = json!({"message": format!("hello {}", if distinct { number } else { 0 })});
            let call = Request::new(tool, input, Arc::clone(&principal), Door::Http);
            assert!(strip.call(call).await.result.is_ok());
        }
        println!("{what}: {:.2} µs a call", began.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS));
    }
}
