//! Sessions of clients before 2026-07-28: limits, timeouts and how they end.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use doors::Options;
use http::{Method, StatusCode};
use http_body_util::{BodyExt as _, Full};
use http_server::ServerLimits;
use serde_json::{Value, json};

use crate::mcp_legacy::{Client, hello};
use crate::support::{
    Gateway, TIMEOUT, echo, gateway, gateway_with, next_event, send, settings, shared,
};

/// Long enough for an idle session to be parked: sessions are checked every 250 ms.
const PARKED: Duration = Duration::from_millis(600);

type Headers = HashMap<&'static str, String>;

async fn gateway_of(options: Options) -> Gateway {
    gateway_with(settings(), options, ServerLimits::default()).await
}

/// Opens a session; its requests carry these headers.
async fn open(gateway: &Gateway) -> Headers {
    Client::connect(gateway, "2025-11-25").await.0.headers
}

async fn ping(gateway: &Gateway, session: &Headers) -> StatusCode {
    // Requests at the same time have different ids.
    let id = proto::TraceId::random().to_string();
    let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    gateway.send(gateway.mcp(session, &ping)).await.status
}

fn in_session(
    gateway: &Gateway,
    method: Method,
    session: &Headers,
) -> http::Request<Full<bytes::Bytes>> {
    let request = gateway
        .request(method, "/mcp")
        .header("accept", "text/event-stream")
        .header("mcp-protocol-version", "2025-11-25")
        .header("mcp-session-id", &session["mcp-session-id"]);
    request.body(Full::default()).unwrap()
}

