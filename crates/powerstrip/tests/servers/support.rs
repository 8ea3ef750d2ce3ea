//! MCP servers to put behind a gateway, and a client that speaks MCP to it.

use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{Gateway, ReservedPort, eventually, powerstrip_binary};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};

/// The conformance suite's server, which Cargo puts beside the gateway.
pub(crate) fn fixture() -> PathBuf {
    let program = powerstrip_binary().with_file_name("powerstrip-fixture");
    assert!(program.is_file(), "build it first: cargo build -p fixture");
    program
}

/// The fixture server on a port of its own.
pub(crate) struct HttpFixture {
    child: Child,
    _stdout: BufReader<ChildStdout>,
    place: ReservedPort,
    pub(crate) url: String,
}

impl HttpFixture {
    pub(crate) async fn start() -> Self {
        Self::at(ReservedPort::reserve()).await
    }

    /// Starts it where another one was.
    pub(crate) async fn at(place: ReservedPort) -> Self {
        let mut child = Command::new(fixture())
            .args(["--listen", &place.address()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("the fixture starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let mut url = String::new();
        stdout.read_line(&mut url).await.expect("it says where it listens");
        assert!(url.starts_with("http://"), "the fixture ended early: {url:?}");
        Self { child, _stdout: stdout, place, url: url.trim().to_owned() }
    }

    /// Ends it without a word. Nobody else comes to its place while that is held.
    pub(crate) async fn kill(mut self) -> ReservedPort {
        self.child.kill().await.expect("it can be killed");
        self.place
    }
}

/// A server's entry in the config that starts the fixture.
pub(crate) fn over_stdio(name: &str) -> String {
    format!("  {name}: {{ command: '{}' }}\n", fixture().display())
}

/// A server's entry in the config that names a URL.
pub(crate) fn over_http(name: &str, url: &str) -> String {
    format!("  {name}: {{ url: '{url}' }}\n")
}

/// One request of MCP 2026-07-28 and its answer.
pub(crate) async fn mcp(url: &str, method: &str, name: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut request = reqwest::Client::new()
        .post(url)
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method);
    if !name.is_empty() {
        request = request.header("mcp-name", name);
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let response = request.json(&body).send().await.expect("an answer");
    let text = response.text().await.expect("the answer can be read");
    let event = text.lines().filter_map(|line| line.strip_prefix("data:")).find(|l| l.len() > 2);
    serde_json::from_str(event.unwrap_or(&text)).unwrap_or_else(|_| panic!("not JSON: {text}"))
}

/// Calls a tool by MCP; answers with the result.
pub(crate) async fn mcp_call(url: &str, tool: &str, input: Value) -> Value {
    mcp(url, "tools/call", tool, json!({"name": tool, "arguments": input})).await["result"].take()
}

/// The names in the gateway's MCP listing, all pages of it.
pub(crate) async fn listed(gateway: &Gateway) -> Vec<String> {
    let (mut names, mut params) = (Vec::new(), json!({}));
    loop {
        let page = mcp(&gateway.url("/mcp"), "tools/list", "", params).await;
        let tools = page["result"]["tools"].as_array().expect("a list of tools");
        names.extend(tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()));
        match page["result"].get("nextCursor") {
            Some(cursor) if !cursor.is_null() => params = json!({"cursor": cursor}),
            _ => return names,
        }
    }
}

/// Waits until the gateway lists a tool.
pub(crate) async fn offers(gateway: &Gateway, name: &str) {
    eventually(&format!("{name} is listed"), || async {
        listed(gateway).await.iter().any(|listed| listed == name).then_some(())
    })
    .await;
}

/// Runs a command in the gateway's folder; answers with what it printed as JSON.
pub(crate) async fn command(gateway: &Gateway, arguments: &[&str]) -> Value {
    let output = Command::new(powerstrip_binary())
        .args(arguments)
        .args(["--json", "--config", "powerstrip.yaml"])
        .current_dir(gateway.folder())
        .stdin(Stdio::null())
        .output()
        .await
        .expect("the command runs");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("not JSON: {output:?}"))
}
