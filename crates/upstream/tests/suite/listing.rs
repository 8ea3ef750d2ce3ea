//! Lists of tools: what is offered, and how long it stays.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use operations::servers::ServerState;
use serde_json::{Value, json};
use server_entry::ServerConfig;
use upstream::Timing;

use crate::fake::{Fake, ReceivedRequest, modern, result, text_result, tool, well_behaved};
use crate::support::{MANY, Setup, at, eventually, owned, quick};

fn listing(tools: Vec<Value>) -> Fake {
    Fake::new(move |received: ReceivedRequest| {
        let tools = tools.clone();
        async move {
            if received.method_name() == "tools/call" {
                return result(
                    &received,
                    text_result(received.body["params"]["name"].as_str().unwrap()),
                );
            }
            modern(&received, &tools)
        }
    })
}

#[tokio::test]
async fn every_page_is_read() {
    let fake = Fake::new(|received: ReceivedRequest| async move {
        if received.method_name() != "tools/list" {
            return modern(&received, &[]);
        }
        let page: usize =
            received.body["params"]["cursor"].as_str().map_or(0, |at| at.parse().unwrap());
        let mut list = json!({"tools": [tool(&format!("t{page}"))]});
        if page < 4 {
            list["nextCursor"] = json!((page + 1).to_string());
        }
        result(&received, list)
    });
    let setup = Setup::with(vec![("s", at(&fake.url()))]).await;
    setup.wait_for_tool("s:t4").await;
    assert_eq!(setup.tools(), ["s:t0", "s:t1", "s:t2", "s:t3", "s:t4"]);
}

#[tokio::test]
async fn invalid_names_are_left_out_with_a_reason_and_the_rest_stays() {
    let fake = listing(vec![
        tool("good"),
        tool("two words"),
        tool(&"n".repeat(1_000)),
        tool(&"h".repeat(300_000)),
        tool("good"),
        json!({"description": "nameless"}),
        json!({"name": "odd", "inputSchema": 5}),
        tool(&"l".repeat(128)),
    ]);
    let setup = Setup::with(vec![("s", at(&fake.url()))]).await;
    setup.wait_for_tool("s:good").await;
    let long = format!("s:{}", "l".repeat(128));
    assert_eq!(setup.tools(), ["s:good".to_owned(), long.clone()]);
    // Clients get a name that every model's API accepts.
    assert!(setup.catalog.snapshot().entries().iter().all(|entry| entry.wire.len() <= 50));
    assert_eq!(setup.text(&long, json!({})).await, "l".repeat(128));

    eventually("the faults stand", || setup.status("s").faults.len() == 6).await;
    let faults = setup.status("s").faults;
    for (tool, reason) in [
        ("two words", "character"),
        ("nnn", "longer"),
        ("hhh", "bytes"),
        ("good", "twice"),
        ("", "no name"),
        ("odd", "schema"),
    ] {
        let named = faults
            .iter()
            .any(|fault| fault.tool.starts_with(tool) && fault.reason.contains(reason));
        assert!(named, "{tool}: {faults:?}");
    }
    assert!(faults.iter().all(|fault| fault.tool.len() <= 80));
}

#[tokio::test]
async fn resources_under_the_gateways_own_scheme_are_left_out() {
    let fake = Fake::new(|received: ReceivedRequest| async move {
        match received.method_name() {
            "server/discover" => result(
                &received,
                json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                    "capabilities": {"tools": {}, "resources": {}}, "ttlMs": 0,
                    "cacheScope": "private"}),
            ),
            "resources/list" => {
                let uris = ["powerstrip://files/1", "PowerStrip:x", "powerstrips://own", "a://b"];
                let resources = uris.map(|uri| json!({"uri": uri, "name": "shadow"}));
                result(&received, json!({"resources": resources, "resultType": "complete"}))
            }
            "resources/templates/list" => {
                let templates = ["powerstrip://files/{id}", "a://{id}"]
                    .map(|uri| json!({"uriTemplate": uri, "name": "shadow"}));
                result(&received, json!({"resourceTemplates": templates, "resultType": "complete"}))
            }
            _ => modern(&received, &[tool("t")]),
        }
    });
    let setup = Setup::with(vec![("s", at(&fake.url()))]).await;
    setup.wait_for_tool("s:t").await;
    let listing = setup.servers.listing();
    let uris: Vec<_> = listing.resources().map(|(_, entry)| entry["uri"].clone()).collect();
    assert_eq!(uris, ["powerstrips://own", "a://b"]);
    let templates = listing.templates().map(|(_, entry)| entry["uriTemplate"].clone());
    assert_eq!(templates.collect::<Vec<_>>(), ["a://{id}"]);
}