/// A call of the slow tool. With a progress token the protocol library answers it, and the gateway itself otherwise.
fn slow(id: u64, by_library: bool) -> Value {
    let meta = if by_library { json!({"progressToken": id}) } else { json!({}) };
    let params = json!({"name": "test_slow", "_meta": meta});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

#[tokio::test]
async fn sessions_are_limited() {
    let mut gateway = gateway_of(Options { max_sessions: 1, ..Options::default() }).await;
    let ready = gateway.get("/readyz").await.json();
    assert!(ready.get("sessions").is_none(), "{ready}");
    let first = open(&gateway).await;
    let full = gateway.get("/readyz").await;
    assert_eq!((full.status, &full.json()["sessions"]), (StatusCode::OK, &json!("exhausted")));
    assert!(full.json()["problems"][0].as_str().unwrap().contains("1 sessions"));
    let second = open(&gateway).await;
    assert_eq!(ping(&gateway, &first).await, StatusCode::NOT_FOUND, "it ended for another session");
    assert_eq!(ping(&gateway, &second).await, StatusCode::OK);

    // A session in use does not end for another one of its caller.
    let slow = tokio::spawn(send(gateway.address, gateway.mcp(&second, &slow(9, true))));
    gateway.gate.begun.recv().await.unwrap();
    let refused = gateway.send(gateway.mcp(&HashMap::new(), &hello("2025-06-18"))).await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(refused.headers.contains_key("retry-after"));
    assert_eq!(refused.json()["error"]["data"]["code"], json!("RATE_LIMIT"));
    gateway.gate.open.add_permits(1);
    assert_eq!(slow.await.unwrap().status, StatusCode::OK);
    let rows = gateway.audit_rows(2).await;
    let row = rows.iter().find(|row| &*row.tool == "sessions").unwrap();
    assert_eq!((&*row.decision, &*row.outcome), ("refused", "RATE_LIMIT"));
}

#[tokio::test]
async fn initialize_requests_are_limited() {
    let gateway = gateway().await;
    let mut large = hello("2025-06-18");
    large["params"]["clientInfo"]["name"] = "x".repeat(20_000).into();
    let refused = gateway.send(gateway.mcp(&HashMap::new(), &large)).await;
    assert_eq!(refused.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_deleted_session_ends_its_calls() {
    for by_library in [false, true] {
        let mut gateway = gateway().await;
        let session = open(&gateway).await;
        let request = gateway.mcp(&session, &slow(7, by_library));
        let answered = tokio::spawn(send(gateway.address, request));
        gateway.gate.begun.recv().await.unwrap();
        let deleted = gateway.send(in_session(&gateway, Method::DELETE, &session)).await;
        assert_eq!(deleted.status, StatusCode::NO_CONTENT);
        let ended = tokio::time::timeout(TIMEOUT, gateway.gate.cancelled.recv());
        ended.await.expect("the tool is stopped").unwrap();
        assert_eq!(ping(&gateway, &session).await, StatusCode::NOT_FOUND);
        let answer = answered.await.unwrap().messages().pop().expect("an answer");
        assert_eq!(answer["id"], json!(7));
        let rows = gateway.audit_rows(1).await;
        let row = (&*rows[0].decision, &*rows[0].outcome, rows[0].blame.as_deref());
        assert_eq!(row, ("abandoned", "CANCELLED", Some("caller")), "by library: {by_library}");
    }
}

#[tokio::test]
async fn cancelled_calls_are_audited_as_abandoned() {
    for by_library in [false, true] {
        let mut gateway = gateway().await;
        let session = open(&gateway).await;
        let request = gateway.mcp(&session, &slow(7, by_library));
        let _answer = tokio::spawn(send(gateway.address, request));
        gateway.gate.begun.recv().await.unwrap();
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": 7}});
        let accepted = gateway.send(gateway.mcp(&session, &cancel)).await;
        assert_eq!(accepted.status, StatusCode::ACCEPTED);
        gateway.gate.cancelled.recv().await.unwrap();
        let rows = gateway.audit_rows(1).await;
        let row = (&*rows[0].decision, &*rows[0].outcome, rows[0].blame.as_deref());
        assert_eq!(row, ("abandoned", "CANCELLED", Some("caller")), "by library: {by_library}");
    }
}

#[tokio::test]
async fn idle_sessions_end() {
    let idle = Duration::from_millis(500);
    let gateway = gateway_of(Options { session_idle: idle, ..Options::default() }).await;
    let (listening, silent) = (open(&gateway).await, open(&gateway).await);
    let listen = in_session(&gateway, Method::GET, &listening);
    let stream = gateway.open(listen).await.unwrap();
    let begun = Instant::now();
    loop {
        // Each request restarts the idle time.
        tokio::time::sleep(2 * idle).await;
        if ping(&gateway, &silent).await == StatusCode::NOT_FOUND {
            break;
        }
        assert!(begun.elapsed() < TIMEOUT, "it does not end");
    }
    assert_eq!(ping(&gateway, &listening).await, StatusCode::OK, "its event stream is open");
    drop(stream);
}

#[tokio::test]
async fn a_parked_session_continues() {
    let options = Options { session_park: Duration::ZERO, ..Options::default() };
    let mut gateway = gateway_of(options).await;
    let session = open(&gateway).await;
    tokio::time::sleep(PARKED).await;
    // Concurrent requests restore it once.
    let pings: Vec<_> = (0..8).map(|_| ping(&gateway, &session)).collect();
    for answered in futures_util::future::join_all(pings).await {
        assert_eq!(answered, StatusCode::OK);
    }
    tokio::time::sleep(PARKED).await;
    let plain = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call",
        "params": {"name": "test_echo", "arguments": {"a": 1}}});
    let answer = gateway.send(gateway.mcp(&session, &plain)).await.messages().pop().unwrap();
    assert_eq!(answer["result"]["structuredContent"], json!({"a": 1}));

    // A running call keeps it, even if its client has lost the connection.
    let call = gateway.mcp(&session, &slow(4, true));
    let response = gateway.open(call).await.unwrap();
    gateway.gate.begun.recv().await.unwrap();
    drop(response);
    tokio::time::sleep(PARKED).await;
    assert!(gateway.gate.cancelled.try_recv().is_err(), "the call still runs");
    gateway.gate.open.add_permits(1);
    assert_eq!(ping(&gateway, &session).await, StatusCode::OK);

    // A client that reconnects is notified of changes since its session was parked.
    tokio::time::sleep(PARKED).await;
    gateway.strip.catalog().publish("later", shared(vec![echo("later.echo")]));
    let listen = in_session(&gateway, Method::GET, &session);
    let mut stream = gateway.open(listen).await.unwrap().into_body();
    next_event(&mut stream, |m| m["method"] == "notifications/tools/list_changed").await;
    // A stream keeps it, too.
    tokio::time::sleep(PARKED).await;
    gateway.strip.catalog().publish("more", shared(vec![echo("more.echo")]));
    next_event(&mut stream, |m| m["method"] == "notifications/tools/list_changed").await;
    gateway.shutdown.cancel();
    stream.collect().await.unwrap();
}

/// Reads the id of the event with which a stream begins.
async fn first_id(body: &mut hyper::body::Incoming) -> String {
    let frame = tokio::time::timeout(TIMEOUT, body.frame()).await.expect("an event in time");
    let data = frame.unwrap().unwrap().into_data().unwrap();
    let text = String::from_utf8(data.to_vec()).unwrap();
    text.lines().find_map(|line| line.strip_prefix("id: ")).expect("an id").to_owned()
}

/// What a client gets that reads a stream on after this event.
async fn rest_of_stream(gateway: &Gateway, session: &Headers, event: &str) -> Vec<Value> {
    let mut request = in_session(gateway, Method::GET, session);
    request.headers_mut().insert("last-event-id", event.parse().unwrap());
    let reply = tokio::time::timeout(TIMEOUT, gateway.send(request)).await;
    let reply = reply.expect("the stream ends");
    assert_eq!(reply.status, StatusCode::OK);
    reply.messages().into_iter().filter(|message| message["id"].is_number()).collect()
}

#[tokio::test]
async fn the_answer_of_a_stream_that_was_cut_off_is_fetched() {
    for park in [Duration::from_secs(60), Duration::ZERO] {
        let options = Options { session_park: park, ..Options::default() };
        let mut gateway = gateway_of(options).await;
        let session = open(&gateway).await;
        let begin = async |gateway: &mut Gateway, id| {
            let call = gateway.mcp(&session, &slow(id, true));
            let mut body = gateway.open(call).await.unwrap().into_body();
            gateway.gate.begun.recv().await.unwrap();
            first_id(&mut body).await
        };
        // One is asked for while it runs, and one after it has ended.
        let running = begin(&mut gateway, 1).await;
        let ended = begin(&mut gateway, 2).await;
        let (waiting, ()) = tokio::join!(rest_of_stream(&gateway, &session, &running), async {
            tokio::time::sleep(PARKED).await;
            gateway.gate.open.add_permits(2);
        });
        assert_eq!(waiting[0]["id"], json!(1), "{waiting:?}");
        gateway.audit_rows(2).await;
        if park.is_zero() {
            tokio::time::sleep(PARKED).await;
            // The next stream has the same number as the first had.
            begin(&mut gateway, 3).await;
        }
        for _ in 0..2 {
            let fetched = rest_of_stream(&gateway, &session, &ended).await;
            assert_eq!(fetched.len(), 1, "{fetched:?}");
            assert_eq!(fetched[0]["id"], json!(2));
            assert_eq!(fetched[0]["result"]["structuredContent"], json!({"slow": {}}));
        }
        let other = open(&gateway).await;
        let life = ended.rsplit_once('/').unwrap().1;
        for (session, event) in [
            (&other, ended.as_str()),
            (&session, "0/77/0"),
            (&session, "0/1/9"),
            (&session, "9/1/0"),
            (&session, &format!("18446744073709551616/1/{life}")),
        ] {
            let fetched = rest_of_stream(&gateway, session, event).await;
            assert_eq!(fetched, [] as [Value; 0], "{event}");
        }
    }
}
