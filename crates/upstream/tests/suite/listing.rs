//! What is listed, what of it is offered, and how long it stands.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use upstream::{ServerConfig, State, Timing};

use crate::fake::{Fake, Seen, modern, result, said, tool, well_behaved};
use crate::support::{House, MANY, at, eventually, owned, quick};

fn listing(tools: Vec<Value>) -> Fake {
    Fake::new(move |seen: Seen| {
        let tools = tools.clone();
        async move {
            if seen.asks() == "tools/call" {
                return result(&seen, said(seen.body["params"]["name"].as_str().unwrap()));
            }
            modern(&seen, &tools)
        }
    })
}

#[tokio::test]
async fn every_page_is_read() {
    let fake = Fake::new(|seen: Seen| async move {
        if seen.asks() != "tools/list" {
            return modern(&seen, &[]);
        }
        let page: usize =
            seen.body["params"]["cursor"].as_str().map_or(0, |at| at.parse().unwrap());
        let mut list = json!({"tools": [tool(&format!("t{page}"))]});
        if page < 4 {
            list["nextCursor"] = json!((page + 1).to_string());
        }
        result(&seen, list)
    });
    let house = House::with(vec![("s", at(&fake.url()))]).await;
    house.offers("s:t4").await;
    assert_eq!(house.tools(), ["s:t0", "s:t1", "s:t2", "s:t3", "s:t4"]);
}

#[tokio::test]
async fn pain_8_names_that_cannot_be_are_left_out_with_a_reason_and_the_rest_stays() {
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
    let house = House::with(vec![("s", at(&fake.url()))]).await;
    house.offers("s:good").await;
    let long = format!("s:{}", "l".repeat(128));
    assert_eq!(house.tools(), ["s:good".to_owned(), long.clone()]);
    // Whatever the name, clients get one that every model's API takes.
    assert!(house.catalog.snapshot().entries().iter().all(|entry| entry.wire.len() <= 50));
    assert_eq!(house.text(&long, json!({})).await, "l".repeat(128));

    eventually("the faults stand", || house.status("s").faults.len() == 6).await;
    let faults = house.status("s").faults;
    for (tool, reason) in [
        ("two words", "character"),
        ("nnn", "longer"),
        ("hhh", "bytes"),
        ("good", "twice"),
        ("", "no name"),
        ("odd", "schema"),
    ] {
        let told = faults
            .iter()
            .any(|fault| fault.tool.starts_with(tool) && fault.reason.contains(reason));
        assert!(told, "{tool}: {faults:?}");
    }
    assert!(faults.iter().all(|fault| fault.tool.len() <= 80));
}

#[tokio::test]
async fn pain_8_equal_names_of_two_servers_live_side_by_side() {
    let (a, b) = (Fake::new(well_behaved("a")), Fake::new(well_behaved("b")));
    let house = House::with(vec![("a", at(&a.url())), ("b", at(&b.url()))]).await;
    house.offers("a:who").await;
    house.offers("b:who").await;
    assert_eq!(house.text("a:who", json!({})).await, "a");
    assert_eq!(house.text("b:who", json!({})).await, "b");
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
    let house = House::with(vec![("s", config)]).await;
    house.offers("s:status").await;
    assert_eq!(house.tools(), ["s:read", "s:status"]);
    assert_eq!(house.text("s:status", json!({})).await, "stat", "the server knows its own name");
}

#[tokio::test]
async fn ten_thousand_tools_are_offered_and_the_next_is_not() {
    let tools: Vec<Value> = (0..10_001).map(|n| tool(&format!("t{n:05}"))).collect();
    let fake = listing(tools);
    let timing = Timing { list: MANY, ..quick() };
    let house = House::timed(vec![("many", at(&fake.url()))], timing, Default::default()).await;
    house.offers_within("many:t09999", MANY).await;
    assert_eq!(house.tools().len(), 10_000);
    eventually("it is told", || !house.status("many").faults.is_empty()).await;
    assert!(house.status("many").faults[0].reason.contains("10000"));
}

#[tokio::test]
async fn a_list_that_stays_the_same_changes_nothing() {
    let lists = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&lists);
    let fake = Fake::new(move |seen: Seen| {
        if seen.asks() == "tools/list" {
            counter.fetch_add(1, Ordering::SeqCst);
        }
        std::future::ready(modern(&seen, &[tool("a")]))
    });
    let timing = Timing { relist: Duration::from_millis(20), ..quick() };
    let house = House::timed(vec![("s", at(&fake.url()))], timing, Default::default()).await;
    house.offers("s:a").await;
    let revision = house.catalog.snapshot().revision();
    house.clock.advance(Duration::from_secs(5));
    let before = lists.load(Ordering::SeqCst);
    eventually("it is listed again", || lists.load(Ordering::SeqCst) >= before + 3).await;
    assert_eq!(house.catalog.snapshot().revision(), revision);
    assert_eq!(house.status("s").list_age, Some(Duration::ZERO), "but the list is fresh");
}

