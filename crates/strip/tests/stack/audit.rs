use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use proto::{Code, Failure, Principal, canonical, digest};
use serde_json::json;
use strip::agents::{Agent, Listing, Profiles};
use strip::servers::{Outages, Server};
use strip::{Answer, Door, RateRules, Request, Settings};
use tokio::sync::Notify;

use crate::foreign_references::TextServer;
use crate::support::{
    Setup, ask, code, echo, principal, rate, settings, setup, setup_with, shared, tool,
};

#[tokio::test]
async fn every_call_leaves_one_row_whatever_became_of_it() {
    let failing = tool("t.panic", |_| panic!("boom"));
    let setup = setup(vec![echo("t.echo"), failing]).await;
    let ran = setup.call("t.echo", json!({"q": "secret words"})).await;
    setup.call("t.echo", json!({"q": "secret words"})).await;
    setup.call("t.echo", json!("no object")).await;
    setup.call("t.panic", json!({})).await;
    setup.call("t.unknown", json!({})).await;

    let rows = setup.rows().await;
    let outcomes: Vec<_> =
        rows.iter().rev().map(|row| (&*row.tool, &*row.decision, &*row.outcome)).collect();
    assert_eq!(
        outcomes,
        [
            ("t.echo", "ran", "OK"),
            ("t.echo", "replayed", "OK"),
            ("t.echo", "refused", "INVALID_INPUT"),
            ("t.panic", "failed", "INTERNAL"),
            ("t.unknown", "refused", "NOT_FOUND"),
        ]
    );
    let first = rows.last().unwrap();
    assert_eq!(first.trace, ran.meta.trace_id);
    assert_eq!((first.caller.tenant.as_str(), first.caller.subject.as_str()), ("acme", "ann"));
    assert_eq!(first.arguments, digest(&canonical::bytes(&json!({"q": "secret words"}))));
    assert!(first.definition.is_some());
    assert!(!format!("{rows:?}").contains("secret words"), "arguments are hashed, never stored");
}

#[tokio::test]
async fn a_call_whose_caller_left_leaves_its_row_too() {
    let hanging = tool("t.hang", |_| Box::pin(std::future::pending()));
    let runs = Arc::clone(&hanging.runs);
    let setup = setup(vec![hanging]).await;
    let mut call = Box::pin(setup.strip.call(ask("t.hang", json!({}))));
    while runs.load(Ordering::SeqCst) == 0 {
        assert!(futures_util::poll!(&mut call).is_pending());
        tokio::task::yield_now().await;
    }
    drop(call);
    tokio::task::yield_now().await;
    let rows = setup.rows().await;
    assert_eq!((&*rows[0].decision, &*rows[0].outcome), ("abandoned", "CANCELLED"));
}

/// The server `slow`, which is being started. Counts the calls that wait for it.
#[derive(Default)]
struct StartingServer {
    waiting: AtomicUsize,
    started: Notify,
}

#[async_trait]
impl Outages for StartingServer {
    fn servers(&self) -> Vec<String> {
        vec!["slow".to_owned()]
    }

    async fn outage(&self, _: &str, _: &Arc<Principal>) -> Option<Failure> {
        None
    }

    async fn wait_for_first_list(&self, _: &str, _: Duration) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.started.notified().await;
    }
}

impl StartingServer {
    fn of(setup: &Setup) -> Arc<Self> {
        let server = Arc::<Self>::default();
        let outages: Weak<Self> = Arc::downgrade(&server);
        setup.strip.set_outages(outages);
        server
    }

