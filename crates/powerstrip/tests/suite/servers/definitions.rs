//! What a server says about its tools, and what it announces, reaches clients as it came.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::Gateway;

use crate::servers::peer::{LegacyPeer, Peer};
use crate::servers::support::wait_until_listed;

/// A server with one tool whose definition has fields that the gateway does not know. Its call announces a change of the
/// tools, although there is none.
const SERVER: &str = r#"
import json, sys
TOOL = {
    "name": "draw",
    "title": "Draw",
    "description": "Draws a picture.",
    "inputSchema": {"type": "object", "properties": {}},
    "outputSchema": {"type": "object", "properties": {
        "note": {"type": "string"}, "kind": {"type": "string", "enum": ["a"]}, "size": {"type": "integer"}}},
    "icons": [{"src": "https://example.com/draw.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}],
    "execution": {"taskSupport": "optional", "queue": "slow"},
    "x-vendor": {"tier": 2},
    "annotations": {"readOnlyHint": True, "audienceHint": "artists"},
}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    def send(answer):
        print(json.dumps({"jsonrpc": "2.0", **answer}), flush=True)
    method, id = message["method"], message["id"]
    if method == "initialize":
        capabilities = {"tools": {"listChanged": True}}
        send({"id": id, "result": {"protocolVersion": "2025-11-25", "capabilities": capabilities,
              "serverInfo": {"name": "art", "version": "1"}}})
    elif method == "tools/list":
        send({"id": id, "result": {"tools": [TOOL]}})
    elif method == "tools/call":
        send({"method": "notifications/tools/list_changed"})
        send({"id": id, "result": {"content": [], "structuredContent": {"note": "n", "kind": "a", "size": 1}}})
    else:
        send({"id": id, "error": {"code": -32601, "message": method}})
"#;

async fn gateway() -> Gateway {
    let config = "servers:\n  art: { command: python3, args: [server.py] }\n";
    let gateway = Gateway::with().config(config).file("server.py", SERVER).start().await;
    wait_until_listed(&gateway, "art__draw").await;
    gateway
}

fn find(listed: &Value) -> Value {
    let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
    tools.iter().find(|tool| tool["name"] == "art__draw").cloned().expect("the tool")
}

#[tokio::test]
async fn a_definition_passes_as_it_came_in_every_era() {
    let gateway = gateway().await;
    let legacy = LegacyPeer::open(&gateway, json!({})).await;
    let pages = [
        Peer::modern(&gateway).ask("tools/list", json!({})).await.answer,
        legacy.request("tools/list", json!({}), |_| None).await,
        over_stdio(&gateway).await,
    ];
    for page in pages {
        let tool = find(&page);
        let icon = json!([{"src": "https://example.com/draw.png", "mimeType": "image/png",
            "sizes": ["48x48"], "theme": "dark"}]);
        assert_eq!(tool["icons"], icon, "{tool}");
        assert_eq!(tool["execution"], json!({"taskSupport": "optional", "queue": "slow"}));
        assert_eq!(tool["x-vendor"], json!({"tier": 2}));
        assert_eq!(tool["annotations"], json!({"readOnlyHint": true, "audienceHint": "artists"}));
        let output = &tool["outputSchema"];
        assert_eq!(output["type"], json!("object"), "{output}");
        assert_eq!(output["properties"]["note"]["anyOf"][0], json!({"type": "string"}));
        assert_eq!(output["properties"]["kind"], json!({"type": "string", "enum": ["a"]}));
        assert_eq!(output["properties"]["size"], json!({"type": "integer"}));
    }
}

/// The tools as `powerstrip stdio` lists them.
async fn over_stdio(gateway: &Gateway) -> Value {
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
    ];
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let output = gateway.run_with_input(&["stdio"], &input).await;
    let answer = output.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    answer.into_iter().find(|message| message["id"] == 2).unwrap_or_else(|| panic!("{output:?}"))
}

#[tokio::test]
async fn an_announced_change_reaches_clients_even_if_the_list_is_the_same() {
    let gateway = gateway().await;
    let legacy = LegacyPeer::open(&gateway, json!({})).await;
    let mut notices = legacy.listen().await;
    let mut listening = Peer::modern(&gateway).listen(json!({"toolsListChanged": true})).await;
    legacy.call("art__draw", json!({}), |_| Value::Null).await;
    for stream in [&mut notices, &mut listening] {
        let changed = stream.next("notifications/tools/list_changed");
        tokio::time::timeout(Duration::from_secs(20), changed).await.expect("a notification");
    }
}