#[tokio::test]
async fn two_servers_may_have_equal_tool_names() {
    let (a, b) = (Fake::new(well_behaved("a")), Fake::new(well_behaved("b")));
    let setup = Setup::with(vec![("a", at(&a.url())), ("b", at(&b.url()))]).await;
    setup.wait_for_tool("a:who").await;
    setup.wait_for_tool("b:who").await;
    assert_eq!(setup.text("a:who", json!({})).await, "a");
    assert_eq!(setup.text("b:who", json!({})).await, "b");
}

#[tokio::test]
async fn the_config_chooses_and_renames() {
    let fake = listing(["read", "write", "stat", "read_secret"].map(tool).into());
    let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let config = ServerConfig {
        only: list(&["read*", "stat"]),
        except: list(&["*secret"]),
        rename: [("stat".to_owned(), "status".to_owned())].into(),
        ..at(&fake.url())
    };
    let setup = Setup::with(vec![("s", config)]).await;
    setup.wait_for_tool("s:status").await;
    assert_eq!(setup.tools(), ["s:read", "s:status"]);
    assert_eq!(setup.text("s:status", json!({})).await, "stat", "the server knows its own name");
}

#[tokio::test]
async fn ten_thousand_tools_are_offered_and_the_next_is_not() {
    let tools: Vec<Value> = (0..10_001).map(|n| tool(&format!("t{n:05}"))).collect();
    let fake = listing(tools);
    let timing = Timing { list: MANY, ..quick() };
    let setup = Setup::timed(vec![("many", at(&fake.url()))], timing, Default::default()).await;
    setup.wait_for_tool_within("many:t09999", MANY).await;
    assert_eq!(setup.tools().len(), 10_000);
    eventually("it is reported", || !setup.status("many").faults.is_empty()).await;
    assert!(setup.status("many").faults[0].reason.contains("10000"));
}

#[tokio::test]
async fn a_list_that_stays_the_same_changes_nothing() {
    let lists = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&lists);
    let fake = Fake::new(move |received: ReceivedRequest| {
        if received.method_name() == "tools/list" {
            counter.fetch_add(1, Ordering::SeqCst);
        }
        std::future::ready(modern(&received, &[tool("a")]))
    });
    let timing = Timing { relist: Duration::from_millis(20), ..quick() };
    let setup = Setup::timed(vec![("s", at(&fake.url()))], timing, Default::default()).await;
    setup.wait_for_tool("s:a").await;
    let revision = setup.catalog.snapshot().revision();
    setup.clock.advance(Duration::from_secs(5));
    let before = lists.load(Ordering::SeqCst);
    eventually("it is listed again", || lists.load(Ordering::SeqCst) >= before + 3).await;
    assert_eq!(setup.catalog.snapshot().revision(), revision);
    assert_eq!(setup.status("s").list_age, Some(Duration::ZERO), "but the list is fresh");
}

#[tokio::test]
async fn a_server_without_notices_is_listed_again() {
    let lists = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&lists);
    let fake = Fake::new(move |received: ReceivedRequest| {
        let round = if received.method_name() == "tools/list" {
            counter.fetch_add(1, Ordering::SeqCst)
        } else {
            0
        };
        std::future::ready(if round < 2 {
            modern(&received, &[tool("a")])
        } else {
            modern(&received, &[tool("b")])
        })
    });
    let timing = Timing { relist: Duration::from_millis(20), ..quick() };
    let setup = Setup::timed(vec![("s", at(&fake.url()))], timing, Default::default()).await;
    setup.wait_for_tool("s:b").await;
    assert_eq!(setup.tools(), ["s:b"]);
}