#[tokio::test]
async fn a_server_without_notices_is_listed_again() {
    let lists = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&lists);
    let fake = Fake::new(move |seen: Seen| {
        let round =
            if seen.asks() == "tools/list" { counter.fetch_add(1, Ordering::SeqCst) } else { 0 };
        std::future::ready(if round < 2 {
            modern(&seen, &[tool("a")])
        } else {
            modern(&seen, &[tool("b")])
        })
    });
    let timing = Timing { relist: Duration::from_millis(20), ..quick() };
    let house = House::timed(vec![("s", at(&fake.url()))], timing, Default::default()).await;
    house.offers("s:b").await;
    assert_eq!(house.tools(), ["s:b"]);
}

#[tokio::test]
async fn pain_12_the_last_list_stands_from_the_first_moment_while_the_server_is_down() {
    let fake = Fake::new(well_behaved("a"));
    let url = fake.url();
    let house = House::with(vec![("s", at(&url))]).await;
    house.offers("s:who").await;
    eventually("it is kept", || !house.lists.0.lock().unwrap().is_empty()).await;
    let lists = house.lists.clone();
    house.upstreams.stop().await;
    let place = fake.kill();

    let begun = Instant::now();
    let house = House::timed(vec![("s", at(&url))], quick(), lists.clone()).await;
    house.clock.advance(Duration::from_secs(3_600));
    house.offers("s:who").await;
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(house.status("s").list_age, Some(Duration::from_secs(3_600)));
    let failure = house.call("s:who", json!({})).await.unwrap_err();
    assert_eq!(failure.code, proto::Code::Unavailable);
    assert!(failure.message.contains("`s`"), "{}", failure.message);
    house.becomes("s", State::Down).await;

    let _back = Fake::on(place, well_behaved("b"));
    house.becomes("s", State::Ready).await;
    assert_eq!(house.text("s:who", json!({})).await, "b");

    // Another server under the same name does not inherit the list.
    let other = House::timed(vec![("s", at("http://127.0.0.1:9/mcp"))], quick(), lists).await;
    eventually("it was tried", || other.status("s").last_error.is_some()).await;
    assert!(other.tools().is_empty());
}

#[tokio::test]
async fn a_new_config_leaves_unchanged_servers_alone() {
    let (a, b) = (Fake::new(well_behaved("a")), Fake::new(well_behaved("b")));
    let house = House::with(vec![("a", at(&a.url())), ("b", at(&b.url()))]).await;
    house.offers("a:who").await;
    house.offers("b:who").await;
    let (listed_a, listed_b) = (a.asked("tools/list").len(), b.asked("tools/list").len());

    let only = ServerConfig { only: vec!["who".to_owned()], ..at(&b.url()) };
    house.upstreams.apply(owned(vec![("a", at(&a.url())), ("b", only.clone())])).await;
    eventually("b shows less", || house.tools() == ["a:echo", "a:who", "b:who"]).await;
    eventually("b is listed again", || b.asked("tools/list").len() > listed_b).await;
    assert_eq!(a.asked("tools/list").len(), listed_a, "a was not even asked");

    let disabled = ServerConfig { disabled: true, ..only.clone() };
    house.upstreams.apply(owned(vec![("a", at(&a.url())), ("b", disabled)])).await;
    assert_eq!(house.tools(), ["a:echo", "a:who"]);
    assert_eq!(house.status("b").state, State::Disabled);

    house.upstreams.apply(owned(vec![("b", only)])).await;
    eventually("b is back", || house.tools() == ["b:who"]).await;
    assert!(house.upstreams.get("a").is_none());
    assert_eq!(house.upstreams.statuses().len(), 1);
}

#[tokio::test]
async fn an_entry_that_cannot_be_used_is_named_and_harms_nobody() {
    let fake = Fake::new(well_behaved("a"));
    let house = House::with(vec![
        ("bad__name", at(&fake.url())),
        ("nothing", ServerConfig::default()),
        ("good", at(&fake.url())),
    ])
    .await;
    house.offers("good:who").await;
    for (server, key) in
        [("bad__name", "servers.bad__name.name"), ("nothing", "servers.nothing.command")]
    {
        let status = house.status(server);
        assert_eq!(status.state, State::Faulty);
        assert!(status.last_error.unwrap().contains(key));
    }
}
