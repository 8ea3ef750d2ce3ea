//! The working folder of programs, and what a confined one may read there.

use serde_json::{Value, json};
use testkit::{Gateway, initialize_message, legacy_request};

use crate::servers::support::wait_until_listed;

/// A server that says where it runs, and which of some files it can read.
const SERVER: &str = r#"
import json, os, sys

def readable(path):
    try:
        open(path).read()
        return True
    except OSError:
        return False

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
    elif method == "tools/list":
        result = {"tools": [{"name": "where", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        said = {"cwd": os.getcwd(), "config": readable("powerstrip.yaml"), "data": readable("data/x")}
        result = {"content": [], "structuredContent": said}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": method}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

async fn gateway(entries: &str) -> Gateway {
    Gateway::with()
        .config(&format!("servers:\n{entries}"))
        .file("servers/where.py", SERVER)
        .file("data/x", "x")
        .start()
        .await
}

async fn ask(gateway: &Gateway, server: &str) -> Value {
    wait_until_listed(gateway, &format!("{server}__where")).await;
    let answer = gateway.call(&format!("{server}:where"), &json!({})).await.body;
    assert_eq!(answer["ok"], json!(true), "{answer}");
    answer["data"].clone()
}

#[tokio::test]
async fn a_program_runs_in_the_folder_of_the_config() {
    let gateway = gateway(
        "  near: { command: python3, args: [servers/where.py] }\n  \
           deep: { command: python3, args: [where.py], cwd: servers }\n",
    )
    .await;
    let folder = gateway.folder().canonicalize().unwrap();
    let near = ask(&gateway, "near").await;
    assert_eq!(near, json!({"cwd": folder, "config": true, "data": true}));
    let deep = ask(&gateway, "deep").await;
    assert_eq!(deep["cwd"], json!(folder.join("servers")));
}

#[tokio::test]
async fn a_confined_program_reads_what_its_sandbox_names() {
    let gateway = gateway(
        "  near: { command: python3, args: [servers/where.py], sandbox: { mode: auto, read: [servers, data] } }\n",
    )
    .await;
    let near = ask(&gateway, "near").await;
    assert_eq!(near["cwd"], json!(gateway.folder().canonicalize().unwrap()));
    assert_eq!(near["data"], json!(true), "{near}");
    let doctor = gateway.run(&["doctor", "--json"]).await.json();
    if doctor["sandbox"]["tier"] == "T0" {
        testkit::skip_on_this_host("it confines no files");
        return;
    }
    assert_eq!(near["config"], json!(false), "the config may hold secrets");
}

/// A client may ask for a version that has no `initialize`.
#[tokio::test]
async fn initialize_is_answered_in_the_newest_version_that_has_it() {
    let gateway = Gateway::start().await;
    for version in [testkit::MODERN, "2025-11-25", "1999-01-01"] {
        let post = reqwest::Client::new().post(gateway.url("/mcp"));
        let message = initialize_message(version, json!({}));
        let response = legacy_request(post, version, "", &message).send().await.unwrap();
        assert!(response.headers().contains_key("mcp-session-id"), "{version}");
        let text = response.text().await.unwrap();
        assert!(text.contains(r#""protocolVersion":"2025-11-25""#), "{version}: {text}");
    }
}
