//! Output of servers that is not quite JSON-RPC: half characters, stray lines, numbers out of range, words on stdout.

use axum::response::Response;
use operations::servers::ServerState;
use serde_json::{Value, json};
use server_entry::ServerConfig;

use crate::fake::{Fake, ReceivedRequest, modern, raw_events, result, text_result, tool};
use crate::python::server;
use crate::support::{Setup, at, eventually};

const CUT: &str = "cut \u{fffd}, whole \u{1f600}";

/// Answers as `server.py` does, over HTTP.
async fn answer(received: ReceivedRequest) -> Response {
    let id = received.id().clone();
    let text = r#"{"content":[{"type":"text","text":"cut \ud83d, whole \ud83d\ude00"}]}"#;
    match received.body["params"]["name"].as_str() {
        Some("surrogate") => Response::builder()
            .header("content-type", "application/json")
            .body(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{text}}}"#).into())
            .unwrap(),
        Some("stray") => raw_events(format!(
            "data: {{\"jsonrpc\":\"2.0\"}}\n\ndata: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{text}}}\n\n"
        )),
        Some(_) => result(&received, text_result("other")),
        None => modern(&received, &[tool("surrogate"), tool("stray")]),
    }
}

#[tokio::test]
async fn half_a_character_is_replaced_and_the_rest_is_kept() {
    let fake = Fake::new(answer);
    let config = server(&["cut=yes", "tools=surrogate,echo"]);
    let setup = Setup::with(vec![("py", config), ("far", at(&fake.url()))]).await;
    for server in ["py", "far"] {
        setup.wait_for_tool(&format!("{server}:surrogate")).await;
        assert_eq!(setup.text(&format!("{server}:surrogate"), json!({})).await, CUT);
    }
    let snapshot = setup.catalog.snapshot();
    let description = &snapshot.resolve("py:echo").unwrap().descriptor.description;
    assert!(description.contains("cut \u{fffd}"), "the server keeps its tools: {description}");
}

#[tokio::test]
async fn a_stray_message_does_not_fail_the_call() {
    let fake = Fake::new(answer);
    let config = server(&["tools=stray,infinite"]);
    let setup = Setup::with(vec![("py", config), ("far", at(&fake.url()))]).await;
    setup.wait_for_tool("py:stray").await;
    assert_eq!(setup.text("py:stray", json!({})).await, "after a stray line");
    setup.wait_for_tool("far:stray").await;
    assert_eq!(setup.text("far:stray", json!({})).await, CUT);

    let failure = setup.call("py:infinite", json!({})).await.unwrap_err();
    assert!(failure.message.contains("number out of range"), "{}", failure.message);
}

#[tokio::test]
async fn the_last_stdout_line_of_a_dead_process_is_the_reason() {
    let says = |script: &str| ServerConfig {
        command: Some("sh".to_owned()),
        args: vec!["-c".to_owned(), script.to_owned()],
        ..ServerConfig::default()
    };
    let setup = Setup::with(vec![
        ("line", says("echo 'starting'; echo 'Error: please set ACME_TOKEN'; exit 1")),
        ("cut", says("printf 'Error: please set ACME_TOKEN'; exit 1")),
        ("both", says("echo 'usage: acme'; echo 'Error: please set ACME_TOKEN' >&2; exit 1")),
    ])
    .await;
    for name in ["line", "cut", "both"] {
        setup.wait_for_state(name, ServerState::Down).await;
        let why = || setup.status(name).last_error.unwrap_or_default();
        let expected = "it ended with exit code 1: Error: please set ACME_TOKEN";
        eventually("the reason is shown", || why() == expected).await;
    }
    let lines = |name: &str| -> Vec<Value> {
        let log = setup.upstreams.get(name).unwrap().log_lines(None, 99);
        log.lines.iter().map(|line| json!(line.line)).collect()
    };
    assert!(lines("line").contains(&json!("[stdout] starting")), "{:?}", lines("line"));
    assert!(lines("both").contains(&json!("[stdout] usage: acme")), "{:?}", lines("both"));
}
