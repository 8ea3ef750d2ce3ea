use std::sync::Arc;

use remote::{LspClient, LspError};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::task::JoinHandle;

use crate::support::{Gate, TIMEOUT, put_prompt, settings, strip};

struct Session {
    client: DuplexStream,
    gate: Gate,
    served: JoinHandle<std::io::Result<()>>,
    _folder: TempDir,
}

async fn session() -> Session {
    let (strip, gate, folder) = strip(settings()).await;
    let (client, server) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(server);
    let user = auth::LocalAccess::default().user();
    let served = tokio::spawn(doors::serve_session(strip, user, read, write));
    Session { client, gate, served, _folder: folder }
}

fn frame(body: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

fn invoke(id: impl Into<Value>, tool: &str, input: Value) -> String {
    let params = json!({"tool": tool, "input": input});
    frame(
        &json!({"jsonrpc": "2.0", "id": id.into(), "method": "mcp.tool.invoke", "params": params})
            .to_string(),
    )
}

async fn answer(client: &mut DuplexStream) -> Value {
    let reading = async {
        let mut header = Vec::new();
        while !header.ends_with(b"\r\n\r\n") {
            header.push(client.read_u8().await.unwrap());
        }
        let header = String::from_utf8(header).unwrap();
        let length: usize =
            header.trim().strip_prefix("Content-Length: ").unwrap().parse().unwrap();
        let mut body = vec![0; length];
        client.read_exact(&mut body).await.unwrap();
        serde_json::from_slice(&body).unwrap()
    };
    tokio::time::timeout(TIMEOUT, reading).await.expect("an answer in time")
}

#[tokio::test]
async fn the_three_methods_answer() {
    let session = session().await;
    let client = LspClient::connect(session.client);
    let discovery = client.request("mcp.discover", json!({})).await.unwrap();
    assert_eq!(discovery["server"]["name"], json!("powerstrip"));
    let envelope = client
        .request("mcp.tool.invoke", json!({"tool": "test.echo", "input": {"a": 1}}))
        .await
        .unwrap();
    assert_eq!(envelope["ok"], json!(true));
    assert_eq!(envelope["data"], json!({"a": 1}));
    assert_eq!(envelope["meta"]["tool"], json!("test.echo"));
    let who = client.request("mcp.tool.invoke", json!({"tool": "test.whoami"})).await.unwrap();
    assert_eq!(who["data"]["door"], json!("lsp"));
    let with_options =
        json!({"tool": "test.key", "input": {}, "idempotencyKey": "k", "timeoutMs": 20_000});
    let with_options = client.request("mcp.tool.invoke", with_options).await.unwrap();
    assert_eq!(with_options["data"], json!({"key": "k", "verify": false, "timeout": 20_000}));

    // A failed call is a result; an invalid request is an error.
    for (tool, code) in
        [("test.fail", "UNAVAILABLE"), ("nothing", "NOT_FOUND"), ("test.panic", "INTERNAL")]
    {
        let failed = client.request("mcp.tool.invoke", json!({"tool": tool})).await.unwrap();
        assert_eq!(failed["ok"], json!(false), "{tool}");
        assert_eq!(failed["errors"][0]["code"], json!(code), "{tool}");
    }
    for (method, params, expected) in [
        ("mcp.nothing", json!({}), -32601),
        ("mcp.tool.invoke", json!({}), -32602),
        ("mcp.tool.invoke", json!({"tool": 7}), -32602),
        ("mcp.tool.invoke", json!([1]), -32602),
        ("mcp.tool.invoke", json!({"tool": "test.key", "idempotencyKey": ""}), -32602),
        ("mcp.tool.invoke", json!({"tool": "test.key", "timeoutMs": 0}), -32602),
        ("mcp.tool.invoke", json!({"tool": "test.echo", "inptu": {}}), -32602),
        ("mcp.prompt.get", json!({"domain": "a", "name": "b", "major": 1}), -32602),
        ("mcp.prompt.get", json!({"domain": "a"}), -32602),
    ] {
        match client.request(method, params).await {
            Err(LspError::Refused { code, .. }) => assert_eq!(code, expected, "{method}"),
            other => panic!("{method}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_command_may_claim_its_door() {
    let session = session().await;
    let client = LspClient::connect(session.client);
    let door = async || {
        let who = client.request("mcp.tool.invoke", json!({"tool": "test.whoami"})).await.unwrap();
        who["data"]["door"].clone()
    };
    client.request("powerstrip.hello", json!({})).await.unwrap();
    assert_eq!(door().await, json!("lsp"));
    for wrong in [json!({"door": "http"}), json!({"dor": "cli"}), json!({"door": 1})] {
        let refused = client.request("powerstrip.hello", wrong).await;
        assert!(matches!(refused, Err(LspError::Refused { code: -32602, .. })), "{refused:?}");
    }
    let hello = client.request("powerstrip.hello", json!({"door": "cli"})).await.unwrap();
    assert_eq!(hello["name"], json!("powerstrip"));
    assert_eq!(door().await, json!("cli"));
}

#[tokio::test]
async fn bad_frames_are_refused_and_the_session_continues() {
    let mut session = session().await;
    let client = &mut session.client;
    let too_large = 4 * 1024 * 1024 + 1;
    let bad = [
        (frame("{"), -32700),
        (frame(""), -32700),
        (frame("[]"), -32600),
        (frame(r#"[{"jsonrpc":"2.0","id":1,"method":"mcp.discover"}]"#), -32600),
        (frame(r#"{"jsonrpc":"1.0","id":1,"method":"mcp.discover"}"#), -32600),
        (frame(r#"{"jsonrpc":"2.0","id":null,"method":"mcp.discover"}"#), -32600),
        (frame(r#"{"jsonrpc":"2.0","id":1}"#), -32600),
        (frame(&"x".repeat(too_large)), -32600),
    ];
    for (bytes, code) in bad {
        let shown: String = bytes.chars().take(80).collect();
        client.write_all(bytes.as_bytes()).await.unwrap();
        let refused = answer(client).await;
        assert_eq!(refused["error"]["code"], json!(code), "{shown}");
    }
    client.write_all(invoke(1, "test.echo", json!({"a": 1})).as_bytes()).await.unwrap();
    assert_eq!(answer(client).await["result"]["data"], json!({"a": 1}));
}

#[tokio::test]
async fn a_stream_without_frames_is_closed_with_a_reason() {
    for bytes in [
        "Content-Length: -5\r\n\r\n".to_owned(),
        "Content-Type: x\r\n\r\n".to_owned(),
        "hello there\r\n\r\n".to_owned(),
        "A: ".to_owned() + &"b".repeat(9_000),
        "Content-Length: 99999999999999\r\n\r\n".to_owned(),
    ] {
        let mut session = session().await;
        session.client.write_all(bytes.as_bytes()).await.unwrap();
        let refused = answer(&mut session.client).await;
        assert_eq!(refused["error"]["code"], json!(-32600));
        assert_eq!(refused["id"], Value::Null);
        session.served.await.unwrap().unwrap();
        assert_eq!(session.client.read(&mut [0; 8]).await.unwrap(), 0);
    }
}

#[tokio::test]
async fn requests_run_concurrently_and_are_answered_by_id() {
    let mut session = session().await;
    let client = &mut session.client;
    client.write_all(invoke("slow", "test.slow", json!({})).as_bytes()).await.unwrap();
    session.gate.begun.recv().await.unwrap();
    client.write_all(invoke("slow", "test.echo", json!({})).as_bytes()).await.unwrap();
    let refused = answer(client).await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!("slow"), &json!(-32600)));
    client.write_all(invoke(2, "test.echo", json!({"b": 2})).as_bytes()).await.unwrap();
    let quick = answer(client).await;
    assert_eq!((&quick["id"], &quick["result"]["data"]), (&json!(2), &json!({"b": 2})));
    session.gate.open.add_permits(1);
    assert_eq!(answer(client).await["id"], json!("slow"));
}

#[tokio::test]
async fn a_request_can_be_cancelled_and_notifications_are_not_answered() {
    let mut session = session().await;
    let client = &mut session.client;
    client.write_all(invoke(1, "test.slow", json!({})).as_bytes()).await.unwrap();
    session.gate.begun.recv().await.unwrap();
    for notification in [
        json!({"jsonrpc": "2.0", "method": "initialized"}),
        json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 77}}),
        json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 1}}),
    ] {
        client.write_all(frame(&notification.to_string()).as_bytes()).await.unwrap();
    }
    session.gate.cancelled.recv().await.unwrap();
    let cancelled = answer(client).await;
    assert_eq!(cancelled["id"], json!(1));
    assert_eq!(cancelled["result"]["ok"], json!(false));
}

#[tokio::test]
async fn requests_before_the_end_of_input_are_still_answered() {
    let mut session = session().await;
    let (read, mut write) = tokio::io::split(session.client);
    let asked: String = (0..5).map(|id| invoke(id, "test.echo", json!({"n": id}))).collect();
    write.write_all(asked.as_bytes()).await.unwrap();
    write.write_all(invoke(9, "test.slow", json!({})).as_bytes()).await.unwrap();
    write.shutdown().await.unwrap();
    session.gate.begun.recv().await.unwrap();
    session.gate.open.add_permits(1);
    let mut client = read.unsplit(write);
    let mut ids: Vec<i64> = Vec::new();
    for _ in 0..6 {
        ids.push(answer(&mut client).await["id"].as_i64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, [0, 1, 2, 3, 4, 9]);
    session.served.await.unwrap().unwrap();
}

#[tokio::test]
async fn concurrent_requests_of_one_client_get_their_own_answers() {
    let session = session().await;
    let client = Arc::new(LspClient::connect(session.client));
    let asking: Vec<_> = (0..500)
        .map(|number| {
            let client = Arc::clone(&client);
            tokio::spawn(async move {
                let params = json!({"tool": "test.echo", "input": {"n": number}});
                let envelope = client.request("mcp.tool.invoke", params).await.unwrap();
                assert_eq!(envelope["data"], json!({"n": number}));
            })
        })
        .collect();
    for asked in asking {
        asked.await.unwrap();
    }
}

#[tokio::test]
async fn a_client_that_stops_waiting_cancels_its_request() {
    let mut session = session().await;
    let client = LspClient::connect(session.client);
    tokio::select! {
        _ = client.request("mcp.tool.invoke", json!({"tool": "test.slow"})) => panic!("it is still waiting"),
        begun = session.gate.begun.recv() => begun.unwrap(),
    }
    let cancelled = tokio::time::timeout(TIMEOUT, session.gate.cancelled.recv());
    cancelled.await.expect("the call is cancelled").unwrap();
}

#[tokio::test]
async fn prompts_are_returned() {
    let (strip, _gate, _folder) = strip(settings()).await;
    let _prompts = put_prompt(&strip);
    let (client, server) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(server);
    let user = auth::LocalAccess::default().user();
    tokio::spawn(doors::serve_session(strip, user, read, write));
    let client = LspClient::connect(client);
    for params in [
        json!({"domain": "research", "name": "outline", "major": 1}),
        json!({"domain": "research", "name": "outline"}),
    ] {
        let prompt = client.request("mcp.prompt.get", params).await.unwrap();
        assert_eq!(prompt["body"], json!("Outline {{ topic }} {{ tone }}."));
        assert_eq!(prompt["spec"]["title"], json!("Outline"));
    }
}
