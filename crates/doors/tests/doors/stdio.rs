use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream,
};
use tokio::task::JoinHandle;

use crate::support::{Gate, TIMEOUT, echo, modern, settings, shared, strip};

struct Pipe {
    client: BufReader<DuplexStream>,
    strip: std::sync::Arc<strip::Strip>,
    gate: Gate,
    served: JoinHandle<std::io::Result<()>>,
    _folder: tempfile::TempDir,
}

async fn pipe() -> Pipe {
    let (strip, gate, folder) = strip(settings()).await;
    let (client, server) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(server);
    let user = auth::LocalAccess::default().user();
    let served = tokio::spawn(doors::serve_session(strip.clone(), user, read, write));
    Pipe { client: BufReader::new(client), strip, gate, served, _folder: folder }
}

impl Pipe {
    async fn send(&mut self, message: &Value) {
        self.client.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        let mut line = String::new();
        let reading = self.client.read_line(&mut line);
        tokio::time::timeout(TIMEOUT, reading).await.expect("a line in time").unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    async fn initialize(&mut self) {
        self.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}))
            .await;
        assert_eq!(self.receive().await["result"]["protocolVersion"], json!("2025-06-18"));
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    }
}

#[tokio::test]
async fn old_clients_are_served_line_by_line() {
    let mut pipe = pipe().await;
    pipe.initialize().await;
    pipe.send(&json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call",
        "params": {"name": "test_whoami"}}))
        .await;
    let answer = pipe.receive().await;
    assert_eq!(answer["id"], json!("a"));
    assert_eq!(answer["result"]["structuredContent"]["door"], json!("mcp-stdio"));
    assert_eq!(answer["result"]["structuredContent"]["subject"], json!("local"));
    pipe.send(&json!({"jsonrpc": "2.0", "id": 5, "method": "ping"})).await;
    assert_eq!(pipe.receive().await["id"], json!(5));
    pipe.strip.catalog().publish("later", shared(vec![echo("later.echo")]));
    assert_eq!(pipe.receive().await["method"], json!("notifications/tools/list_changed"));
}

#[tokio::test]
async fn lines_that_are_not_json_are_answered_and_the_session_goes_on() {
    let mut pipe = pipe().await;
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let request = |id: u64, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{params}}}"#)
    };
    // Also before the session is initialized.
    let lines = [
        ("{garbage".to_owned(), -32700, Value::Null),
        (request(1, r#"{"n":1e400}"#), -32600, json!(1)),
        (request(2, &deep), -32600, json!(2)),
        ("]".to_owned(), -32700, Value::Null),
    ];
    for _ in 0..2 {
        for (line, code, id) in &lines {
            pipe.client.write_all(format!("{line}\n").as_bytes()).await.unwrap();
            let answer = pipe.receive().await;
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), id), "{line}");
        }
        pipe.send(&json!({"jsonrpc": "2.0", "id": 5, "method": "ping"})).await;
        assert_eq!(pipe.receive().await["id"], json!(5));
    }
    pipe.initialize().await;
}

#[tokio::test]
async fn half_a_character_in_a_line_is_replaced() {
    let mut pipe = pipe().await;
    pipe.initialize().await;
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_echo","arguments":{"t":"\ud83d x"}}}"#;
    pipe.client.write_all(format!("{call}\n").as_bytes()).await.unwrap();
    let answer = pipe.receive().await;
    assert_eq!(answer["result"]["structuredContent"], json!({"t": "\u{fffd} x"}), "{answer}");
}

#[tokio::test]
async fn new_clients_need_no_initialize() {
    let mut pipe = pipe().await;
    let (_, discover) = modern(json!(1), "server/discover", json!({}));
    pipe.send(&discover).await;
    assert!(pipe.receive().await["result"]["supportedVersions"].is_array());
    let (_, list) = modern(json!(2), "tools/list", json!({}));
    pipe.send(&list).await;
    assert!(pipe.receive().await["result"]["tools"].as_array().unwrap().len() > 5);
    let (_, call) = modern(json!(3), "tools/call", json!({"name": "test_list"}));
    pipe.send(&call).await;
    assert_eq!(pipe.receive().await["result"]["structuredContent"], json!([1, 2, 3]));
}

#[tokio::test]
async fn a_cancelled_notification_reaches_the_call() {
    let mut pipe = pipe().await;
    pipe.initialize().await;
    pipe.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "test_slow"}})).await;
    pipe.gate.begun.recv().await.unwrap();
    pipe.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}),
    )
    .await;
    let cancelled = tokio::time::timeout(TIMEOUT, pipe.gate.cancelled.recv());
    cancelled.await.expect("the call is cancelled").unwrap();
}

#[tokio::test]
async fn a_last_line_without_a_newline_is_still_answered() {
    let mut pipe = pipe().await;
    pipe.initialize().await;
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "test_echo", "arguments": {"last": true}}});
    let stream = pipe.client.get_mut();
    stream.write_all(call.to_string().as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(pipe.receive().await["result"]["structuredContent"], json!({"last": true}));
    pipe.served.await.unwrap().unwrap();
}

#[tokio::test]
async fn disconnecting_without_a_message_is_no_error() {
    for said in ["", "\n\n", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"] {
        let mut pipe = pipe().await;
        pipe.client.write_all(said.as_bytes()).await.unwrap();
        pipe.client.shutdown().await.unwrap();
        pipe.served.await.unwrap().unwrap();
        let mut rest = String::new();
        pipe.client.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest.contains("\"id\":1"), said.contains("ping"));
    }
}
