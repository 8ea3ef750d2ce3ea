//! Limits per caller and address: memory of bodies, connections, streams.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use doors::{BodyReader, Options};
use http::{Method, StatusCode};
use http_body_util::Full;
use http_server::ServerLimits;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::support::{Gateway, TIMEOUT, bodies_within, connect, gateway_with, modern, settings};

const MEGABYTE: usize = 1 << 20;

/// Sends a body without its last byte, and returns the answer of the gateway, if there is one.
async fn stall(gateway: &Gateway, path: &str, bytes: usize) -> (TcpStream, Option<String>) {
    let mut stream = connect(gateway.address).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {bytes}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let body = vec![b' '; bytes - 1];
    // The gateway may refuse the body before all of it is sent.
    let mut answer = vec![0; 4096];
    let (mut read, mut write) = stream.split();
    let sent = async {
        write.write_all(&body).await.ok();
        // Once the gateway has answered a later request, it has read everything that was sent.
        gateway.get("/healthz").await;
    };
    let said = tokio::select! {
        biased;
        said = read.read(&mut answer) => Some(said.unwrap_or(0)),
        () = sent => None,
    };
    let said = said.map(|read| String::from_utf8_lossy(&answer[..read]).into_owned());
    (stream, said)
}

/// How many stalled bodies of one caller the gateway holds before it refuses one, and that refusal.
async fn stall_until_refused(
    gateway: &Gateway,
    path: &str,
    bytes: usize,
) -> (Vec<TcpStream>, String) {
    let mut held = Vec::new();
    for _ in 0..64 {
        let (mut stream, said) = stall(gateway, path, bytes).await;
        let mut rest = vec![0; 4096];
        // The refusal of the last body may still be on its way.
        let late = tokio::time::timeout(Duration::from_millis(100), stream.read(&mut rest)).await;
        let late =
            late.map(|read| String::from_utf8_lossy(&rest[..read.unwrap_or(0)]).into_owned());
        match said.or(late.ok()) {
            Some(refusal) => return (held, refusal),
            None => held.push(stream),
        }
    }
    panic!("{} stalled bodies of {bytes} bytes are held", held.len());
}

#[tokio::test]
async fn bodies_of_one_caller_are_limited_in_memory() {
    let options = Options {
        bodies: Arc::new(BodyReader::default().with_memory(16 * MEGABYTE)),
        ..Options::default()
    };
    let gateway = gateway_with(settings(), options, ServerLimits::default()).await;
    for path in ["/mcp/tool/test.echo", "/mcp"] {
        // One caller may use a quarter of the memory, or one whole body; here both are 4 MB.
        let (held, refusal) = stall_until_refused(&gateway, path, MEGABYTE).await;
        assert!(held.len() <= 5, "{path}: {} MB are held", held.len());
        assert!(refusal.starts_with("HTTP/1.1 429"), "{path}: {refusal}");
        assert!(refusal.to_lowercase().contains("retry-after: 1"), "{path}: {refusal}");
        assert!(refusal.contains("RATE_LIMIT"), "{path}: {refusal}");
        // Small bodies hold no memory while they wait, so the caller is still served.
        assert_eq!(gateway.call("test.echo", json!({"a": 1})).await.status, StatusCode::OK);
        drop(held);
    }
    // Two refusals, and two calls that were answered.
    let rows = gateway.audit_rows(4).await;
    for (tool, door) in [("test.echo", "http"), ("/mcp", "mcp-http")] {
        let row = rows.iter().find(|row| &*row.tool == tool && &*row.outcome == "RATE_LIMIT");
        let row = row.unwrap_or_else(|| panic!("no row of {tool}: {rows:?}"));
        assert_eq!((&*row.decision, &*row.door), ("refused", door));
    }
    // The memory is released.
    let begun = std::time::Instant::now();
    while begun.elapsed() < TIMEOUT {
        let body = format!("{{\"a\": \"{}\"}}", "x".repeat(3 * MEGABYTE));
        let reply = gateway.post("/mcp/tool/test.echo", body).await;
        if reply.status != StatusCode::TOO_MANY_REQUESTS {
            return;
        }
    }
    panic!("the memory of bodies that are gone is not given back");
}

#[tokio::test]
async fn bodies_that_arrive_too_slowly_are_refused_before_the_timeout() {
    let options = Options { bodies: bodies_within(Duration::from_secs(120)), ..Options::default() };
    let gateway = gateway_with(settings(), options, ServerLimits::default()).await;
    let (mut stream, _) = stall(&gateway, "/mcp/tool/test.echo", 2_000).await;
    let mut answer = Vec::new();
    let reading = tokio::time::timeout(Duration::from_secs(30), stream.read_to_end(&mut answer));
    let _ = reading.await.expect("the body is refused");
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("bytes per second"), "{answer}");
}