#[tokio::test]
async fn the_last_list_is_offered_at_once_while_the_server_is_down() {
    let fake = Fake::new(well_behaved("a"));
    let url = fake.url();
    let setup = Setup::with(vec![("s", at(&url))]).await;
    setup.wait_for_tool("s:who").await;
    eventually("it is kept", || !setup.lists.0.lock().unwrap().is_empty()).await;
    let lists = setup.lists.clone();
    setup.upstreams.stop().await;
    let address = fake.kill();

    let begun = Instant::now();
    let setup = Setup::timed(vec![("s", at(&url))], quick(), lists.clone()).await;
    setup.clock.advance(Duration::from_secs(3_600));
    setup.wait_for_tool("s:who").await;
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(setup.status("s").list_age, Some(Duration::from_secs(3_600)));
    let failure = setup.call("s:who", json!({})).await.unwrap_err();
    assert_eq!(failure.code, proto::Code::Unavailable);
    assert!(failure.message.contains("`s`"), "{}", failure.message);
    setup.wait_for_state("s", ServerState::Down).await;

    let _back = Fake::on(address, well_behaved("b"));
    setup.wait_for_state("s", ServerState::Ready).await;
    assert_eq!(setup.text("s:who", json!({})).await, "b");

    // Another server under the same name does not inherit the list.
    let other = Setup::timed(vec![("s", at("http://127.0.0.1:9/mcp"))], quick(), lists).await;
    eventually("it was tried", || other.status("s").last_error.is_some()).await;
    assert!(other.tools().is_empty());
}

#[tokio::test]
async fn a_new_config_leaves_unchanged_servers_alone() {
    let (a, b) = (Fake::new(well_behaved("a")), Fake::new(well_behaved("b")));
    let setup = Setup::with(vec![("a", at(&a.url())), ("b", at(&b.url()))]).await;
    setup.wait_for_tool("a:who").await;
    setup.wait_for_tool("b:who").await;
    let (listed_a, listed_b) =
        (a.requests_of("tools/list").len(), b.requests_of("tools/list").len());

    let only = ServerConfig { only: vec!["who".to_owned()], ..at(&b.url()) };
    setup.upstreams.apply(owned(vec![("a", at(&a.url())), ("b", only.clone())])).await;
    eventually("b shows less", || setup.tools() == ["a:echo", "a:who", "b:who"]).await;
    eventually("b is listed again", || b.requests_of("tools/list").len() > listed_b).await;
    assert_eq!(a.requests_of("tools/list").len(), listed_a, "a was not even asked");

    let disabled = ServerConfig { disabled: true, ..only.clone() };
    setup.upstreams.apply(owned(vec![("a", at(&a.url())), ("b", disabled)])).await;
    assert_eq!(setup.tools(), ["a:echo", "a:who"]);
    assert_eq!(setup.status("b").state, ServerState::Disabled);

    setup.upstreams.apply(owned(vec![("b", only)])).await;
    eventually("b is back", || setup.tools() == ["b:who"]).await;
    assert!(setup.upstreams.get("a").is_none());
    assert_eq!(setup.upstreams.statuses().len(), 1);
}

#[tokio::test]
async fn an_unusable_entry_is_reported_and_affects_no_other_server() {
    let fake = Fake::new(well_behaved("a"));
    let setup = Setup::with(vec![
        ("bad__name", at(&fake.url())),
        ("nothing", ServerConfig::default()),
        ("good", at(&fake.url())),
    ])
    .await;
    setup.wait_for_tool("good:who").await;
    for (server, key) in [("bad__name", "`name`: "), ("nothing", "`command`: ")] {
        let status = setup.status(server);
        assert_eq!(status.state, ServerState::Invalid);
        assert!(status.last_error.unwrap().contains(key));
        assert!(status.reason.unwrap().contains(&format!("`powerstrip remove {server}`")));
    }
}
