//! Servers to put behind a gateway.

use std::path::PathBuf;

use serde_json::Value;
use testkit::{Gateway, ReservedPort, ServerProcess, eventually, mcp_tools, sibling_program};
use tokio::process::Command;

/// The program of the conformance suite's server.
pub(crate) fn fixture() -> PathBuf {
    sibling_program("powerstrip-fixture")
}

/// The fixture server on a reserved port.
pub(crate) struct HttpFixture {
    process: ServerProcess,
    port: ReservedPort,
    pub(crate) url: String,
}

impl HttpFixture {
    pub(crate) async fn start() -> Self {
        Self::at(ReservedPort::reserve()).await
    }

    /// Starts it on a port that another one had.
    pub(crate) async fn at(port: ReservedPort) -> Self {
        let mut command = Command::new(fixture());
        let process = ServerProcess::start(command.args(["--listen", &port.address()])).await;
        Self { url: process.url.clone(), process, port }
    }

    /// Kills it; returns the port, which stays reserved.
    pub(crate) async fn kill(self) -> ReservedPort {
        self.process.kill().await;
        self.port
    }
}

/// A config entry that starts the fixture server.
pub(crate) fn over_stdio(name: &str) -> String {
    format!("  {name}: {{ command: '{}' }}\n", fixture().display())
}

/// A config entry with a URL.
pub(crate) fn over_http(name: &str, url: &str) -> String {
    format!("  {name}: {{ url: '{url}' }}\n")
}

/// The names of the tools that the gateway lists.
pub(crate) async fn listed(gateway: &Gateway) -> Vec<String> {
    let tools = mcp_tools(&gateway.url("/mcp")).await;
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

/// Waits until the gateway lists a tool.
pub(crate) async fn wait_until_listed(gateway: &Gateway, name: &str) {
    eventually(&format!("{name} is listed"), || async {
        listed(gateway).await.iter().any(|listed| listed == name).then_some(())
    })
    .await;
}

/// Runs a command with the gateway's config; returns its output as JSON.
pub(crate) async fn command(gateway: &Gateway, arguments: &[&str]) -> Value {
    gateway.run(&[arguments, &["--json"]].concat()).await.json()
}
