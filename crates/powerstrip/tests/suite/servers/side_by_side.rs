//! A stdio server and an HTTP server behind one gateway.

use serde_json::json;
use testkit::{Door, Gateway, eventually, mcp_call};

use crate::servers::support::{
    HttpFixture, fixture, listed, over_http, over_stdio, wait_until_listed,
};

#[tokio::test]
async fn stdio_and_http_servers_work_together() {
    let far = HttpFixture::start().await;
    let servers = format!("servers:\n{}{}", over_stdio("near"), over_http("far", &far.url));
    let gateway = Gateway::with().config(&servers).start().await;
    wait_until_listed(&gateway, "near__greet").await;
    wait_until_listed(&gateway, "far__greet").await;
    assert!(listed(&gateway).await.iter().any(|name| name == "demo_echo"));

    for server in ["near", "far"] {
        let greeting = json!({"content": [{"type": "text", "text": "Hello, Ada!"}]});
        let rest = gateway.call(&format!("{server}:greet"), &json!({"name": "Ada"})).await;
        assert_eq!(rest.body["data"]["content"], greeting["content"], "{}", rest.body);
        let url = gateway.url("/mcp");
        let result = mcp_call(&url, &format!("{server}__greet"), json!({"name": "Ada"})).await;
        assert_eq!(result["content"], greeting["content"]);
        let call = &result["_meta"]["powerstrip/call"];
        assert_eq!(call["tool"], json!(format!("{server}:greet")), "{result}");
    }
}

#[tokio::test]
async fn results_are_passed_through_unchanged() {
    let far = HttpFixture::start().await;
    let servers = format!("servers:\n{}{}", over_stdio("near"), over_http("far", &far.url));
    let gateway = Gateway::with().config(&servers).start().await;
    wait_until_listed(&gateway, "near__greet").await;
    wait_until_listed(&gateway, "far__greet").await;

    let tools = [
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_error_handling",
    ];
    for tool in tools {
        let direct = mcp_call(&far.url, tool, json!({})).await;
        assert!(direct["content"][0].is_object(), "{direct}");
        for server in ["near", "far"] {
            let url = gateway.url("/mcp");
            let passed = mcp_call(&url, &format!("{server}__{tool}"), json!({})).await;
            assert_eq!(passed["content"], direct["content"], "{server}:{tool}");
            assert_eq!(passed.get("structuredContent"), direct.get("structuredContent"));
            let failed = |result: &serde_json::Value| result["isError"] == json!(true);
            assert_eq!(failed(&passed), failed(&direct), "{server}:{tool}");
        }
    }
}

#[tokio::test]
async fn a_servers_failure_message_is_shown_as_the_servers() {
    let servers = format!("servers:\n{}", over_stdio("near"));
    let gateway = Gateway::with().config(&servers).start().await;
    wait_until_listed(&gateway, "near__test_error_handling").await;
    let answer = gateway.call("near:test_error_handling", &json!({})).await.body;
    let error = &answer["errors"][0];
    assert_eq!(error["code"], json!("INTERNAL"), "{answer}");
    assert_eq!(error["details"], json!({"answeredBy": "near"}), "{answer}");
    let shown = format!("near answered: {}", error["message"].as_str().expect("a message"));
    let output = gateway.run(&["call", "near:test_error_handling"]).await;
    assert!(output.stderr.starts_with(&shown), "without a code of ours: {output:?}");
    eventually("the rows of the calls are written", || async {
        gateway.run(&["calls", "tail"]).await.stdout.contains(&shown).then_some(())
    })
    .await;
}

#[tokio::test]
async fn every_door_reaches_a_server() {
    let gateway =
        Gateway::with().config(&format!("servers:\n{}", over_stdio("near"))).start().await;
    wait_until_listed(&gateway, "near__greet").await;
    for door in Door::ALL {
        let tool = if matches!(door, Door::McpHttp | Door::McpStdio) {
            "near__greet"
        } else {
            "near:greet"
        };
        let answer = door.call(&gateway, tool, &json!({"name": "Ada"})).await;
        assert_eq!(answer["ok"], json!(true), "{door:?}: {answer}");
    }
    let wrong = gateway.call("near:greet", &json!({"name": 5})).await;
    assert_eq!(wrong.body["errors"][0]["code"], json!("INVALID_INPUT"), "{}", wrong.body);
}

#[tokio::test]
async fn a_server_without_prefix_keeps_its_own_names() {
    let entry =
        |name: &str| format!("  {name}: {{ command: '{}', prefix: false }}\n", fixture().display());
    let gateway = Gateway::with().config(&format!("servers:\n{}", entry("first"))).start().await;
    wait_until_listed(&gateway, "greet").await;
    let result = mcp_call(&gateway.url("/mcp"), "greet", json!({"name": "Ada"})).await;
    assert_eq!(result["content"][0]["text"], json!("Hello, Ada!"), "{result}");
    assert_eq!(result["_meta"]["powerstrip/call"]["tool"], json!("first:greet"));
    let by_id = gateway.call("first:greet", &json!({"name": "Ada"})).await.body;
    assert_eq!(by_id["ok"], json!(true), "{by_id}");

    // A name stays with its first tool.
    let both = format!("listen: 127.0.0.1:0\nservers:\n{}{}", entry("first"), entry("second"));
    gateway.write("powerstrip.yaml", &both);
    wait_until_listed(&gateway, "second__greet").await;
    let result = mcp_call(&gateway.url("/mcp"), "greet", json!({"name": "Ada"})).await;
    assert_eq!(result["_meta"]["powerstrip/call"]["tool"], json!("first:greet"));
    let names = listed(&gateway).await;
    assert!(!names.iter().any(|name| name == "first__greet"), "{names:?}");
}