/// A connection from another address of this machine.
async fn connect_from(gateway: &Gateway, address: [u8; 4]) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::from(address), 0).into()).unwrap();
    socket.connect(gateway.address).await.unwrap()
}

#[tokio::test]
async fn half_open_connections_do_not_block_other_clients() {
    let limits = ServerLimits {
        max_connections: 64,
        max_anonymous_per_address: 48,
        header_timeout: Duration::from_secs(120),
        first_request_timeout: Duration::from_secs(120),
        ..ServerLimits::default()
    };
    let gateway = gateway_with(settings(), Options::default(), limits).await;
    // A client with an unfinished request, from an address without other connections.
    let mut early = connect_from(&gateway, [127, 0, 0, 3]).await;
    early.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n").await.unwrap();
    let mut flood = Vec::new();
    for number in 0..200 {
        let address = [127, 0, 0, 1 + number % 2];
        let mut stream = connect_from(&gateway, address).await;
        let _ = stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n").await;
        flood.push(stream);
    }
    for number in 0..20 {
        let call = gateway.call("test.echo", json!({"n": number}));
        let reply = tokio::time::timeout(TIMEOUT, call).await.expect("another client is served");
        assert_eq!(reply.json()["data"], json!({"n": number}));
    }
    early.write_all(b"Connection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    let read = tokio::time::timeout(TIMEOUT, early.read_to_string(&mut answer)).await;
    read.expect("an answer").unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn silent_connections_are_closed_soon() {
    let limits = ServerLimits {
        first_request_timeout: Duration::from_millis(500),
        header_timeout: Duration::from_secs(120),
        ..ServerLimits::default()
    };
    let gateway = gateway_with(settings(), Options::default(), limits).await;
    let mut silent = connect(gateway.address).await.unwrap();
    silent.write_all(b"GET /healthz HTTP/1.1\r\n").await.unwrap();
    let mut answer = Vec::new();
    let closed = tokio::time::timeout(TIMEOUT, silent.read_to_end(&mut answer)).await;
    let _ = closed.expect("the connection is closed");
}

#[tokio::test]
async fn one_caller_cannot_have_all_connections() {
    let limits = ServerLimits { max_connections: 8, ..ServerLimits::default() };
    let gateway = gateway_with(settings(), Options::default(), limits).await;
    let mut held = Vec::new();
    let mut refused = None;
    for _ in 0..7 {
        let mut stream = connect(gateway.address).await.unwrap();
        stream.write_all(b"GET /mcp/discover HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        let mut answer = vec![0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        match &answer[..] {
            b"HTTP/1.1 200" => held.push(stream),
            other => refused = Some(String::from_utf8_lossy(other).into_owned()),
        }
    }
    assert_eq!((held.len(), refused.as_deref()), (6, Some("HTTP/1.1 429")));
    // A connection without a caller is still accepted.
    let request = gateway.request(Method::GET, "/healthz").body(Full::default()).unwrap();
    let served = tokio::time::timeout(TIMEOUT, gateway.send(request)).await;
    assert_eq!(served.expect("an answer").status, StatusCode::OK);
    let rows = gateway.audit_rows(1).await;
    assert_eq!((&*rows[0].tool, &*rows[0].outcome), ("connections", "RATE_LIMIT"));
}

#[tokio::test]
async fn one_caller_cannot_have_all_streams() {
    let options = Options { streams_per_caller: 2, ..Options::default() };
    let gateway = gateway_with(settings(), options, ServerLimits::default()).await;
    let listen = || {
        let filter = json!({"notifications": {"toolsListChanged": true}});
        let (headers, body) = modern(json!(1), "subscriptions/listen", filter);
        gateway.mcp(&headers, &body)
    };
    let first = gateway.open(listen()).await.unwrap();
    let second = gateway.open(listen()).await.unwrap();
    assert_eq!((first.status(), second.status()), (StatusCode::OK, StatusCode::OK));
    let refused = gateway.send(listen()).await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.json()["error"]["data"]["code"], json!("RATE_LIMIT"));
    let rows = gateway.audit_rows(1).await;
    assert_eq!((&*rows[0].tool, &*rows[0].outcome), ("streams", "RATE_LIMIT"));
    drop(first);
    let begun = std::time::Instant::now();
    while gateway.open(listen()).await.unwrap().status() != StatusCode::OK {
        assert!(begun.elapsed() < TIMEOUT, "a closed stream still counts");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
