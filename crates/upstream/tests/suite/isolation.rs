//! One bad server never costs another's callers anything.

use std::time::{Duration, Instant};

use proto::Code;
use serde_json::json;
use upstream::{ServerConfig, State, Timing};

use crate::fake::{Fake, well_behaved};
use crate::python::server;
use crate::support::{House, at, eventually, quick, runner};

/// A server that takes connections and says nothing.
async fn hung() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            held.push(stream);
        }
    });
    url
}

#[tokio::test]
async fn pain_1_bad_servers_take_nothing_down_and_hold_nothing_up() {
    let good = Fake::new(well_behaved("good"));
    let missing =
        ServerConfig { command: Some("no-such-program".to_owned()), ..ServerConfig::default() };
    let servers = vec![
        ("a-hung", at(&hung().await)),
        ("b-dead", at("http://127.0.0.1:9/mcp")),
        ("c-crashing", server(&["crash=yes"])),
        ("d-missing", missing),
        ("e-silent", server(&["hold=/nowhere"])),
        ("f-nowhere", at("http://name.invalid/mcp")),
        ("good", at(&good.url())),
    ];
    // The silent one is still waited for when all others are known to be down.
    let timing =
        Timing { start: Duration::from_secs(120), list: Duration::from_secs(5), ..quick() };
    runner().await;
    let begun = Instant::now();
    let house = House::timed(servers, timing, Default::default()).await;
    let started = begun.elapsed();
    house.offers("good:who").await;
    assert_eq!(house.text("good:who", json!({})).await, "good");
    assert!(started < Duration::from_secs(2), "start-up waits for nobody: {started:?}");
    assert_eq!(house.tools(), ["good:echo", "good:who"]);
    for bad in ["a-hung", "b-dead", "c-crashing", "d-missing", "f-nowhere"] {
        house.becomes(bad, State::Down).await;
    }
    // Nobody can tell a server that is slow to start from one that never will.
    assert_eq!(house.status("e-silent").state, State::Starting);
    assert_eq!(house.status("good").state, State::Ready);
    let stopping = Instant::now();
    house.upstreams.stop().await;
    assert!(stopping.elapsed() < Duration::from_secs(5), "{:?}", stopping.elapsed());
}

#[tokio::test]
async fn pain_1_a_server_that_is_killed_under_load_is_missed_by_its_own_callers_only() {
    let (a, b) = (Fake::new(well_behaved("a")), Fake::new(well_behaved("b")));
    let house =
        House::with(vec![("a", at(&a.url())), ("b", at(&b.url())), ("py", server(&[]))]).await;
    house.offers("a:who").await;
    house.offers("b:who").await;
    house.offers("py:crash").await;
    let mut a = Some(a);
    let mut place = None;
    for n in 0..300 {
        if n == 100 {
            place = a.take().map(Fake::kill);
            assert_eq!(
                house.call("py:crash", json!({})).await.unwrap_err().code,
                Code::Unavailable
            );
        }
        assert_eq!(house.text("b:who", json!({})).await, "b");
        let outcome = house.call("a:who", json!({})).await;
        if n >= 100 {
            let failure = outcome.unwrap_err();
            assert_eq!(failure.code, Code::Unavailable);
            assert!(failure.message.contains("`a`"), "{}", failure.message);
        }
        assert!(house.tools().contains(&"a:who".to_owned()), "its list stands");
    }
    // Once it is known to be down, nobody waits for it, and callers are told when it is tried again.
    house.becomes("a", State::Down).await;
    let failure = house.call("a:who", json!({})).await.unwrap_err();
    assert!(failure.message.contains("`a`"), "{}", failure.message);

    let returned = Instant::now();
    let _a = Fake::on(place.unwrap(), well_behaved("a2"));
    eventually("it is back", || house.status("a").state == State::Ready).await;
    assert_eq!(house.text("a:who", json!({})).await, "a2");
    assert!(returned.elapsed() < Duration::from_secs(5), "{:?}", returned.elapsed());
    house.becomes("py", State::Ready).await;
    assert_eq!(house.text("py:echo", json!({})).await, "{}");
}

#[tokio::test]
async fn pain_10_a_call_costs_far_less_than_seconds() {
    let fake = Fake::new(well_behaved("a"));
    let house = House::with(vec![("http", at(&fake.url())), ("py", server(&[]))]).await;
    house.offers("http:who").await;
    house.offers("py:echo").await;
    for tool in ["http:who", "py:echo"] {
        house.text(tool, json!({})).await;
        let mut times = Vec::new();
        for _ in 0..50 {
            let begun = Instant::now();
            house.text(tool, json!({})).await;
            times.push(begun.elapsed());
        }
        times.sort();
        assert!(times[25] < Duration::from_millis(50), "{tool}: {:?}", times[25]);
    }
}

#[tokio::test]
async fn pain_10_connections_are_used_again() {
    let good = std::sync::Arc::new(std::sync::Mutex::new(std::collections::HashSet::new()));
    let peers = std::sync::Arc::clone(&good);
    // A server that answers in events, whose connection is only free once the stream has been read to its end.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let app = axum::Router::new().fallback(axum::routing::post(
        move |axum::extract::ConnectInfo(peer): axum::extract::ConnectInfo<
            std::net::SocketAddr,
        >,
              axum::Json(body): axum::Json<serde_json::Value>| {
            peers.lock().unwrap().insert(peer);
            let answer = match body["method"].as_str().unwrap() {
                "server/discover" => {
                    json!({"supportedVersions": ["2026-07-28"], "capabilities": {}})
                }
                "tools/list" => json!({"tools": [crate::fake::tool("t")]}),
                _ => crate::fake::said("ok"),
            };
            let message = json!({"jsonrpc": "2.0", "id": body["id"], "result": answer});
            std::future::ready(crate::fake::events(&[message]))
        },
    ));
    let service = app.into_make_service_with_connect_info::<std::net::SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await });
    let house = House::with(vec![("s", at(&url))]).await;
    house.offers("s:t").await;
    for _ in 0..50 {
        assert_eq!(house.text("s:t", json!({})).await, "ok");
        tokio::task::yield_now().await;
    }
    let connections = good.lock().unwrap().len();
    assert!(connections <= 5, "{connections} connections for 52 requests");
}
