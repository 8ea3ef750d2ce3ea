use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::connection::{Head, Length, join};
use super::front::message;
use super::{Client, Comparison, Era, Front, Inputs, Plan, Request, Round, compare};

fn nowhere() -> SocketAddr {
    ([127, 0, 0, 1], 9).into()
}

fn body(request: &Request) -> Value {
    let text = std::str::from_utf8(request.bytes()).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("content-length: {}", body.len())), "{head}");
    serde_json::from_str(body).unwrap()
}

#[test]
fn a_request_is_numbered_in_place() {
    let mut request = Request::envelope(nowhere(), "demo.echo");
    request.number(987_654);
    assert_eq!(body(&request), json!({"message": "bench-000000987654"}));
    request.number(3);
    assert_eq!(body(&request), json!({"message": "bench-000000000003"}));

    let mut request = Request::mcp_call(nowhere(), "demo_echo");
    request.number(12);
    let body = body(&request);
    assert_eq!(body["params"]["arguments"], json!({"message": "bench-000000000012"}));
    let text = String::from_utf8_lossy(request.bytes()).into_owned();
    assert!(
        text.contains("\r\nmcp-name: demo_echo\r\n") && text.contains("mcp-method: tools/call")
    );
}

#[test]
fn only_the_echo_of_this_call_counts() {
    let mut request = Request::envelope(nowhere(), "demo.echo");
    request.number(7);
    let answer = br#"{"data":{"message":"bench-000000000007"}}"#;
    assert_eq!(request.echo_in(answer, 0), Some(9));
    assert_eq!(request.echo_in(answer, 9), Some(9));
    assert_eq!(request.echo_in(answer, 5_000), Some(9));
    // Of another call, quoted in an error's text, cut off.
    for other in [
        &br#"{"data":{"message":"bench-000000000008"}}"#[..],
        br#"{"text":"{\"message\":\"bench-000000000007\"}"}"#,
        br#"{"data":{"message":"bench-00000000"#,
        b"",
    ] {
        assert_eq!(request.echo_in(other, 9), None);
    }
}

#[test]
fn distinct_inputs_never_repeat() {
    let (first, second) = (Inputs::Distinct.next(), Inputs::Distinct.next());
    assert!(first > 0 && second > first);
    assert_eq!((Inputs::Equal.next(), Inputs::Equal.next()), (0, 0));
}

#[test]
fn heads_are_read_when_they_are_whole() {
    assert_eq!(Head::read(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n").unwrap(), None);
    let head =
        Head::read(b"HTTP/1.1 404 Not Found\r\nx: y\r\nCONTENT-LENGTH:  12\r\n\r\nbody").unwrap();
    assert_eq!(head, Some(Head { status: 404, bytes: 53, body: Length::Known(12) }));
    let head = Head::read(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
    assert_eq!(head, Some(Head { status: 200, bytes: 47, body: Length::Chunks }));
    for wrong in [
        &b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n"[..],
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n",
        b"HTTP/2 200\r\ncontent-length: 0\r\n\r\n",
        b"\r\n\r\n",
    ] {
        assert!(Head::read(wrong).is_err(), "{}", String::from_utf8_lossy(wrong));
    }
}

#[test]
fn chunks_are_put_together_when_all_are_there() {
    let mut joined = Vec::new();
    let whole = b"6\r\ndata: \r\n5;x=y\r\n0\r\n\r\n\r\n0\r\n\r\n";
    assert!(join(whole, &mut joined).unwrap());
    assert_eq!(joined, b"data: 0\r\n\r\n");
    for cut in 0..whole.len() {
        assert!(!join(&whole[..cut], &mut joined).unwrap(), "{cut}");
    }
    for wrong in [&b"x\r\nab0\r\n\r\n"[..], b"1\r\nab\r\n0\r\n\r\n", b"0\r\n\r\n0\r\n\r\n"] {
        assert!(join(wrong, &mut joined).is_err(), "{}", String::from_utf8_lossy(wrong));
    }
}

#[test]
fn an_answer_is_found_in_json_and_among_events() {
    let answer = json!({"jsonrpc": "2.0", "id": 0, "result": {}});
    let streamed = format!(
        "id: 0\nretry: 3000\ndata:\n\nevent: message\ndata: {{\"method\":\"x\"}}\n\ndata: {answer}\n\n"
    );
    for body in [answer.to_string(), streamed] {
        assert_eq!(message(body.as_bytes()), Some(answer.clone()), "{body}");
    }
    for none in ["", "data: {}\n\n", "<html>", "event: ping\n\n"] {
        assert_eq!(message(none.as_bytes()), None, "{none}");
    }
}

#[test]
fn a_plan_keeps_its_time() {
    for (millis, rounds) in [(6_000, 12), (1_000, 4), (100, 4)] {
        let plan = Plan::lasting(Duration::from_millis(millis));
        assert_eq!(plan.rounds, rounds);
        assert_eq!(plan.round * plan.rounds, Duration::from_millis(millis));
    }
}

#[test]
fn one_disturbed_round_does_not_decide() {
    let round = |calls: usize| Round {
        elapsed: Duration::from_secs(1),
        latencies_ms: (0..calls).map(|n| n as f64).collect(),
    };
    let pairs = vec![(round(80), round(100)), (round(8), round(100)), (round(80), round(100))];
    let comparison = Comparison::between(pairs);
    assert_eq!(comparison.ratio, 0.8);
    assert_eq!(comparison.base.calls_per_second, 100.0);
    assert_eq!(comparison.base.p50_ms, 49.0);
    assert_eq!(comparison.ours.calls_per_second, 56.0);
    assert_eq!((comparison.added_p50_ms, comparison.added_p99_ms), (39.0 - 49.0, 79.0 - 98.0));
}

/// A server that sends each body back, or always the same answer.
async fn server(always: Option<&'static str>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut bytes = vec![0; 4_096];
                while let Ok(read @ 1..) = stream.read(&mut bytes).await {
                    let text = String::from_utf8_lossy(&bytes[..read]).into_owned();
                    let echo = text.split_once("\r\n\r\n").unwrap().1;
                    let body = always.unwrap_or(echo);
                    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
                    stream.write_all((head + body).as_bytes()).await.unwrap();
                }
            });
        }
    });
    address
}

