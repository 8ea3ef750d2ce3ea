//! Callers that leave before a person has decided about their call.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Gateway, powerstrip_binary};
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::process::Command;

use crate::servers::approvals::Reviewer;
use crate::servers::support::command;

const TIMEOUT: Duration = Duration::from_secs(30);

const GATED: &str = "skills:
  asked: { tools: ['demo.echo'], auto_approve: false, approval_timeout: 60s }
agents:
  bot: { skills: [asked] }
";

/// A call in LSP framing.
fn request(input: &Value) -> Vec<u8> {
    let params = json!({"tool": "demo.echo", "input": input});
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
    socket.write_all(&request(&input)).await.unwrap();
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
    stdin.write_all(&request(&input)).await.unwrap();
    let asked = reviewer.waiting().await;
    drop((stdin, stdout));
    tokio::time::timeout(TIMEOUT, child.wait()).await.expect("it ends with its client").unwrap();
    approve_and_call_again(&gateway, &asked, &input).await;
}
