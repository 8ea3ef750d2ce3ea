//! Malformed answers over HTTP: only the call fails, with the server's name.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use egress::http::{AddressPolicy, OwnListeners};
use operations::servers::ServerState;
use proto::{Code, Failure};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use upstream::Timing;

use crate::fake::{
    Fake, ReceivedRequest, events, json_with, modern, plain, raw_events, result, text_result, tool,
};
use crate::support::{Setup, TIMEOUT, at, eventually, quick};

/// The failure of a call that is answered with this.
async fn failure_of<F>(answer: impl Fn(ReceivedRequest) -> F + Send + Sync + 'static) -> Failure
where
    F: Future<Output = Response> + Send + 'static,
{
    let answer = std::sync::Arc::new(answer);
    let fake = Fake::new(move |received: ReceivedRequest| {
        let answer = std::sync::Arc::clone(&answer);
        async move {
            if received.method_name() == "tools/call" && received.body["params"]["name"] == "lie" {
                return answer(received).await;
            }
            if received.method_name() == "tools/call" {
                return result(&received, text_result("honest"));
            }
            modern(&received, &[tool("lie"), tool("honest")])
        }
    });
    let setup = Setup::with(vec![("liar", at(&fake.url()))]).await;
    setup.wait_for_tool("liar:lie").await;
    let failure = setup.call("liar:lie", json!({})).await.unwrap_err();
    assert!(failure.message.contains("`liar`"), "{}", failure.message);
    assert!(!failure.message.contains("127.0.0.1"), "{}", failure.message);
    assert_eq!(setup.text("liar:honest", json!({})).await, "honest", "only that call is lost");
    failure
}

#[tokio::test]
async fn an_answer_to_another_request_fails_the_call() {
    let crossed = |id: Value| {
        move |_| {
            let id = id.clone();
            async move {
                json_with(
                    200,
                    &json!({"jsonrpc": "2.0", "id": id, "result": text_result("crossed")}),
                )
            }
        }
    };
    for id in [json!(999_999), json!("1"), Value::Null] {
        assert_eq!(failure_of(crossed(id)).await.code, Code::Internal);
    }
    let failure = failure_of(|_| async {
        events(&[json!({"jsonrpc": "2.0", "id": 999_999, "result": text_result("crossed")})])
    });
    assert_eq!(failure.await.code, Code::Unavailable);
}

#[tokio::test]
async fn answers_that_are_not_mcp_are_reported() {
    assert_eq!(
        failure_of(|_| async { plain(200, "<html>hello</html>") }).await.code,
        Code::Internal
    );
    assert_eq!(failure_of(|_| async { json_with(200, &json!([1, 2])) }).await.code, Code::Internal);
    let cut = |received: ReceivedRequest| async move {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":["#, received.id());
        Response::builder()
            .header("content-type", "application/json")
            .body(Body::from(body))
            .unwrap()
    };
    assert_eq!(failure_of(cut).await.code, Code::Internal);
    assert_eq!(
        failure_of(|received| async move { result(&received, json!("text")) }).await.code,
        Code::Internal
    );
    let wrong =
        |received: ReceivedRequest| async move { result(&received, json!({"content": "text"})) };
    assert_eq!(failure_of(wrong).await.code, Code::Internal);
    assert_eq!(
        failure_of(|_| async { raw_events("data: nonsense\n\n") }).await.code,
        Code::Internal
    );
    assert_eq!(failure_of(|_| async { plain(202, "") }).await.code, Code::Internal);
    assert_eq!(failure_of(|_| async { plain(500, "oops") }).await.code, Code::Internal);
}

#[tokio::test]
async fn http_statuses_map_to_codes() {
    let failure = failure_of(|_| async {
        let mut response = plain(429, "");
        response.headers_mut().insert("retry-after", "7".parse().unwrap());
        response
    });
    let failure = failure.await;
    assert_eq!(
        (failure.code, failure.retry_after),
        (Code::RateLimit, Some(Duration::from_secs(7)))
    );
    let failure = failure_of(|_| async { plain(401, "") }).await;
    assert_eq!((failure.code, failure.retryable), (Code::Unavailable, false));
    let failure = failure_of(|_| async { plain(503, "") }).await;
    assert_eq!((failure.code, failure.retryable), (Code::Unavailable, true));
}

#[tokio::test]
async fn a_hundred_megabytes_are_not_read() {
    let flood = || {
        let chunk = axum::body::Bytes::from(vec![b'x'; 1_000_000]);
        Body::from_stream(futures_util::stream::iter(
            (0..100).map(move |_| Ok::<_, io::Error>(chunk.clone())),
        ))
    };
    let json = move |_| async move {
        Response::builder().header("content-type", "application/json").body(flood()).unwrap()
    };
    let failure = failure_of(json).await;
    assert_eq!(failure.code, Code::Internal);
    let event = move |_| async move { raw_events(flood()) };
    let failure = failure_of(event).await;
    assert_eq!(failure.code, Code::Internal);
    assert_eq!(failure.details.unwrap()["limit"], 8 * 1024 * 1024);
}

#[tokio::test]
async fn a_redirect_to_a_private_address_is_not_followed() {
    let secret = Fake::new(|received| async move { result(&received, text_result("secret")) });
    let url = secret.url();
    for status in [301, 302, 307, 308] {
        let url = url.clone();
        let failure = failure_of(move |_| {
            let url = url.clone();
            async move {
                Response::builder()
                    .status(status)
                    .header("location", url)
                    .body(Body::empty())
                    .unwrap()
            }
        });
        let failure = failure.await;
        assert_eq!((failure.code, failure.retryable), (Code::Unavailable, false));
    }
    let failure = failure_of(|_| async {
        let metadata = "http://169.254.169.254/latest/meta-data/";
        Response::builder().status(307).header("location", metadata).body(Body::empty()).unwrap()
    });
    assert_eq!(failure.await.code, Code::Unavailable);
    assert!(secret.requests().is_empty());
}

#[tokio::test]
async fn a_redirect_stays_with_the_server_whatever_egress_allows() {
    let internal = Fake::new(|received| async move { result(&received, text_result("internal")) });
    let (away, asked_home) = (internal.url(), AtomicUsize::new(0));
    let fake = Fake::new(move |received: ReceivedRequest| {
        let to = match received.body["params"]["name"].as_str() {
            Some("away") => Some(away.clone()),
            // The first of two requests is sent to another path.
            Some("home") if asked_home.fetch_add(1, Ordering::SeqCst) == 0 => Some("/b".to_owned()),
            _ => None,
        };
        std::future::ready(match to {
            Some(to) => {
                Response::builder().status(307).header("location", to).body(Body::empty()).unwrap()
            }
            None if received.method_name() == "tools/call" => {
                result(&received, text_result("home"))
            }
            None => modern(&received, &[tool("away"), tool("home")]),
        })
    });
    let policy = AddressPolicy::new(vec!["127.0.0.1".parse().unwrap()], OwnListeners::default());
    let servers = vec![("s", at(&fake.url()))];
    let setup = Setup::guarded(servers, quick(), Default::default(), policy).await;
    setup.wait_for_tool("s:away").await;
    let failure = setup.call("s:away", json!({})).await.unwrap_err();
    assert_eq!((failure.code, failure.retryable), (Code::Unavailable, false));
    assert!(internal.requests().is_empty(), "the gateway may reach it, but not for this server");
    assert_eq!(setup.text("s:home", json!({})).await, "home");
    assert_eq!(fake.requests_of("tools/call").len(), 3);
}

#[tokio::test]
async fn a_stream_that_ends_early_is_reported() {
    let half = |received: ReceivedRequest| async move {
        raw_events(format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{},\"resu", received.id()))
    };
    let failure = failure_of(half).await;
    assert_eq!((failure.code, failure.retryable), (Code::Unavailable, true));
    let broken = |_| async {
        let parts = [Ok("{\"jsonrpc\":".to_owned()), Err(io::Error::other("gone"))];
        let body = Body::from_stream(futures_util::stream::iter(parts));
        Response::builder().header("content-type", "application/json").body(body).unwrap()
    };
    assert_eq!(failure_of(broken).await.code, Code::Unavailable);
}

