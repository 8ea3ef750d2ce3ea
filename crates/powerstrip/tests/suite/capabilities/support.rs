//! Starts capability servers that register themselves.

use std::path::Path;

use serde_json::Value;
use testkit::{Gateway, ServerProcess, eventually, sibling_program};
use tokio::process::Command;

use crate::servers::support::command;

/// A gateway with leases short enough to wait for.
pub(crate) async fn gateway() -> Gateway {
    Gateway::with().config("registration: { lease: 3s }\n").start().await
}

/// Starts a server whose references are kept in `keep`.
pub(crate) async fn register(
    program: &str,
    gateway: &Gateway,
    keep: &Path,
    flags: &[&str],
) -> ServerProcess {
    let mut command = Command::new(sibling_program(program));
    command
        .args(["--gateway", &gateway.url("")])
        .arg("--gateway-token-file")
        .arg(gateway.folder().join(".powerstrip/registration-token"))
        .arg("--keep")
        .arg(keep)
        .args(flags);
    ServerProcess::start(&mut command).await
}

/// Waits until the gateway knows this many processes of a server.
pub(crate) async fn wait_for_replicas(gateway: &Gateway, server: &str, count: usize) {
    eventually(&format!("{server} has {count} processes"), || async {
        let servers = command(gateway, &["servers"]).await;
        let found = servers.as_array()?.iter().find(|it| it["name"] == server)?;
        let replicas = found["lease"]["replicas"].as_array()?.len();
        (replicas == count && found["tools"] != 0).then_some(())
    })
    .await;
}

/// The data of an answer that must succeed.
pub(crate) async fn call(gateway: &Gateway, tool: &str, input: &Value) -> Value {
    let answer = gateway.call(tool, input).await.body;
    assert_eq!(answer["ok"], true, "{tool}: {answer}");
    answer["data"].clone()
}
