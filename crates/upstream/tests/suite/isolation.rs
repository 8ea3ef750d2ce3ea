//! A failing server does not affect callers of other servers.

use std::time::{Duration, Instant};

use operations::servers::ServerState;
use proto::Code;
use serde_json::json;
use server_entry::ServerConfig;
use upstream::Timing;

use crate::fake::{Fake, well_behaved};
use crate::python::server;
use crate::support::{Setup, at, eventually, quick, runner};

/// A server that accepts connections and never answers.
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
async fn bad_servers_do_not_delay_or_break_others() {
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
    // The silent one must still be starting when all others are known to be down.
    let timing =
        Timing { start: Duration::from_secs(120), list: Duration::from_secs(5), ..quick() };
    runner().await;
    let begun = Instant::now();
    let setup = Setup::timed(servers, timing, Default::default()).await;
    let started = begun.elapsed();
    setup.wait_for_tool("good:who").await;
    assert_eq!(setup.text("good:who", json!({})).await, "good");
    assert!(started < Duration::from_secs(2), "start-up does not wait for servers: {started:?}");
    assert_eq!(setup.tools(), ["good:echo", "good:who"]);
    for bad in ["a-hung", "b-dead", "c-crashing", "d-missing", "f-nowhere"] {
        setup.wait_for_state(bad, ServerState::Down).await;
    }
    // A server that never starts looks like a slow one.
    assert_eq!(setup.status("e-silent").state, ServerState::Starting);
    assert_eq!(setup.status("good").state, ServerState::Ready);
    let stopping = Instant::now();
    setup.upstreams.stop().await;
    assert!(stopping.elapsed() < Duration::from_secs(5), "{:?}", stopping.elapsed());
}

#[tokio::test]
async fn a_server_that_is_killed_under_load_affects_only_its_own_callers() {
    let (a, b) = (Fake::new(well_behaved("a")), Fake::new(well_behaved("b")));
    let setup =
        Setup::with(vec![("a", at(&a.url())), ("b", at(&b.url())), ("py", server(&[]))]).await;
    setup.wait_for_tool("a:who").await;
    setup.wait_for_tool("b:who").await;
    setup.wait_for_tool("py:crash").await;
    let mut a = Some(a);
    let mut address = None;
    for n in 0..300 {
        if n == 100 {
            address = a.take().map(Fake::kill);
            assert_eq!(
                setup.call("py:crash", json!({})).await.unwrap_err().code,
                Code::Unavailable
            );
        }
        assert_eq!(setup.text("b:who", json!({})).await, "b");
        let outcome = setup.call("a:who", json!({})).await;
        if n >= 100 {
            let failure = outcome.unwrap_err();
            assert_eq!(failure.code, Code::Unavailable);
            assert!(failure.message.contains("`a`"), "{}", failure.message);
        }
        assert!(setup.tools().contains(&"a:who".to_owned()), "its list stays");
    }
    // Once it is known to be down, calls fail at once and say when it is tried again.
    setup.wait_for_state("a", ServerState::Down).await;
    let failure = setup.call("a:who", json!({})).await.unwrap_err();
    assert!(failure.message.contains("`a`"), "{}", failure.message);

    let returned = Instant::now();
    let _a = Fake::on(address.unwrap(), well_behaved("a2"));
    eventually("it is back", || setup.status("a").state == ServerState::Ready).await;
    assert_eq!(setup.text("a:who", json!({})).await, "a2");
    assert!(returned.elapsed() < Duration::from_secs(5), "{:?}", returned.elapsed());
    setup.wait_for_state("py", ServerState::Ready).await;
    assert_eq!(setup.text("py:echo", json!({})).await, "{}");
}

#[tokio::test]
async fn a_call_takes_milliseconds() {
    let fake = Fake::new(well_behaved("a"));
    let setup = Setup::with(vec![("http", at(&fake.url())), ("py", server(&[]))]).await;
    setup.wait_for_tool("http:who").await;
    setup.wait_for_tool("py:echo").await;
    for tool in ["http:who", "py:echo"] {
        setup.text(tool, json!({})).await;
        let mut times = Vec::new();
        for _ in 0..50 {
            let begun = Instant::now();
            setup.text(tool, json!({})).await;
            times.push(begun.elapsed());
        }
        times.sort();
        assert!(times[25] < Duration::from_millis(50), "{tool}: {:?}", times[25]);
    }
}

#[tokio::test]
async fn connections_are_reused() {
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
                _ => crate::fake::text_result("ok"),
            };
            let message = json!({"jsonrpc": "2.0", "id": body["id"], "result": answer});
            std::future::ready(crate::fake::events(&[message]))
        },
    ));
    let service = app.into_make_service_with_connect_info::<std::net::SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await });
    let setup = Setup::with(vec![("s", at(&url))]).await;
    setup.wait_for_tool("s:t").await;
    for _ in 0..50 {
        assert_eq!(setup.text("s:t", json!({})).await, "ok");
        tokio::task::yield_now().await;
    }
    let connections = good.lock().unwrap().len();
    assert!(connections <= 5, "{connections} connections for 52 requests");
}
