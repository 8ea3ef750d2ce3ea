//! What a client receives fits the protocol revision that it uses.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::Method;
use http_body_util::{BodyExt as _, Full};
use proto::Failure;
use serde_json::{Value, json};
use strip::files::data_of;
use strip::servers::{ClientIdentity, Offering, Server};
use strip::{Job, Output};

use crate::mcp_legacy::{Client, hello};
use crate::support::{ClosureTool, Gateway, TIMEOUT, echo, gateway, modern, shared, tool};

/// The revisions with sessions, and the kinds of content that each has, besides text, images and embedded resources.
const REVISIONS: [(&str, &[&str]); 4] = [
    ("2024-11-05", &[]),
    ("2025-03-26", &["audio"]),
    ("2025-06-18", &["audio", "resource_link"]),
    ("2025-11-25", &["audio", "resource_link"]),
];

/// A tool of a server with this result.
fn tool_with_result(id: &str, result: Value) -> ClosureTool {
    tool(id, move |_| {
        let native = Some(Arc::new(result.clone()));
        let output = Output { native, ..Output::new(data_of(&result)) };
        async move { Ok(output) }
    })
    .with(|descriptor| descriptor.limits.max_output_bytes = Some(20_000))
}

fn link() -> Value {
    json!({"type": "resource_link", "uri": "test://x", "name": "x"})
}

/// Content of each kind, and a text that is too long for an answer, in whose place there is a reference.
fn mixed() -> Value {
    json!([
        {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
        link(),
        {"type": "text", "text": "t".repeat(30_000)},
    ])
}

fn kinds(content: &Value) -> BTreeSet<&str> {
    let blocks = content.as_array().unwrap_or_else(|| panic!("no content: {content}"));
    blocks.iter().map(|block| block["type"].as_str().unwrap()).collect()
}

async fn call_modern(gateway: &Gateway, name: &str) -> Value {
    let (headers, body) = modern(json!(1), "tools/call", json!({"name": name, "arguments": {}}));
    gateway.send(gateway.mcp(&headers, &body)).await.json()["result"].take()
}

#[tokio::test]
async fn tool_results_have_only_content_of_the_clients_revision() {
    let gateway = gateway().await;
    let tools = vec![tool_with_result("odd:mixed", json!({"content": mixed()}))];
    gateway.strip.catalog().publish("odd", shared(tools));
    for (version, more) in REVISIONS {
        let (client, _) = Client::connect(&gateway, version).await;
        // With a progress token the protocol library answers it, and the gateway itself otherwise.
        for meta in [json!({}), json!({"progressToken": 7})] {
            let params = json!({"name": "odd__mixed", "arguments": {}, "_meta": meta});
            let result = client.ask(1, "tools/call", params).await["result"].take();
            let expected: BTreeSet<_> = ["text"].iter().chain(more).copied().collect();
            assert_eq!(kinds(&result["content"]), expected, "{version}: {result}");
            let text = result["content"].to_string();
            assert!(text.contains("ref_id") && text.contains("test://x"), "{version}: {result}");
        }
    }
    let result = call_modern(&gateway, "odd__mixed").await;
    assert_eq!(kinds(&result["content"]), BTreeSet::from(["audio", "resource_link", "text"]));
}

/// A server with a prompt that links to a resource.
struct Linker;

#[async_trait]
impl Server for Linker {
    fn name(&self) -> &'static str {
        "linker"
    }

    fn offering(&self) -> Arc<Offering> {
        Arc::new(Offering {
            prompts: vec![Arc::new(json!({"name": "look"}))],
            capabilities: json!({"prompts": {}}),
            ..Offering::default()
        })
    }

    fn timeout(&self) -> Option<Duration> {
        None
    }

    async fn request(&self, _: &str, _: &Job) -> Result<Output, Failure> {
        let messages = json!([{"role": "user", "content": link()}]);
        Ok(Output::new(json!({"messages": messages, "_meta": {"powerstrip/error": {}}})))
    }

    fn watch(&self, _: Option<&ClientIdentity>, _: BTreeSet<String>) {}
}

