//! Limits per key: sessions and memory.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::Gateway;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::access::keys::add_key;
use crate::access::support::{Caller, LEGACY};

/// The resident memory of a gateway in kilobytes.
fn memory(gateway: &Gateway) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", gateway.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse().unwrap()
}

#[tokio::test]
async fn one_key_cannot_use_up_the_sessions_of_others() {
    let config = "auth: {}\nlimits: { sessions: { max: 20 } }";
    let gateway = Gateway::with().config(config).start().await;
    let (greedy, good) = (add_key(&gateway, &["greedy"]).await, add_key(&gateway, &["good"]).await);
    let (greedy, good) = (Caller::new(&gateway, Some(greedy)), Caller::new(&gateway, Some(good)));
    let version = LEGACY[2];
    for _ in 0..20 {
        greedy.session(version).await;
    }
    let session = good.session(version).await;
    let full = good.get("/readyz").await;
    assert_eq!((full.status, &full.body["sessions"]), (200, &json!("exhausted")));
    for _ in 0..25 {
        greedy.session(version).await;
    }
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert_eq!(
        good.legacy(version, &session, &ping).await.status,
        200,
        "its session is still open"
    );
    good.session(version).await;
}

#[tokio::test]
async fn stalled_bodies_of_one_key_use_bounded_memory() {
    const BODY: usize = 4 * 1024 * 1024 - 1024;
    let config = "auth: {}\nlimits: { body_memory: 32MB }";
    let gateway = Gateway::with().config(config).start().await;
    let (greedy, good) = (add_key(&gateway, &["greedy"]).await, add_key(&gateway, &["good"]).await);
    let good = Caller::new(&gateway, Some(good));
    assert_eq!(good.call("demo.echo", &json!({"message": "x"})).await.status, 200);
    let before = memory(&gateway);
    let mut stalled = Vec::new();
    for _ in 0..100 {
        let mut stream = TcpStream::connect(gateway.address()).await.unwrap();
        let head = format!(
            "POST /mcp/tool/demo.echo HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {greedy}\r\n\
             Content-Type: application/json\r\nContent-Length: {BODY}\r\n\r\n",
            gateway.address()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // The body of a refused request is not read to its end.
        let _ = stream.write_all(&vec![b' '; BODY - 1]).await;
        stalled.push(stream);
    }
    let held = memory(&gateway).saturating_sub(before) / 1024;
    assert!(held < 150, "{held} MB are held for one key");
    let large = json!({"message": "x".repeat(50_000)});
    assert_eq!(good.call("demo.echo", &large).await.status, 200, "others are served");
}

#[tokio::test]
async fn idle_sessions_use_little_memory() {
    const SESSIONS: usize = 1_000;
    let gateway = Gateway::start().await;
    let caller = Caller::new(&gateway, None);
    for _ in 0..20 {
        caller.session(LEGACY[2]).await;
    }
    let before = memory(&gateway);
    for _ in 0..SESSIONS {
        caller.session(LEGACY[2]).await;
    }
    let begun = Instant::now();
    loop {
        let each = memory(&gateway).saturating_sub(before) / SESSIONS;
        if each <= 20 {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "each session takes {each} kB");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
