//! Which requests the HTTP door of a server admits.

use kit::{Blocks, Ctx, Fault, NoInput, Server, ToolSpec};
use serde_json::{Value, json};

use crate::wire::{Post, TIMEOUT, door, end_session, exchange, get, modern, start, start_at};

async fn hello(_: NoInput, _: Ctx) -> Result<Blocks, Fault> {
    Ok(Blocks::new().text("hello"))
}

fn server() -> Server {
    Server::new("door-test", "1.2.3").tool(ToolSpec::new("hello", "Says hello."), hello)
}

fn request() -> Post {
    modern("tools/call", json!({ "name": "hello", "arguments": {} }))
}

#[tokio::test]
async fn health_names_the_server() {
    let running = start(server()).await;
    let reply = get(running.address, "/healthz").await;
    assert_eq!(reply.status, 200);
    let health: Value = serde_json::from_str(&reply.body).unwrap();
    assert_eq!(health["status"], "ok");
    assert_eq!(health["name"], "door-test");
    assert_eq!(health["version"], "1.2.3");
    assert!(health["uptimeSec"].is_u64());
    assert_eq!(get(running.address, "/elsewhere").await.status, 404);
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_refused() {
    let running = start(server()).await;
    for (name, value, status) in [
        ("Host", "evil.com", 403),
        ("Host", "127.0.0.1.evil.com", 403),
        ("Origin", "https://evil.com", 403),
        ("Origin", "http://localhost.evil.com", 403),
        ("Origin", "null", 403),
        ("Host", "localhost", 200),
        ("Origin", "http://localhost:3000", 200),
        ("Origin", "http://[::1]:3000", 200),
    ] {
        let reply = exchange(running.address, &request().with(name, value)).await;
        assert_eq!(reply.status, status, "{name}: {value}");
    }
}

#[tokio::test]
async fn allowed_hosts_and_origins_are_admitted() {
    let named = kit::http::Door {
        allow_hosts: vec!["tools.internal".into()],
        allow_origins: vec!["https://app.example.com:443".into()],
        ..door()
    };
    let running = start_at(server(), named).await;
    let post =
        request().with("Host", "tools.internal:8080").with("Origin", "https://app.example.com");
    assert_eq!(exchange(running.address, &post).await.status, 200);
    assert_eq!(
        exchange(running.address, &request().with("Origin", "http://app.example.com")).await.status,
        403
    );
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_and_one_below_it_is_not() {
    let running = start(server()).await;
    let padded = |bytes: usize| {
        modern("tools/call", json!({ "name": "hello", "arguments": { "pad": "x".repeat(bytes) } }))
    };
    assert_eq!(exchange(running.address, &padded(32 << 10)).await.status, 200);
    assert_eq!(exchange(running.address, &padded(64 << 10)).await.status, 413);
}

#[tokio::test]
async fn malformed_requests_are_refused_and_the_server_goes_on() {
    let running = start(server()).await;
    for body in [
        "",
        "{",
        "[]",
        "null",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"tools/list\"}",
    ] {
        let post = Post { body: body.to_owned(), ..request() };
        let status = exchange(running.address, &post).await.status;
        assert!((400..500).contains(&status), "{body:?} gave {status}");
    }
    assert_eq!(running.call("hello", json!({})).await["content"][0]["text"], "hello");
}

/// The handshake of older revisions, a session and its end.
#[tokio::test]
async fn legacy_clients_are_served_on_the_same_address() {
    let running = start(server()).await;
    let hello = json!({
        "jsonrpc": "2.0", "id": 7, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "old", "version": "1" } },
    });
    let reply = exchange(running.address, &Post { headers: vec![], body: hello.to_string() }).await;
    assert_eq!(reply.status, 200);
    let result = &reply.message()["result"];
    assert_eq!(result["protocolVersion"], "2025-11-25");
    assert_eq!(result["serverInfo"]["name"], "door-test");
}

#[tokio::test]
async fn clients_that_send_slowly_are_disconnected() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let time = std::time::Duration::from_millis(200);
    let request_times = kit::http::RequestTimes { head: time, body: time };
    let running = start_at(server(), kit::http::Door { request_times, ..door() }).await;
    let head = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\n", running.address);
    let body = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
                Content-Length: 100\r\n\r\n{";
    for begun in [String::new(), head.clone(), head + body] {
        let mut stream = tokio::net::TcpStream::connect(running.address).await.unwrap();
        stream.write_all(begun.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let read = stream.read_to_string(&mut answer);
        tokio::time::timeout(TIMEOUT, read).await.expect("it is disconnected").unwrap();
        assert!(!answer.contains(" 200 "), "{answer}");
    }
    assert_eq!(exchange(running.address, &request()).await.status, 200);
}

#[tokio::test]
async fn sessions_are_limited_and_their_end_makes_room() {
    let running = start(server()).await;
    let initialize = || Post {
        headers: vec![],
        body: json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        } })
        .to_string(),
    };
    let mut session = None;
    for _ in 0..1000 {
        let reply = exchange(running.address, &initialize()).await;
        assert_eq!(reply.status, 200);
        session = reply.header("mcp-session-id");
    }
    assert_eq!(exchange(running.address, &initialize()).await.status, 503);
    assert_eq!(exchange(running.address, &request()).await.status, 200, "it needs no session");
    let ended = end_session(running.address, &session.unwrap()).await;
    assert!(ended.status < 300, "{}", ended.body);
    assert_eq!(exchange(running.address, &initialize()).await.status, 200);
}