/// A TCP server: reads a request, writes this answer, and closes the connection.
async fn raw(answer: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = vec![0; 64 * 1024];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(answer).await;
            });
        }
    });
    address
}

#[tokio::test]
async fn a_server_that_does_not_speak_http_is_down() {
    let answers: [&'static [u8]; 4] = [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\ncontent-type: application/json\r\n\r\n{\"jso",
        b"HTTP/1.1 200 OK\r\nx: ",
    ];
    for answer in answers {
        let address = raw(answer).await;
        let setup = Setup::with(vec![("raw", at(&format!("http://{address}/mcp")))]).await;
        eventually("it is noticed", || setup.status("raw").last_error.is_some()).await;
        setup.wait_for_state("raw", ServerState::Down).await;
        assert!(setup.tools().is_empty());
    }
}

#[tokio::test]
async fn a_server_that_never_answers_only_delays_its_own_callers() {
    let fake = Fake::new(|received: ReceivedRequest| async move {
        match received.method_name() {
            "tools/call" if received.body["params"]["name"] == "hang" => {
                std::future::pending().await
            }
            "tools/call" => result(&received, text_result("ok")),
            _ => modern(&received, &[tool("hang"), tool("ok")]),
        }
    });
    let config =
        server_entry::ServerConfig { timeout: Some(Duration::from_millis(200)), ..at(&fake.url()) };
    let setup = Setup::with(vec![("s", config)]).await;
    setup.wait_for_tool("s:hang").await;
    let snapshot = setup.catalog.snapshot();
    let entry = snapshot.resolve("s:hang").unwrap();
    assert_eq!(entry.limits.timeout, Duration::from_millis(200), "the strip ends the call");
    for _ in 0..2 {
        let call = crate::support::call_by("a", "s:hang", json!({}));
        assert!(
            tokio::time::timeout(entry.limits.timeout, entry.tool.run(&strip::Job::new(call)))
                .await
                .is_err()
        );
    }
    assert_eq!(setup.text("s:ok", json!({})).await, "ok");
    assert_eq!(setup.status("s").replicas[0].outstanding, 0);
}

