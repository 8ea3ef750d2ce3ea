//! Servers that register themselves: a real gateway, and real programs built with the kit.

mod wire;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use testkit::{Gateway, ReservedPort, ServerProcess, eventually, mcp, sibling_program};
use tokio::process::Command;

use crate::servers::peer::Peer;
use crate::servers::support::{HttpFixture, command, listed, over_http, wait_until_listed};

/// A wait beyond this is a hang.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(20);

/// A lease short enough to wait for, and long enough to renew on a busy machine.
const SHORT: &str = "registration: { lease: 3s }\n";

/// The wire name of a tool of the text server.
const KEYWORDS: &str = "text-analysis-mcp__extract_keywords";

fn text_analysis() -> PathBuf {
    sibling_program("text-analysis-mcp")
}

/// Starts a server that is built with the kit and registers itself at a gateway.
async fn register(program: PathBuf, gateway: &Gateway, flags: &[&str]) -> ServerProcess {
    register_at(program, &gateway.url(""), gateway, flags).await
}

/// Starts a server that registers itself at this URL of the gateway.
async fn register_at(
    program: PathBuf,
    url: &str,
    gateway: &Gateway,
    flags: &[&str],
) -> ServerProcess {
    let mut command = Command::new(program);
    command
        .args(["--gateway", url])
        .arg("--gateway-token-file")
        .arg(gateway.folder().join(".powerstrip/registration-token"))
        .args(flags);
    ServerProcess::start(&mut command).await
}

async fn wait_until_gone(gateway: &Gateway, server: &str) {
    let prefix = format!("{server}__");
    eventually(&format!("{server} is gone"), || async {
        (!listed(gateway).await.iter().any(|name| name.starts_with(&prefix))).then_some(())
    })
    .await;
}

/// The input for the text server.
fn question() -> Value {
    json!({"text": "The solar panel turns sunlight into power. A solar panel needs sunlight."})
}

#[tokio::test]
async fn a_server_registers_is_called_and_deregisters() {
    let gateway = Gateway::start().await;
    let server = register(text_analysis(), &gateway, &[]).await;
    wait_until_listed(&gateway, KEYWORDS).await;
    let input =
        json!({"text": "The solar panel turns sunlight into power. A solar panel needs sunlight."});
    let answer = gateway.call("text-analysis-mcp:extract_keywords", &input).await.body;
    assert_eq!(answer["ok"], json!(true), "{answer}");
    assert!(answer["data"]["keywords"].to_string().contains("solar panel"), "{answer}");

    let servers = command(&gateway, &["servers"]).await;
    assert_eq!(servers[0]["name"], json!("text-analysis-mcp"), "{servers}");
    assert_eq!(servers[0]["lease"]["replicas"][0]["url"], json!(server.url), "{servers}");
    let seen = gateway.get("/v1/servers").await;
    assert_eq!(seen.status, 200);
    assert_eq!(seen.body["servers"][0]["state"], json!("ready"), "{:?}", seen.body);

    assert_eq!(server.stop().await, Some(0));
    let names = listed(&gateway).await;
    assert!(!names.contains(&KEYWORDS.to_owned()), "gone before the process was: {names:?}");
    assert_eq!(command(&gateway, &["servers"]).await, json!([]));
}

#[tokio::test]
async fn a_killed_server_is_removed_when_its_lease_ends() {
    let gateway = Gateway::with().config(SHORT).start().await;
    let server = register(text_analysis(), &gateway, &[]).await;
    wait_until_listed(&gateway, KEYWORDS).await;
    // The server stays for several leases while it renews them.
    eventually("heartbeats renew the lease", || async {
        let servers = command(&gateway, &["servers"]).await;
        (servers[0]["lease"]["ageMs"].as_u64() > Some(7_500)).then_some(())
    })
    .await;
    assert!(listed(&gateway).await.contains(&KEYWORDS.to_owned()));

    server.kill().await;
    wait_until_gone(&gateway, "text-analysis-mcp").await;
    assert!(gateway.log().contains("a lease expired"), "{}", gateway.log());
    let answer = gateway.call("text-analysis-mcp:extract_keywords", &question()).await;
    assert_eq!(answer.status, 404, "{answer:?}");
}

#[tokio::test]
async fn a_server_registers_again_after_a_gateway_restart() {
    let place = ReservedPort::reserve();
    let gateway = Gateway::with().config(SHORT).at(&place).start().await;
    let server = register(text_analysis(), &gateway, &[]).await;
    wait_until_listed(&gateway, KEYWORDS).await;
    let gateway = gateway.restart().await;
    wait_until_listed(&gateway, KEYWORDS).await;
    let answer = gateway.call("text-analysis-mcp:extract_keywords", &question()).await.body;
    assert_eq!(answer["ok"], json!(true), "{answer}");
    assert_eq!(server.stop().await, Some(0));
    assert!(!listed(&gateway).await.contains(&KEYWORDS.to_owned()));
}

