use std::time::{Duration, Instant};

use doors::Options;
use futures_util::future::join_all;
use http::{Method, StatusCode};
use http_body_util::Full;
use http_server::ServerLimits;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::{
    Gateway, TIMEOUT, bodies_within, connect, gateway, gateway_with, send, settings,
};

/// Short for a silent client, but long enough for one that sends everything at once on a busy machine.
const SHORT: Duration = Duration::from_secs(1);

async fn gateway_with_short_timeouts() -> Gateway {
    let limits = ServerLimits { header_timeout: SHORT, ..ServerLimits::default() };
    let options = Options { bodies: bodies_within(SHORT), ..Options::default() };
    gateway_with(settings(), options, limits).await
}

/// Reads until the gateway disconnects.
async fn read_rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut answer = Vec::new();
    let reading = stream.read_to_end(&mut answer);
    let read = tokio::time::timeout(TIMEOUT, reading);
    // A reset is a disconnect, too.
    let _ = read.await.expect("the connection is closed");
    answer
}

#[tokio::test]
async fn clients_that_never_finish_their_headers_are_disconnected() {
    let gateway = gateway_with_short_timeouts().await;
    let never_finished = async |beginning: &'static str| {
        let began = Instant::now();
        let mut stream = connect(gateway.address).await.unwrap();
        stream.write_all(beginning.as_bytes()).await.unwrap();
        let answer = read_rest(&mut stream).await;
        assert!(!answer.starts_with(b"HTTP/1.1 2"), "{beginning:?}");
        assert!(began.elapsed() >= SHORT / 2, "{beginning:?}");
    };
    let beginnings = [
        "",
        "P",
        "PRI * HTTP/2.0\r\n",
        "GET / HTTP/1.1\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ",
    ];
    join_all(beginnings.map(never_finished)).await;
    assert_eq!(gateway.call("test.echo", json!({})).await.status, StatusCode::OK);
}

#[tokio::test]
async fn clients_with_slow_headers_are_disconnected() {
    let gateway = gateway_with_short_timeouts().await;
    let mut stream = connect(gateway.address).await.unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n").await.unwrap();
    let (mut read, mut write) = stream.split();
    let dripping = async {
        for _ in 0..1_000 {
            if write.write_all(b"X-A: b\r\n").await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let mut answer = Vec::new();
    tokio::select! {
        () = dripping => panic!("still accepted after a long time"),
        _ = read.read_to_end(&mut answer) => {}
    }
    assert!(!answer.starts_with(b"HTTP/1.1 2"));
}

#[tokio::test]
async fn bodies_that_never_arrive_are_refused() {
    let gateway = gateway_with_short_timeouts().await;
    let refused = async |path: &str, answer: &str| {
        let mut stream = connect(gateway.address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: 100\r\n\r\n{{"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let said = read_rest(&mut stream).await;
        assert!(said.starts_with(answer.as_bytes()), "{path}: {}", String::from_utf8_lossy(&said));
    };
    tokio::join!(refused("/mcp/tool/test.echo", "HTTP/1.1 400"), refused("/mcp", "HTTP/1.1 408"),);
}

#[tokio::test]
async fn a_call_may_take_longer_than_the_header_timeout() {
    let mut gateway = gateway_with_short_timeouts().await;
    let request =
        gateway.request(Method::POST, "/mcp/tool/test.slow").body(Full::default()).unwrap();
    let call = tokio::spawn(send(gateway.address, request));
    gateway.gate.begun.recv().await.unwrap();
    tokio::time::sleep(SHORT + SHORT / 4).await;
    gateway.gate.open.add_permits(1);
    assert_eq!(call.await.unwrap().status, StatusCode::OK);
}

#[tokio::test]
async fn header_floods_are_refused() {
    let gateway = gateway().await;
    for flood in ["X-A: b\r\n".repeat(200), format!("X-A: {}\r\n", "b".repeat(200_000))] {
        let mut stream = connect(gateway.address).await.unwrap();
        let head = format!("GET /readyz HTTP/1.1\r\nHost: localhost\r\n{flood}\r\n");
        let _ = stream.write_all(head.as_bytes()).await;
        let said = read_rest(&mut stream).await;
        assert!(
            said.is_empty() || said.starts_with(b"HTTP/1.1 431"),
            "{}",
            String::from_utf8_lossy(&said)
        );
    }
    assert_eq!(gateway.get("/readyz").await.status, StatusCode::OK);
}

#[tokio::test]
async fn clients_are_served_next_to_many_slow_ones() {
    let gateway = gateway().await;
    let mut slow = Vec::new();
    for _ in 0..200 {
        let mut stream = connect(gateway.address).await.unwrap();
        stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n").await.unwrap();
        slow.push(stream);
    }
    for number in 0..50 {
        let call = gateway.call("test.echo", json!({"n": number}));
        let reply = tokio::time::timeout(Duration::from_secs(5), call).await.unwrap();
        assert_eq!(reply.json()["data"], json!({"n": number}));
    }
}

#[tokio::test]
async fn http_2_works_without_tls() {
    let gateway = gateway().await;
    let stream = connect(gateway.address).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http2::handshake(
        hyper_util::rt::TokioExecutor::new(),
        hyper_util::rt::TokioIo::new(stream),
    )
    .await
    .unwrap();
    tokio::spawn(connection);
    for (authority, status) in [("localhost", StatusCode::OK), ("evil.com", StatusCode::FORBIDDEN)]
    {
        let request = http::Request::get(format!("http://{authority}/readyz"))
            .body(http_body_util::Empty::<bytes::Bytes>::new())
            .unwrap();
        assert_eq!(sender.send_request(request).await.unwrap().status(), status);
    }
}