#[tokio::test]
async fn a_server_that_always_announces_changes_is_listed_with_pauses() {
    let fake = Fake::new(|received: ReceivedRequest| async move {
        let notice = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
        match received.method_name() {
            "tools/list" => {
                let name = format!("t{}", received.id());
                let answer = json!({"jsonrpc": "2.0", "id": received.id(), "result": {"tools": [tool(&name)]}});
                events(&[notice, answer])
            }
            _ => modern(&received, &[]),
        }
    });
    let timing = Timing { backoff: Duration::from_millis(100), ..quick() };
    let begun = Instant::now();
    let setup = Setup::timed(vec![("s", at(&fake.url()))], timing, Default::default()).await;
    eventually("it is listed five times", || fake.requests_of("tools/list").len() >= 5).await;
    assert!(begun.elapsed() >= Duration::from_millis(400), "{:?}", begun.elapsed());
    setup.upstreams.stop().await;
}

#[tokio::test]
async fn a_malformed_list_is_a_fault_of_the_server() {
    for answer in [json!({"tools": "none"}), json!([]), json!({})] {
        let shown = answer.clone();
        let fake = Fake::new(move |received: ReceivedRequest| {
            let answer = answer.clone();
            async move {
                if received.method_name() == "tools/list" {
                    result(&received, answer)
                } else {
                    modern(&received, &[])
                }
            }
        });
        let setup = Setup::with(vec![("s", at(&fake.url()))]).await;
        eventually("it is noticed", || setup.status("s").last_error.is_some()).await;
        assert!(setup.status("s").last_error.unwrap().contains("tools/list"), "{shown}");
        setup.upstreams.stop().await;
    }
    let round = Fake::new(|received: ReceivedRequest| async move {
        if received.method_name() == "tools/list" {
            return result(&received, json!({"tools": [tool("a")], "nextCursor": "again"}));
        }
        modern(&received, &[])
    });
    let setup = Setup::with(vec![("s", at(&round.url()))]).await;
    eventually("it is noticed", || setup.status("s").last_error.is_some()).await;
    assert!(setup.status("s").last_error.unwrap().contains("repeats a cursor"));
    tokio::time::timeout(TIMEOUT, setup.upstreams.stop()).await.unwrap();
}