    /// Polls a call until it waits for the server.
    async fn wait_for(&self, call: &mut BoxFuture<'_, Answer>) {
        while self.waiting.load(Ordering::SeqCst) == 0 {
            assert!(futures_util::poll!(&mut *call).is_pending());
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_while_its_server_starts_leaves_its_row() {
    let setup = setup(Vec::new()).await;
    let server = StartingServer::of(&setup);
    let mut call = setup.strip.call(ask("slow:search", json!({"q": "words"})));
    server.wait_for(&mut call).await;
    drop(call);
    tokio::task::yield_now().await;
    let rows = setup.rows().await;
    let [row] = &rows[..] else { panic!("one row: {rows:?}") };
    assert_eq!(
        (&*row.tool, &*row.decision, &*row.outcome),
        ("slow:search", "abandoned", "CANCELLED")
    );
    assert_eq!(row.arguments, digest(&canonical::bytes(&json!({"q": "words"}))));
    assert_eq!(row.caller.subject, "ann");
}

#[tokio::test]
async fn a_call_that_waited_for_its_server_has_the_whole_row() {
    let setup = setup(Vec::new()).await;
    let server = StartingServer::of(&setup);
    let mut call = setup.strip.call(ask("slow__search", json!({"q": "words", "more": null})));
    server.wait_for(&mut call).await;
    let search = echo("slow:search").with(|descriptor| {
        descriptor.input_schema =
            json!({"type": "object", "properties": {"more": {"type": "string"}}});
    });
    setup.strip.catalog().publish("slow", shared(vec![search]));
    server.started.notify_one();
    assert_eq!(call.await.result.unwrap()["echo"], json!({"q": "words"}));
    let rows = setup.rows().await;
    let row = &rows[0];
    assert_eq!((&*row.tool, &*row.version, &*row.decision), ("slow:search", "1.0.0", "ran"));
    assert!(row.definition.is_some());
    assert_eq!(row.arguments, digest(&canonical::bytes(&json!({"q": "words"}))));
}

#[tokio::test]
async fn a_call_over_its_callers_rate_waits_for_no_server() {
    let rate = RateRules { principal: rate(1, 3_600), ..RateRules::default() };
    let setup = setup_with(Settings { rate, ..settings() }, Vec::new()).await;
    let server = StartingServer::of(&setup);
    let mut first = setup.strip.call(ask("slow:search", json!({})));
    server.wait_for(&mut first).await;
    let second = setup.call("slow:search", json!({})).await;
    assert_eq!(code(&second), Some(Code::RateLimit));
    assert_eq!(server.waiting.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_request_that_no_server_can_answer_is_recorded_and_counted() {
    let rate = RateRules { principal: rate(2, 3_600), ..RateRules::default() };
    let setup = setup_with(Settings { rate, ..settings() }, Vec::new()).await;
    let hidden: Arc<dyn Server> =
        Arc::new(TextServer { name: "hidden", keeps: Mutex::new("a secret") });
    let mut profiles = Profiles::default();
    let agent = Agent { skills: Vec::new(), listing: Listing::Whole, schemas: None };
    profiles.agents.insert("quill".to_owned(), agent);
    setup.strip.set_agents(profiles);
    let ann = principal("acme", "ann");
    let quill = Arc::new(Principal { agent: Some("quill".to_owned()), ..Principal::clone(&ann) });
    let forward = |server| {
        let request = Request::new("", json!({"uri": "x://1"}), Arc::clone(&quill), Door::McpHttp);
        setup.strip.forward(server, "resources/read", request)
    };
    assert!(forward(None).await.unwrap().is_none());
    assert!(forward(Some(&hidden)).await.unwrap().is_none());
    for server in [None, Some(&hidden)] {
        let refused = forward(server).await.map(drop).unwrap_err();
        assert_eq!(refused.code, Code::RateLimit, "a guess has the same answer as a hit");
    }
    let rows = setup.rows().await;
    let rows: Vec<_> =
        rows.iter().rev().map(|row| (&*row.tool, &*row.decision, &*row.outcome)).collect();
    assert_eq!(
        rows,
        [
            ("resources/read", "refused", "NOT_FOUND"),
            ("hidden:resources/read", "refused", "NOT_FOUND"),
            ("resources/read", "refused", "RATE_LIMIT"),
            ("hidden:resources/read", "refused", "RATE_LIMIT"),
        ]
    );
}
