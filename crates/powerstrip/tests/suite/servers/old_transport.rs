//! Servers of 2024-11-05, whose answers arrive on a stream of events.

use serde_json::{Value, json};
use testkit::{Gateway, SseServer, eventually};

use crate::servers::peer::LegacyPeer;
use crate::servers::support::{over_http, wait_until_listed};

async fn gateway(entries: &str) -> Gateway {
    Gateway::with().config(&format!("servers:\n{entries}")).start().await
}

async fn echo(gateway: &Gateway, text: &str) -> Value {
    gateway.call("old:echo", &json!({"text": text})).await.body
}

#[tokio::test]
async fn the_old_transport_is_found_and_its_tools_work() {
    let server = SseServer::start().await;
    let gateway = gateway(&over_http("old", &server.url())).await;
    wait_until_listed(&gateway, "old__echo").await;
    assert!(server.refused() > 0, "streamable HTTP is tried first");
    let answers = futures_util::future::join_all((0..20).map(|number| {
        let gateway = &gateway;
        async move { (number, echo(gateway, &format!("text {number}")).await) }
    }));
    for (number, answer) in answers.await {
        let text = answer["data"]["content"][0]["text"].as_str().unwrap_or_default();
        assert_eq!(text, format!(r#"{{"text":"text {number}"}}"#), "{answer}");
    }

    let peer = LegacyPeer::open(&gateway, json!({"elicitation": {}})).await;
    let (asked, answer) = peer
        .call("old__greet", json!({}), |request| {
            assert_eq!(request["params"]["message"], json!("Who is it?"));
            json!({"action": "accept", "content": {"name": "Ada"}})
        })
        .await;
    assert_eq!(asked, 1);
    assert_eq!(answer["result"]["content"][0]["text"], json!("Hello, Ada!"), "{answer}");

    server.add_tool("later");
    wait_until_listed(&gateway, "old__later").await;
}

#[tokio::test]
async fn a_stream_that_ended_is_opened_again() {
    let server = SseServer::start().await;
    let entry = format!("  old: {{ url: '{}', transport: sse }}\n", server.url());
    let gateway = gateway(&entry).await;
    wait_until_listed(&gateway, "old__echo").await;
    assert_eq!(echo(&gateway, "a").await["ok"], json!(true));
    assert_eq!(server.refused(), 0, "the configured transport is used at once");
    let before = server.streams();
    server.end_streams();
    eventually("the tool works again", || async {
        (echo(&gateway, "b").await["ok"] == json!(true)).then_some(())
    })
    .await;
    assert!(server.streams() > before);
    // The gateway's own stream is back, too.
    eventually("changes are noticed", || async {
        server.add_tool("later");
        let tools = testkit::mcp_tools(&gateway.url("/mcp")).await;
        tools.iter().any(|tool| tool["name"] == "old__later").then_some(())
    })
    .await;
}

#[tokio::test]
async fn messages_are_not_posted_to_another_origin() {
    let thief = SseServer::start().await;
    let server = SseServer::misdirecting(&thief.url()).await;
    let gateway = gateway(&over_http("old", &server.url())).await;
    eventually("the stream was opened", || async { (server.streams() > 0).then_some(()) }).await;
    let servers = eventually("the reason is shown", || async {
        let shown = gateway.get("/v1/servers").await.body.to_string();
        shown.contains("another origin than the server").then_some(shown)
    })
    .await;
    assert!(!servers.contains("old__echo"));
    assert_eq!((thief.refused(), thief.streams()), (0, 0), "nothing was sent there");
}

#[tokio::test]
async fn a_url_without_a_server_says_what_was_tried() {
    let service = testkit::Service::start().await;
    let gateway = gateway(&over_http("old", &service.url("/status/404"))).await;
    eventually("the reason is shown", || async {
        let shown = gateway.get("/v1/servers").await.body.to_string();
        shown.contains("neither over streamable HTTP nor over HTTP+SSE").then_some(())
    })
    .await;
}
