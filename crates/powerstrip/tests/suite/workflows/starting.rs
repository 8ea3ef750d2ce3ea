//! Starts that race each other or lose their client: each workflow gets one driver, and keeps it.

use std::collections::HashSet;
use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Gateway, eventually};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::workflows::support::{as_admin, ledger, start, work};

const EXECUTE: &str = "powerstrip:execute_dag";

#[tokio::test]
async fn equal_starts_at_the_same_time_are_one_workflow() {
    const KEYS: usize = 20;
    let gateway = start("").await;
    let start = async |key: String| {
        let gated =
            json!({"id": "a", "tool": "t:work", "arguments": {"task": key}, "approval": {}});
        let input = json!({"workflow": {"tasks": [gated]}, "config": {"wait_ms": 20_000}});
        gateway.call_with(EXECUTE, &input, &[("Idempotency-Key", key.as_str())]).await
    };
    for key in 0..KEYS {
        let answers = join_all((0..6).map(|_| start(format!("key-{key}")))).await;
        let shown: HashSet<String> = answers
            .iter()
            .map(|answer| format!("{} {}", answer.status, answer.body["data"]))
            .collect();
        assert_eq!(shown.len(), 1, "{shown:#?}");
        assert_eq!(answers[0].body["data"]["checkpoint_type"], "approval_required", "{shown:#?}");
    }
    let pending = as_admin(&gateway, Method::GET, "/v1/approvals", &Value::Null).await.body;
    assert_eq!(pending["approvals"].as_array().unwrap().len(), KEYS, "{pending:#}");
}

/// Sends a start and closes the connection after this time.
async fn start_and_leave(gateway: &Gateway, task: &str, after: Duration) {
    let body = json!({"workflow": {"tasks": [work(task, &[])]}}).to_string();
    let request = format!(
        "POST /mcp/tool/{EXECUTE} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        gateway.address(),
        body.len(),
    );
    let mut stream = TcpStream::connect(gateway.address()).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    tokio::time::sleep(after).await;
}

#[tokio::test]
async fn a_workflow_whose_client_leaves_during_the_start_runs() {
    let gateway = start("").await;
    for number in 0..120 {
        // The time is the input of this test: it decides how far the start has come.
        let after = Duration::from_millis(number % 12);
        start_and_leave(&gateway, &format!("task-{number}"), after).await;
    }
    eventually("all workflows end", || async {
        let listed = gateway.get("/v1/workflows?state=running").await.body;
        listed["workflows"].as_array().unwrap().is_empty().then_some(())
    })
    .await;
    assert!(!ledger(&gateway).is_empty());
}
