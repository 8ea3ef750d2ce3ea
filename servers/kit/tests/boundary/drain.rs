//! The end of a server: calls in flight finish, streams without an end do not hold it up.

use std::sync::Arc;
use std::time::Duration;

use kit::http::Door;
use kit::{Blocks, Ctx, Fault, NoInput, Server, ToolSpec};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::wire::{Post, door, modern, receive, send, start, start_at};

/// A tool that says when it began and waits until it may finish.
fn gated() -> (Server, Arc<Notify>, Arc<Notify>) {
    let (began, finish) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let server = Server::new("drain-test", "0.0.0").tool(ToolSpec::new("gate", "Waits."), {
        let (began, finish) = (began.clone(), finish.clone());
        move |_: NoInput, _: Ctx| {
            let (began, finish) = (began.clone(), finish.clone());
            async move {
                began.notify_one();
                finish.notified().await;
                Ok::<_, Fault>(Blocks::new().text("finished"))
            }
        }
    });
    (server, began, finish)
}

fn request() -> Post {
    modern("tools/call", json!({ "name": "gate", "arguments": {} }))
}

#[tokio::test]
async fn a_call_in_flight_gets_its_answer_while_new_ones_are_refused() {
    let (server, began, finish) = gated();
    let mut running = start(server).await;
    let address = running.address;
    let connection = send(address, &request()).await;
    began.notified().await;
    running.tell_to_stop();
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    finish.notify_one();
    assert_eq!(receive(connection).await.message()["result"]["content"][0]["text"], "finished");
    running.ended().await;
}

#[tokio::test]
async fn a_call_that_outlasts_the_drain_is_cut_off() {
    let (server, began, _finish) = gated();
    let mut running = start_at(server, Door { drain: Duration::from_millis(50), ..door() }).await;
    let connection = send(running.address, &request()).await;
    began.notified().await;
    running.tell_to_stop();
    running.ended().await;
    drop(connection);
}

/// A session of an older revision with its standing stream open.
#[tokio::test]
async fn an_open_session_does_not_hold_up_the_end() {
    let (server, _began, _finish) = gated();
    // With a drain this long the test would fail if the stream were counted as a call.
    let mut running = start_at(server, Door { drain: Duration::from_secs(3600), ..door() }).await;
    let address = running.address;
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "old", "version": "1" } },
    });
    let (session, _) = legacy(address, &hello, None).await;
    let session = session.expect("a session is given");
    legacy(
        address,
        &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        Some(&session),
    )
    .await;

    let mut stream = TcpStream::connect(address).await.unwrap();
    let open = format!(
        "GET /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\
         MCP-Protocol-Version: 2025-11-25\r\n\r\n"
    );
    stream.write_all(open.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    running.tell_to_stop();
    running.ended().await;
    // The last chunk of a body that was ended, not cut off.
    let mut rest = Vec::new();
    let timeout = Duration::from_secs(10);
    tokio::time::timeout(timeout, stream.read_to_end(&mut rest)).await.unwrap().unwrap();
    assert!(rest.ends_with(b"0\r\n\r\n"), "{}", String::from_utf8_lossy(&rest));
}

/// Sends one message of an older revision; the session it was given and the whole answer.
async fn legacy(
    address: std::net::SocketAddr,
    message: &Value,
    session: Option<&str>,
) -> (Option<String>, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let body = message.to_string();
    let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\n{session}Content-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let given = answer.lines().find_map(|line| {
        line.to_ascii_lowercase().strip_prefix("mcp-session-id: ").map(str::to_owned)
    });
    (given, answer)
}
