use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::support::{Gateway, Reply, TIMEOUT, echo, gateway, next_event, put_prompt, shared};

/// A client of a revision with sessions.
pub(crate) struct Client<'a> {
    pub(crate) gateway: &'a Gateway,
    pub(crate) headers: HashMap<&'static str, String>,
}

pub(crate) fn hello(version: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})
}

impl<'a> Client<'a> {
    pub(crate) async fn connect(gateway: &'a Gateway, version: &str) -> (Self, Value) {
        let reply = gateway.send(gateway.mcp(&HashMap::new(), &hello(version))).await;
        assert_eq!(reply.status, StatusCode::OK);
        let session = reply.headers["mcp-session-id"].to_str().unwrap().to_owned();
        let greeting = reply.messages().pop().unwrap();
        let client = Self {
            gateway,
            headers: HashMap::from([
                ("mcp-session-id", session),
                ("mcp-protocol-version", version.to_owned()),
            ]),
        };
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let accepted = client.send(&ready).await;
        assert_eq!(accepted.status, StatusCode::ACCEPTED);
        (client, greeting["result"].clone())
    }

    pub(crate) async fn send(&self, message: &Value) -> Reply {
        self.gateway.send(self.gateway.mcp(&self.headers, message)).await
    }

    pub(crate) async fn ask(&self, id: impl Into<Value>, method: &str, params: Value) -> Value {
        let id = id.into();
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let answer = self.send(&message).await.messages().pop().unwrap();
        assert_eq!(answer["id"], id);
        answer
    }
}

#[tokio::test]
async fn every_old_revision_is_supported() {
    let gateway = gateway().await;
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let (client, greeting) = Client::connect(&gateway, version).await;
        assert_eq!(greeting["protocolVersion"], json!(version));
        assert_eq!(greeting["serverInfo"]["name"], json!("powerstrip"));
        let resources = &greeting["capabilities"]["resources"];
        assert!(resources.is_object() && resources.get("subscribe").is_none(), "files alone");
        assert!(greeting["instructions"].is_string());

        let listed = client.ask(1, "tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap();
        assert!(listed["result"].get("ttlMs").is_none());
        let list = tools.iter().find(|tool| tool["name"] == "test_list").unwrap();
        assert_eq!(
            list["outputSchema"],
            json!({"type": "object", "required": ["result"], "properties": {"result": {
                "type": "array", "items": {"$ref": "#/properties/result/$defs/n"},
                "$defs": {"n": {"type": "integer"}}}}})
        );

        let called = client.ask(2, "tools/call", json!({"name": "test_list"})).await;
        assert_eq!(called["result"]["structuredContent"], json!({"result": [1, 2, 3]}));
        assert_eq!(called["result"]["content"][0]["text"], json!("[1,2,3]"));
        assert!(called["result"].get("resultType").is_none());
        let echoed = client
            .ask("x", "tools/call", json!({"name": "test.echo", "arguments": {"a": 1}}))
            .await;
        assert_eq!(echoed["result"]["structuredContent"], json!({"a": 1}));

        let unknown = client.ask(3, "tools/call", json!({"name": "nothing"})).await;
        assert_eq!(unknown["error"]["code"], json!(-32602));
        let resources = client.ask(4, "resources/list", json!({})).await;
        assert_eq!(resources["result"]["resources"], json!([]));
        assert!(client.ask(5, "ping", json!({})).await["result"].is_object());
    }
}

#[tokio::test]
async fn prompts_are_listed_rendered_and_completed() {
    let gateway = gateway().await;
    let _prompts = put_prompt(&gateway.strip);
    let (client, _) = Client::connect(&gateway, "2025-06-18").await;
    let listed = client.ask(1, "prompts/list", json!({})).await;
    let prompt = &listed["result"]["prompts"][0];
    assert_eq!(prompt["name"], json!("research/outline"));
    assert_eq!(prompt["title"], json!("Outline"));
    assert_eq!(
        prompt["arguments"][0],
        json!({"name": "topic", "description": "What about", "required": true})
    );
    let arguments = json!({"topic": "tea", "tone": "dry"});
    for name in ["research/outline", "research/outline@1", "mcp.prompt:research/outline@1"] {
        let got = client.ask(2, "prompts/get", json!({"name": name, "arguments": arguments})).await;
        let message = &got["result"]["messages"][0];
        assert_eq!(message["role"], json!("user"));
        assert_eq!(message["content"]["text"], json!("Outline tea dry."));
    }
    let reference = json!({"type": "ref/prompt", "name": "research/outline"});
    let argument = json!({"name": "tone", "value": "w"});
    let completed =
        client.ask(3, "completion/complete", json!({"ref": reference, "argument": argument})).await;
    assert_eq!(completed["result"]["completion"]["values"], json!(["warm"]));

    for (method, params) in [
        ("prompts/get", json!({"name": "research/nothing"})),
        ("prompts/get", json!({"name": "no slash"})),
        ("prompts/get", json!({"name": "research/outline", "arguments": {"topic": "tea"}})),
        ("completion/complete", json!({"ref": reference, "argument": {"name": "no", "value": ""}})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/resource", "uri": "x://y"}, "argument": argument}),
        ),
    ] {
        let refused = client.ask(4, method, params.clone()).await;
        assert_eq!(refused["error"]["code"], json!(-32602), "{method} {params}");
    }
}

