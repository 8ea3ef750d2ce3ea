use serde_json::{Value, json};

use crate::commands::pipe::Pipe;
use crate::commands::project::Project;

fn data(answer: &Value) -> &Value {
    &answer["result"]["structuredContent"]
}

#[tokio::test]
async fn serves_legacy_mcp() {
    let project = Project::new();
    let mut pipe = Pipe::start(project.path(), &[]);
    let hello = pipe.initialize().await;
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
    let tools = pipe.request("tools/list", &json!({})).await;
    assert!(
        tools["result"]["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "demo_echo"),
        "{tools}"
    );
    assert_eq!(data(&pipe.echo("hi").await), &json!({"message": "hi"}));
    let (code, rest) = pipe.close().await;
    assert_eq!((code, rest.as_str()), (Some(0), ""));
}

#[tokio::test]
async fn serves_modern_mcp() {
    let project = Project::new();
    let mut pipe = Pipe::start(project.path(), &[]);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}});
    let params = json!({"name": "demo.echo", "arguments": {"message": "hi"}, "_meta": meta});
    assert_eq!(data(&pipe.request("tools/call", &params).await), &json!({"message": "hi"}));
    assert_eq!(pipe.close().await.0, Some(0));
}

#[test]
fn serves_lsp() {
    let project = Project::new();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"mcp.tool.invoke","params":{"tool":"demo.echo","input":{"message":"hi"}}}"#;
    let frame = format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let ended = project.run_with(&["stdio"], &frame, &[]);
    let (head, answer) = ended.ok().split_once("\r\n\r\n").unwrap();
    assert_eq!(head, format!("Content-Length: {}", answer.len()));
    let answer: Value = serde_json::from_str(answer).unwrap();
    assert_eq!(answer["result"]["data"], json!({"message": "hi"}));
}

#[test]
fn answers_requests_sent_before_the_input_ended() {
    let project = Project::new();
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"demo.echo","arguments":{{"message":"hi"}},"_meta":{meta}}}}}"#
    );
    // No newline at the end: the last line is still a message.
    let ended = project.run_with(&["stdio"], &line, &[]);
    let answer: Value = serde_json::from_str(ended.ok()).unwrap_or_else(|_| panic!("{ended:?}"));
    assert_eq!(data(&answer), &json!({"message": "hi"}));
}

#[test]
fn empty_and_malformed_input_end_cleanly() {
    let project = Project::new();
    assert_eq!(project.run(&["stdio"]).ok(), "");
    let broken = project.run_with(&["stdio"], "Content-Length: x\r\n\r\n{}", &[]);
    assert!(broken.ok().contains("-32600"), "{broken:?}");
    let garbage = project.run_with(&["stdio"], "{not json\n", &[]);
    assert_eq!(garbage.code, Some(0), "{garbage:?}");
}
