//! Callers that leave before or after a person has decided about their call.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Gateway, eventually, powerstrip_binary};
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::process::Command;

use crate::servers::approvals::Reviewer;
use crate::servers::support::command;
use crate::workflows::support::{ready, with_ledger};

const TIMEOUT: Duration = Duration::from_secs(30);

const GATED: &str = "skills:
  asked: { tools: ['demo.echo'], auto_approve: false, approval_timeout: 60s }
agents:
  bot: { skills: [asked] }
";

/// A call in LSP framing.
fn request(tool: &str, input: &Value) -> Vec<u8> {
    let params = json!({"tool": tool, "input": input});
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "mcp.tool.invoke", "params": params});
    let request = request.to_string();
    format!("Content-Length: {}\r\n\r\n{request}", request.len()).into_bytes()
}

/// Approves the call of a caller that has left, and makes the same call again: it must run, once, without being asked about.
async fn approve_and_call_again(gateway: &Gateway, asked: &Value, input: &Value) {
    let reviewer = Reviewer::of(gateway);
    let id = asked["id"].as_str().unwrap();
    let decided = reviewer.decide(id, &json!({"decision": "approve"})).await;
    assert_eq!(decided.status, 200, "{decided:?}");
    let text = input.to_string();
    let answered = gateway.run(&["call", "demo.echo", "--input", &text, "--timeout", "20s"]).await;
    assert!(!answered.stderr.contains("waiting"), "it is asked about again: {answered:?}");
    assert_eq!(answered.json(), *input);
    let shown = command(gateway, &["approvals", "show", id]).await;
    assert_eq!(shown["state"], "consumed", "{shown:#}");
}

#[tokio::test]
async fn an_approval_waits_for_the_next_call_of_a_caller_that_was_killed() {
    let gateway = Gateway::with().config(GATED).start().await;
    let reviewer = Reviewer::of(&gateway);

    // A command that is killed sends no cancellation.
    let input = json!({"message": "over the socket"});
    let mut socket =
        UnixStream::connect(gateway.folder().join(".powerstrip/socket")).await.unwrap();
    socket.write_all(&request("demo.echo", &input)).await.unwrap();
    let asked = reviewer.waiting().await;
    drop(socket);
    approve_and_call_again(&gateway, &asked, &input).await;

    // The client of a `stdio` process that is killed leaves the process without a reader.
    let input = json!({"message": "over stdio"});
    let mut child = Command::new(powerstrip_binary())
        .args(["stdio", "--config", "powerstrip.yaml"])
        .current_dir(gateway.folder())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    stdin.write_all(&request("demo.echo", &input)).await.unwrap();
    let asked = reviewer.waiting().await;
    drop((stdin, stdout));
    tokio::time::timeout(TIMEOUT, child.wait()).await.expect("it ends with its client").unwrap();
    approve_and_call_again(&gateway, &asked, &input).await;
}

const GATED_DEPLOY: &str =
    "skills:\n  careful: { tools: ['t:deploy'], auto_approve: false, approval_timeout: 60s }\n";

/// How often a task of the ledger has begun, or ended.
fn count(gateway: &Gateway, what: &str, task: &str) -> usize {
    let text = std::fs::read_to_string(gateway.scratch().join("ledger")).unwrap_or_default();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["what"] == what && line["task"] == task).count()
}

/// Approves the call that waits, and returns once its tool runs.
async fn approve_and_begin(gateway: &Gateway, task: &str) {
    let reviewer = Reviewer::of(gateway);
    let asked = reviewer.waiting().await;
    let id = asked["id"].as_str().unwrap();
    let decided = reviewer.decide(id, &json!({"decision": "approve"})).await;
    assert_eq!(decided.status, 200, "{decided:?}");
    eventually("the tool runs", async || (count(gateway, "begin", task) == 1).then_some(())).await;
}

#[tokio::test]
async fn an_approved_tool_runs_to_its_end_when_its_caller_leaves() {
    let gateway = with_ledger(GATED_DEPLOY).start().await;
    ready(&gateway).await;
    let input = |task: &str| json!({"task": task, "ms": 700});

    let calls = json!({"calls": [{"id": "a", "tool": "t:deploy", "arguments": input("batch")}]});
    let batch = reqwest::Client::new().post(gateway.url("/v1/calls")).json(&calls).send();
    let batch = tokio::spawn(batch);
    approve_and_begin(&gateway, "batch").await;
    batch.abort();

    let mut socket =
        UnixStream::connect(gateway.folder().join(".powerstrip/socket")).await.unwrap();
    socket.write_all(&request("t:deploy", &input("socket"))).await.unwrap();
    approve_and_begin(&gateway, "socket").await;
    drop(socket);

    for task in ["batch", "socket"] {
        let ended = async || (count(&gateway, "end", task) == 1).then_some(());
        eventually("the tool ends", ended).await;
    }
}
