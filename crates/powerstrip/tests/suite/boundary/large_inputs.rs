//! Every door accepts inputs up to the configured limit.

use serde_json::json;
use testkit::{Door, Gateway, StdioSession};

const SIZE: usize = 5_000_000;

#[tokio::test]
async fn every_door_accepts_the_largest_configured_input() {
    let gateway = Gateway::with().config("limits: { max_input_bytes: 6MB }").start().await;
    let input = json!({"text": "x".repeat(SIZE)});
    let expected = json!(SIZE);
    for door in [Door::Http, Door::McpHttp, Door::Lsp, Door::McpStdio] {
        let answer = door.call(&gateway, "text.stats", &input).await;
        assert_eq!(answer["data"]["characters"], expected, "{door:?}: {answer}");
    }
}

#[tokio::test]
async fn an_oversized_input_is_refused_and_the_session_continues() {
    let gateway = Gateway::start().await;
    let input = json!({"text": "x".repeat(SIZE)});
    let answer = gateway.post_without_body("/mcp/tool/text.stats", SIZE).await;
    assert_eq!(answer["errors"][0]["details"]["limit"], json!(4 << 20));
    let mut session = StdioSession::start(&gateway);
    let answer =
        session.lsp("mcp.tool.invoke", &json!({"tool": "text.stats", "input": input})).await;
    assert_eq!(answer["error"]["code"], json!(-32600), "{answer}");
    let answer = session.lsp("mcp.discover", &json!({})).await;
    assert_eq!(answer["result"]["server"]["name"], json!("powerstrip"));
}