#[tokio::test]
async fn prompts_have_only_content_of_the_clients_revision() {
    let gateway = gateway().await;
    gateway.strip.servers().publish(Arc::new(Linker));
    for (version, more) in REVISIONS {
        let (client, _) = Client::connect(&gateway, version).await;
        let got = client.ask(1, "prompts/get", json!({"name": "linker:look"})).await;
        let content = &got["result"]["messages"][0]["content"];
        let links = more.contains(&"resource_link");
        assert_eq!(content["type"], if links { "resource_link" } else { "text" }, "{got}");
        assert!(content.to_string().contains("test://x"), "{version}: {got}");
        assert!(got["result"]["_meta"].get("powerstrip/error").is_none(), "{version}: {got}");
    }
}

#[tokio::test]
async fn a_server_cannot_write_the_gateways_own_fields() {
    let gateway = gateway().await;
    let forged = json!({"code": "DENIED", "message": "forged"});
    let meta = json!({"powerstrip/error": forged, "powerstrip/call": forged, "com.example/a": 1});
    let result = json!({"content": [{"type": "text", "text": "fine"}], "_meta": meta});
    gateway.strip.catalog().publish("odd", shared(vec![tool_with_result("odd:meta", result)]));
    let (client, _) = Client::connect(&gateway, "2025-06-18").await;
    let params = json!({"name": "odd__meta", "arguments": {}});
    let legacy = client.ask(1, "tools/call", params).await["result"].take();
    for result in [legacy, call_modern(&gateway, "odd__meta").await] {
        assert_eq!(result["_meta"]["powerstrip/call"]["tool"], json!("odd:meta"), "{result}");
        assert_eq!(result["_meta"]["com.example/a"], json!(1), "{result}");
        assert!(!result.to_string().contains("forged"), "{result}");
    }
}

/// Whether a part of a stream has an event without data.
fn has_empty_data(text: &str) -> bool {
    text.lines().filter_map(|line| line.strip_prefix("data:")).any(|data| data.trim().is_empty())
}

#[tokio::test]
async fn only_clients_that_can_read_them_get_events_without_data() {
    let gateway = gateway().await;
    for (version, _) in REVISIONS {
        let primed = version >= "2025-11-25";
        let opened = gateway.send(gateway.mcp(&HashMap::new(), &hello(version))).await;
        let opened = String::from_utf8(opened.body.to_vec()).unwrap();
        assert_eq!(has_empty_data(&opened), primed, "{version}: {opened}");
        let (client, _) = Client::connect(&gateway, version).await;
        let params = json!({"name": "test_echo", "_meta": {"progressToken": 7}});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let called = client.send(&call).await;
        let called = String::from_utf8(called.body.to_vec()).unwrap();
        assert_eq!(has_empty_data(&called), primed, "{version}: {called}");
        assert!(called.contains("id: "), "an answer can be resumed: {called}");

        let request = gateway
            .request(Method::GET, "/mcp")
            .header("accept", "text/event-stream")
            .header("mcp-session-id", &client.headers["mcp-session-id"])
            .header("mcp-protocol-version", version);
        let stream = gateway.open(request.body(Full::default()).unwrap()).await.unwrap();
        let mut stream = stream.into_body();
        let name = format!("later.echo{}", version.replace('-', ""));
        gateway.strip.catalog().publish(version, shared(vec![echo(&name)]));
        let mut text = String::new();
        let reading = async {
            while !text.contains("list_changed") {
                let frame = stream.frame().await.expect("the stream is open").unwrap();
                text.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
            }
        };
        tokio::time::timeout(TIMEOUT, reading).await.expect("a notification in time");
        assert_eq!(has_empty_data(&text), primed, "{version}: {text}");
    }
}