#[tokio::test]
async fn a_session_needs_its_id_and_ends_on_delete() {
    let gateway = gateway().await;
    let (client, _) = Client::connect(&gateway, "2025-06-18").await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for id in ["made-up", "", "00000000-0000-0000-0000-000000000000"] {
        let headers = HashMap::from([("mcp-session-id", id.to_owned())]);
        let reply = gateway.send(gateway.mcp(&headers, &ping)).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{id}");
        assert_eq!(reply.json()["error"]["code"], json!(-32001));
    }
    let without = gateway.send(gateway.mcp(&HashMap::new(), &ping)).await;
    assert_eq!(without.status, StatusCode::BAD_REQUEST);

    let close = gateway
        .request(Method::DELETE, "/mcp")
        .header("mcp-session-id", &client.headers["mcp-session-id"]);
    let closed = gateway.send(close.body(Full::default()).unwrap()).await;
    assert_eq!(closed.status, StatusCode::NO_CONTENT, "clients treat other statuses as a failure");
    assert_eq!(client.send(&ping).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn sessions_are_notified_of_changes_without_a_subscription() {
    let gateway = gateway().await;
    let (client, _) = Client::connect(&gateway, "2025-11-25").await;
    // Once a request is answered, the session has handled the notification before it.
    client.ask(1, "ping", json!({})).await;
    let request = gateway
        .request(Method::GET, "/mcp")
        .header("accept", "text/event-stream")
        .header("mcp-session-id", &client.headers["mcp-session-id"])
        .header("mcp-protocol-version", "2025-11-25");
    let mut stream =
        gateway.open(request.body(Full::default()).unwrap()).await.unwrap().into_body();
    gateway.strip.catalog().publish("later", shared(vec![echo("later.echo")]));
    next_event(&mut stream, |m| m["method"] == "notifications/tools/list_changed").await;
    let listed = client.ask(2, "tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "later_echo"));
}

#[tokio::test]
async fn a_cancelled_notification_reaches_the_call() {
    let mut gateway = gateway().await;
    let (client, _) = Client::connect(&gateway, "2025-11-25").await;
    let headers = client.headers.clone();
    let call =
        json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "test_slow"}});
    let response = gateway.open(gateway.mcp(&headers, &call)).await.unwrap();
    gateway.gate.begun.recv().await.unwrap();
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}});
    let accepted = gateway.send(gateway.mcp(&headers, &cancel)).await;
    assert_eq!(accepted.status, StatusCode::ACCEPTED);
    let cancelled = tokio::time::timeout(TIMEOUT, gateway.gate.cancelled.recv());
    cancelled.await.expect("the call is cancelled").unwrap();
    drop(response);
}

/// A plain call is answered with one document; a call that may send more, with an event stream.
#[tokio::test]
async fn a_plain_call_is_answered_with_one_document() {
    let mut gateway = gateway().await;
    let (client, _) = Client::connect(&gateway, "2025-11-25").await;
    let kind = |reply: &Reply| reply.headers["content-type"].to_str().unwrap().to_owned();
    let call = |id: u64, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
    // A call that takes 100 ms becomes a stream, as do later calls of its tool; on a busy machine any call may.
    let alike = (0..100).map(|n| echo(&format!("alike.echo{n}"))).collect();
    gateway.strip.catalog().publish("alike", shared(alike));
    let mut plain = None;
    for n in 0..100 {
        let began = Instant::now();
        let params = json!({"name": format!("alike_echo{n}"), "arguments": {"a": 1}});
        let reply = client.send(&call(1, params)).await;
        if began.elapsed() < Duration::from_millis(100) {
            plain = Some(reply);
            break;
        }
    }
    let plain = plain.expect("one of a hundred calls is quick");
    assert_eq!(kind(&plain), "application/json");
    assert_eq!(plain.json()["result"]["structuredContent"], json!({"a": 1}));
    let reports = json!({"name": "test_echo", "_meta": {"progressToken": 7}});
    let streamed = client.send(&call(2, reports)).await;
    assert_eq!((kind(&streamed).as_str(), streamed.messages().len()), ("text/event-stream", 1));

    let headers = client.headers.clone();
    let slow = gateway.mcp(&headers, &call(3, json!({"name": "test_slow"})));
    let response = gateway.open(slow).await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream", "it is slow");
    gateway.gate.begun.recv().await.unwrap();
    drop(response);
    // The client has disconnected, but the call runs until it is cancelled.
    tokio::task::yield_now().await;
    assert!(gateway.gate.cancelled.try_recv().is_err());
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}});
    assert_eq!(gateway.send(gateway.mcp(&headers, &cancel)).await.status, StatusCode::ACCEPTED);
    gateway.gate.cancelled.recv().await.unwrap();
}

#[tokio::test]
async fn two_hundred_sessions_with_the_same_ids_get_their_own_answers() {
    let gateway = Arc::new(gateway().await);
    let clients: Vec<_> = (0..200)
        .map(|number| {
            let gateway = Arc::clone(&gateway);
            tokio::spawn(async move {
                let (client, _) = Client::connect(&gateway, "2025-06-18").await;
                for id in 1..=3 {
                    let arguments = json!({"client": number, "id": id});
                    let params = json!({"name": "test_echo", "arguments": arguments});
                    let answer = client.ask(id, "tools/call", params).await;
                    assert_eq!(answer["result"]["structuredContent"], arguments, "{answer}");
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
}
