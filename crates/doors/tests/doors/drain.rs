use std::collections::HashMap;
use std::time::Duration;

use doors::Options;
use http::{Method, StatusCode};
use http_body_util::{BodyExt as _, Full};
use http_server::ServerLimits;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::mcp_legacy::Client;
use crate::support::{
    TIMEOUT, connect, gateway, gateway_draining, modern, next_event, send, settings,
};

#[tokio::test]
async fn running_calls_finish_while_new_ones_are_refused() {
    let mut gateway = gateway().await;
    let request =
        gateway.request(Method::POST, "/mcp/tool/test.slow").body(Full::default()).unwrap();
    let (headers, body) = modern(json!(1), "tools/call", json!({"name": "test_slow"}));
    let mcp_request = gateway.mcp(&headers, &body);
    let finish = async {
        gateway.gate.begun.recv().await.unwrap();
        gateway.gate.begun.recv().await.unwrap();
    };
    let rest = tokio::spawn(send(gateway.address, request));
    let mcp = tokio::spawn(send(gateway.address, mcp_request));
    finish.await;

    gateway.shutdown.cancel();
    let ready = gateway.get("/readyz").await;
    assert_eq!(ready.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(ready.json()["problems"], json!(["the gateway is shutting down"]));
    let late = gateway.call("test.echo", json!({})).await;
    assert_eq!(late.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(late.code(), json!("UNAVAILABLE"));
    assert!(late.headers.contains_key("retry-after"));
    let (headers, body) = modern(json!(1), "tools/list", json!({}));
    let late = gateway.send(gateway.mcp(&headers, &body)).await;
    assert_eq!(late.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(late.headers.contains_key("retry-after"));
    let late = late.json();
    assert_eq!((&late["jsonrpc"], &late["id"]), (&json!("2.0"), &Value::Null), "{late}");
    assert_eq!(late["error"]["data"]["code"], "UNAVAILABLE", "{late}");
    assert_eq!(gateway.get("/healthz").await.status, StatusCode::OK);

    gateway.gate.open.add_permits(2);
    assert_eq!(rest.await.unwrap().status, StatusCode::OK);
    assert_eq!(mcp.await.unwrap().status, StatusCode::OK);
    gateway.served.await.unwrap().unwrap();
    assert!(connect(gateway.address).await.is_err());
}

#[tokio::test]
async fn calls_cancelled_by_the_drain_are_answered_and_blame_the_gateway() {
    let drain = Duration::from_millis(1_500);
    let (options, limits) = (Options::default(), ServerLimits::default());
    let mut gateway = gateway_draining(settings(), options, limits, drain).await;
    let request =
        gateway.request(Method::POST, "/mcp/tool/test.slow").body(Full::default()).unwrap();
    let rest = tokio::spawn(send(gateway.address, request));
    let (headers, body) = modern(json!(1), "tools/call", json!({"name": "test_slow"}));
    let direct = tokio::spawn(send(gateway.address, gateway.mcp(&headers, &body)));
    let (legacy, _) = Client::connect(&gateway, "2025-11-25").await;
    let call = |id: u64, meta: Value| {
        let params = json!({"name": "test_slow", "_meta": meta});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        tokio::spawn(send(gateway.address, gateway.mcp(&legacy.headers, &call)))
    };
    // One bypasses the protocol library, the other does not.
    let legacies = [call(2, json!({})), call(3, json!({"progressToken": 1}))];
    for _ in 0..4 {
        gateway.gate.begun.recv().await.unwrap();
    }
    gateway.shutdown.cancel();
    let rest = rest.await.unwrap();
    assert_eq!((rest.status, rest.code()), (StatusCode::SERVICE_UNAVAILABLE, json!("UNAVAILABLE")));
    assert!(rest.headers.contains_key("retry-after"));
    let mut answers = vec![direct.await.unwrap()];
    for legacy in legacies {
        answers.push(legacy.await.unwrap());
    }
    for reply in answers {
        let answer = reply.messages().pop().unwrap();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(text.contains("UNAVAILABLE") && text.contains("shut down"), "{answer}");
    }
    for _ in 0..4 {
        gateway.gate.cancelled.recv().await.unwrap();
    }
    let rows = gateway.audit_rows(4).await;
    for row in &rows {
        let blame = row.blame.as_deref();
        let ending = (&*row.decision, &*row.outcome, blame);
        assert_eq!(ending, ("failed", "UNAVAILABLE", Some("gateway")), "{row:?}");
    }
    let served = tokio::time::timeout(TIMEOUT, gateway.served);
    served.await.expect("the gateway stops").unwrap().unwrap();
}

#[tokio::test]
async fn event_streams_do_not_delay_the_shutdown() {
    let gateway = gateway().await;
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let greeted = gateway.send(gateway.mcp(&HashMap::new(), &hello)).await;
    let listen = gateway
        .request(Method::GET, "/mcp")
        .header("accept", "text/event-stream")
        .header("mcp-session-id", &greeted.headers["mcp-session-id"]);
    let legacy = gateway.open(listen.body(Full::default()).unwrap()).await.unwrap();
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let (headers, body) = modern(json!(1), "subscriptions/listen", filter);
    let mut modern = gateway.open(gateway.mcp(&headers, &body)).await.unwrap().into_body();
    next_event(&mut modern, |m| m["method"] == "notifications/subscriptions/acknowledged").await;

    let began = std::time::Instant::now();
    gateway.shutdown.cancel();
    next_event(&mut modern, |m| m["id"] == 1 && m.get("result").is_some()).await;
    legacy.into_body().collect().await.unwrap();
    gateway.served.await.unwrap().unwrap();
    assert!(
        began.elapsed() < Duration::from_millis(1_400),
        "the shutdown did not wait for the drain time"
    );
}

/// Sends a request on an open connection and reads until the gateway closes it; fails if the connection is reset.
async fn exchange(stream: &mut TcpStream, body: usize) -> String {
    let head = format!(
        "POST /mcp/tool/test.echo HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {body}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // The answer may come before the body is read.
    let _ = stream.write_all(&vec![b' '; body]).await;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.expect("the connection is not reset");
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn requests_on_open_connections_are_refused_with_an_answer() {
    let gateway = gateway().await;
    let open = || async { connect(gateway.address).await.unwrap() };
    let (mut unused, mut large) = (open().await, open().await);
    let mut used = open().await;
    used.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let mut answer = [0; 15];
    used.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
    // The others are accepted before this one is answered.
    assert_eq!(gateway.get("/healthz").await.status, StatusCode::OK);

    gateway.shutdown.cancel();
    let (unused, used, large) = tokio::join!(
        exchange(&mut unused, 2),
        exchange(&mut used, 2),
        exchange(&mut large, 300_000)
    );
    for answer in [unused, used, large] {
        assert!(answer.contains("HTTP/1.1 503 Service Unavailable\r\n"), "{answer}");
        let lower = answer.to_lowercase();
        assert!(lower.contains("connection: close") && lower.contains("retry-after:"), "{answer}");
        assert!(answer.contains("UNAVAILABLE"), "{answer}");
    }
    gateway.served.await.unwrap().unwrap();
}