#[tokio::test]
async fn both_sides_are_measured() {
    let mut clients = Vec::new();
    for _ in 0..2 {
        let address = server(None).await;
        let request = Request::envelope(address, "demo.echo");
        clients.push(Client::connect(address, request, 3).await.unwrap());
    }
    let [ours, base] = &mut clients[..] else { unreachable!() };
    // Long enough for a call in each round, on a busy machine too.
    let plan = Plan::lasting(Duration::from_secs(1));
    let comparison = compare(ours, base, plan, Inputs::Distinct).await.unwrap();
    assert!(comparison.ours.calls_per_second > 0.0 && comparison.base.calls_per_second > 0.0);
    assert!(comparison.ours.p50_ms <= comparison.ours.p99_ms && comparison.ratio > 0.0);
}

#[tokio::test]
async fn a_wrong_answer_ends_the_run() {
    let address = server(Some(r#"{"ok":false,"errors":[{"code":"RATE_LIMIT"}]}"#)).await;
    let request = Request::envelope(address, "demo.echo");
    let mut client = Client::connect(address, request, 2).await.unwrap();
    let error = client.round(Duration::from_millis(10), Inputs::Equal).await.unwrap_err();
    assert!(error.to_string().contains("RATE_LIMIT"), "{error}");
}

/// A server of the era of sessions, which gives out numbers and answers a call with the number of its session.
async fn sessions() -> SocketAddr {
    use std::sync::atomic::{AtomicUsize, Ordering};

    static GIVEN: AtomicUsize = AtomicUsize::new(0);
    let answer = async |request: axum::extract::Request| {
        let session = request.headers().get("mcp-session-id").cloned();
        let body = axum::body::to_bytes(request.into_body(), 10_000).await.unwrap();
        let message: Value = serde_json::from_slice(&body).unwrap();
        let text = match message["method"].as_str().unwrap() {
            "initialize" => {
                assert!(session.is_none());
                let id = GIVEN.fetch_add(1, Ordering::Relaxed).to_string();
                let result = json!({"id": 0, "result": {"protocolVersion": "2025-06-18"}});
                return axum::response::IntoResponse::into_response((
                    [("mcp-session-id", id)],
                    format!("data: {result}\n\n"),
                ));
            }
            "tools/call" => format!("{} in {session:?}", message["params"]["arguments"]),
            other => other.to_owned(),
        };
        axum::response::IntoResponse::into_response(text)
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = axum::Router::new().route("/mcp", axum::routing::post(answer));
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

#[tokio::test]
async fn sessions_are_opened_and_take_turns() {
    let front = Front::new(sessions().await, "echo");
    front.echoes(Era::Legacy).await.unwrap();
    let mut client = Client::greet(&front, Era::Legacy, 2, 5).await.unwrap();
    let requests: Vec<_> = client
        .callers
        .iter()
        .flat_map(|caller| &caller.requests)
        .map(|request| String::from_utf8_lossy(request.bytes()).into_owned())
        .collect();
    let ids: std::collections::BTreeSet<_> = requests
        .iter()
        .filter_map(|text| text.split("mcp-session-id: ").nth(1)?.get(..1))
        .collect();
    assert_eq!((requests.len(), ids.len()), (5, 5), "{requests:?}");
    assert!(requests[0].contains("mcp-protocol-version: 2025-06-18\r\n"), "{}", requests[0]);
    client.round(Duration::from_millis(20), Inputs::Distinct).await.unwrap();

    let missing = Front { path: "/elsewhere".to_owned(), ..front };
    assert!(missing.echoes(Era::Legacy).await.is_err());
}