/// Calls a tool repeatedly until stopped; returns the number of calls and the failures.
async fn load(
    gateway: Arc<Gateway>,
    tool: &str,
    input: Value,
    stop: Arc<AtomicBool>,
) -> (u32, Vec<Value>) {
    let (mut calls, mut failed) = (0, Vec::new());
    while !stop.load(Ordering::Relaxed) {
        let answer = gateway.call(tool, &input).await.body;
        calls += 1;
        if answer["ok"] != json!(true) {
            failed.push(answer);
        }
    }
    (calls, failed)
}

#[tokio::test]
async fn a_redeploy_under_load_loses_no_call() {
    let far = HttpFixture::start().await;
    let servers = format!("servers:\n{}", over_http("far", &far.url));
    let gateway = Arc::new(Gateway::with().config(&servers).start().await);
    let old = register(text_analysis(), &gateway, &[]).await;
    wait_until_listed(&gateway, KEYWORDS).await;
    wait_until_listed(&gateway, "far__greet").await;
    let stop = Arc::new(AtomicBool::new(false));
    let others = tokio::spawn({
        let (gateway, stop) = (Arc::clone(&gateway), Arc::clone(&stop));
        async move { load(gateway, "far:greet", json!({"name": "Ada"}), stop).await }
    });
    let own = tokio::spawn({
        let (gateway, stop) = (Arc::clone(&gateway), Arc::clone(&stop));
        async move { load(gateway, "text-analysis-mcp:extract_keywords", question(), stop).await }
    });

    let new = register(text_analysis(), &gateway, &[]).await;
    eventually("the new process has taken the name over", || async {
        let servers = command(&gateway, &["servers"]).await;
        let leases = servers.as_array()?.iter().find(|server| server["lease"].is_object())?;
        let is_new = leases["lease"]["replicas"][0]["url"] == json!(new.url);
        (is_new && leases["tools"] != json!(0)).then_some(())
    })
    .await;
    assert_eq!(old.stop().await, Some(0));
    let answer = gateway.call("text-analysis-mcp:extract_keywords", &question()).await.body;
    assert_eq!(answer["ok"], json!(true), "the old one's goodbye is not the new one's: {answer}");
    stop.store(true, Ordering::Relaxed);
    for (what, task) in [("another server", others), ("the server itself", own)] {
        let (calls, failed) = task.await.expect("the load ends");
        assert!(
            calls > 0 && failed.is_empty(),
            "{what}: {} of {calls} lost: {failed:?}",
            failed.len()
        );
    }
}

#[tokio::test]
async fn replicas_of_a_registered_server_share_calls() {
    let gateway = Gateway::with().config(SHORT).start().await;
    let flags = ["--replica", "--name", "words"];
    let one = register(text_analysis(), &gateway, &flags).await;
    let other = register(text_analysis(), &gateway, &flags).await;
    let replicas = || async {
        let servers = command(&gateway, &["servers"]).await;
        servers[0]["lease"]["replicas"].as_array().map_or(0, Vec::len)
    };
    eventually("both are known", || async { (replicas().await == 2).then_some(()) }).await;
    wait_until_listed(&gateway, "words__summarize_text").await;
    one.kill().await;
    eventually("one is left", || async { (replicas().await == 1).then_some(()) }).await;
    let answer = gateway.call("words:extract_keywords", &question()).await.body;
    assert_eq!(answer["ok"], json!(true), "{answer}");
    assert_eq!(other.stop().await, Some(0));
    assert!(!listed(&gateway).await.iter().any(|name| name.starts_with("words__")));
}

#[tokio::test]
async fn clients_are_notified_when_servers_register_and_leave() {
    let gateway = Gateway::with().config(SHORT).start().await;
    let mut stream = Peer::modern(&gateway).listen(json!({"toolsListChanged": true})).await;
    // Reads notifications until the server is listed, or no longer listed; their number is not defined.
    let mut changes = async |listed: bool| {
        loop {
            stream.next("notifications/tools/list_changed").await;
            let listing = mcp(&gateway.url("/mcp"), "tools/list", json!({})).await;
            if listing.to_string().contains("text-analysis") == listed {
                return;
            }
        }
    };
    let server = register(text_analysis(), &gateway, &[]).await;
    tokio::time::timeout(TIMEOUT, changes(true)).await.expect("a server came");
    server.kill().await;
    tokio::time::timeout(TIMEOUT, changes(false)).await.expect("its lease ended");
}
