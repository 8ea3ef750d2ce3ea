//! Servers that lie, over HTTP. Each costs the call it lied to, who is told its name.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use egress::http::{AddressPolicy, OwnListeners};
use proto::Code;
use serde_json::{Value, json};
use strip::Failure;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use upstream::{State, Timing};

use crate::fake::{Fake, Seen, events, json_with, modern, plain, raw_events, result, said, tool};
use crate::support::{House, PATIENCE, at, eventually, quick};

/// A call to a server that answers calls with this, and its failure.
async fn lied<F>(answer: impl Fn(Seen) -> F + Send + Sync + 'static) -> Failure
where
    F: Future<Output = Response> + Send + 'static,
{
    let answer = std::sync::Arc::new(answer);
    let fake = Fake::new(move |seen: Seen| {
        let answer = std::sync::Arc::clone(&answer);
        async move {
            if seen.asks() == "tools/call" && seen.body["params"]["name"] == "lie" {
                return answer(seen).await;
            }
            if seen.asks() == "tools/call" {
                return result(&seen, said("honest"));
            }
            modern(&seen, &[tool("lie"), tool("honest")])
        }
    });
    let house = House::with(vec![("liar", at(&fake.url()))]).await;
    house.offers("liar:lie").await;
    let failure = house.call("liar:lie", json!({})).await.unwrap_err();
    assert!(failure.message.contains("`liar`"), "{}", failure.message);
    assert!(!failure.message.contains("127.0.0.1"), "{}", failure.message);
    assert_eq!(house.text("liar:honest", json!({})).await, "honest", "only that call is lost");
    failure
}

#[tokio::test]
async fn an_answer_to_another_request_is_no_answer() {
    let crossed = |id: Value| {
        move |_| {
            let id = id.clone();
            async move {
                json_with(200, &json!({"jsonrpc": "2.0", "id": id, "result": said("crossed")}))
            }
        }
    };
    for id in [json!(999_999), json!("1"), Value::Null] {
        assert_eq!(lied(crossed(id)).await.code, Code::Internal);
    }
    let failure = lied(|_| async {
        events(&[json!({"jsonrpc": "2.0", "id": 999_999, "result": said("crossed")})])
    });
    assert_eq!(failure.await.code, Code::Unavailable);
}

#[tokio::test]
async fn what_is_not_mcp_is_said_to_be_so() {
    assert_eq!(lied(|_| async { plain(200, "<html>hello</html>") }).await.code, Code::Internal);
    assert_eq!(lied(|_| async { json_with(200, &json!([1, 2])) }).await.code, Code::Internal);
    let cut = |seen: Seen| async move {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":["#, seen.id());
        Response::builder()
            .header("content-type", "application/json")
            .body(Body::from(body))
            .unwrap()
    };
    assert_eq!(lied(cut).await.code, Code::Internal);
    assert_eq!(lied(|seen| async move { result(&seen, json!("text")) }).await.code, Code::Internal);
    let wrong = |seen: Seen| async move { result(&seen, json!({"content": "text"})) };
    assert_eq!(lied(wrong).await.code, Code::Internal);
    assert_eq!(lied(|_| async { raw_events("data: nonsense\n\n") }).await.code, Code::Internal);
    assert_eq!(lied(|_| async { plain(202, "") }).await.code, Code::Internal);
    assert_eq!(lied(|_| async { plain(500, "oops") }).await.code, Code::Internal);
}

#[tokio::test]
async fn refusals_have_their_meaning() {
    let failure = lied(|_| async {
        let mut response = plain(429, "");
        response.headers_mut().insert("retry-after", "7".parse().unwrap());
        response
    });
    let failure = failure.await;
    assert_eq!(
        (failure.code, failure.retry_after),
        (Code::RateLimit, Some(Duration::from_secs(7)))
    );
    let failure = lied(|_| async { plain(401, "") }).await;
    assert_eq!((failure.code, failure.retryable), (Code::Unavailable, false));
    let failure = lied(|_| async { plain(503, "") }).await;
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
    let failure = lied(json).await;
    assert_eq!(failure.code, Code::Internal);
    let event = move |_| async move { raw_events(flood()) };
    let failure = lied(event).await;
    assert_eq!(failure.code, Code::Internal);
    assert_eq!(failure.details.unwrap()["limit"], 8 * 1024 * 1024);
}

#[tokio::test]
async fn a_redirect_to_a_private_place_is_not_followed() {
    let secret = Fake::new(|seen| async move { result(&seen, said("secret")) });
    let url = secret.url();
    for status in [301, 302, 307, 308] {
        let url = url.clone();
        let failure = lied(move |_| {
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
    let failure = lied(|_| async {
        let metadata = "http://169.254.169.254/latest/meta-data/";
        Response::builder().status(307).header("location", metadata).body(Body::empty()).unwrap()
    });
    assert_eq!(failure.await.code, Code::Unavailable);
    assert!(secret.seen().is_empty());
}

#[tokio::test]
async fn a_redirect_stays_with_the_server_whatever_egress_allows() {
    let internal = Fake::new(|seen| async move { result(&seen, said("internal")) });
    let (away, asked_home) = (internal.url(), AtomicUsize::new(0));
    let fake = Fake::new(move |seen: Seen| {
        let to = match seen.body["params"]["name"].as_str() {
            Some("away") => Some(away.clone()),
            // The first of two requests is sent to another path.
            Some("home") if asked_home.fetch_add(1, Ordering::SeqCst) == 0 => Some("/b".to_owned()),
            _ => None,
        };
        std::future::ready(match to {
            Some(to) => {
                Response::builder().status(307).header("location", to).body(Body::empty()).unwrap()
            }
            None if seen.asks() == "tools/call" => result(&seen, said("home")),
            None => modern(&seen, &[tool("away"), tool("home")]),
        })
    });
    let policy = AddressPolicy::new(vec!["127.0.0.1".parse().unwrap()], OwnListeners::default());
    let servers = vec![("s", at(&fake.url()))];
    let house = House::guarded(servers, quick(), Default::default(), policy).await;
    house.offers("s:away").await;
    let failure = house.call("s:away", json!({})).await.unwrap_err();
    assert_eq!((failure.code, failure.retryable), (Code::Unavailable, false));
    assert!(internal.seen().is_empty(), "the gateway may reach it, but not for this server");
    assert_eq!(house.text("s:home", json!({})).await, "home");
    assert_eq!(fake.asked("tools/call").len(), 3);
}

#[tokio::test]
async fn a_stream_that_closes_in_the_middle_is_told() {
    let half = |seen: Seen| async move {
        raw_events(format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{},\"resu", seen.id()))
    };
    let failure = lied(half).await;
    assert_eq!((failure.code, failure.retryable), (Code::Unavailable, true));
    let broken = |_| async {
        let parts = [Ok("{\"jsonrpc\":".to_owned()), Err(io::Error::other("gone"))];
        let body = Body::from_stream(futures_util::stream::iter(parts));
        Response::builder().header("content-type", "application/json").body(body).unwrap()
    };
    assert_eq!(lied(broken).await.code, Code::Unavailable);
}

/// A server below HTTP: what it gets for each connection is read, and this is written, before it closes.
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
async fn what_is_not_even_http_is_down() {
    let answers: [&'static [u8]; 4] = [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\ncontent-type: application/json\r\n\r\n{\"jso",
        b"HTTP/1.1 200 OK\r\nx: ",
    ];
    for answer in answers {
        let address = raw(answer).await;
        let house = House::with(vec![("raw", at(&format!("http://{address}/mcp")))]).await;
        eventually("it is noticed", || house.status("raw").last_error.is_some()).await;
        house.becomes("raw", State::Down).await;
        assert!(house.tools().is_empty());
    }
}

#[tokio::test]
async fn a_server_that_never_answers_costs_its_callers_time_and_nothing_else() {
    let fake = Fake::new(|seen: Seen| async move {
        match seen.asks() {
            "tools/call" if seen.body["params"]["name"] == "hang" => std::future::pending().await,
            "tools/call" => result(&seen, said("ok")),
            _ => modern(&seen, &[tool("hang"), tool("ok")]),
        }
    });
    let config =
        upstream::ServerConfig { timeout: Some(Duration::from_millis(200)), ..at(&fake.url()) };
    let house = House::with(vec![("s", config)]).await;
    house.offers("s:hang").await;
    let snapshot = house.catalog.snapshot();
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
    assert_eq!(house.text("s:ok", json!({})).await, "ok");
    assert_eq!(house.status("s").replicas[0].outstanding, 0);
}

#[tokio::test]
async fn a_server_that_always_says_that_it_has_changed_is_listed_with_pauses() {
    let fake = Fake::new(|seen: Seen| async move {
        let notice = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
        match seen.asks() {
            "tools/list" => {
                let name = format!("t{}", seen.id());
                let answer =
                    json!({"jsonrpc": "2.0", "id": seen.id(), "result": {"tools": [tool(&name)]}});
                events(&[notice, answer])
            }
            _ => modern(&seen, &[]),
        }
    });
    let timing = Timing { backoff: Duration::from_millis(100), ..quick() };
    let begun = Instant::now();
    let house = House::timed(vec![("s", at(&fake.url()))], timing, Default::default()).await;
    eventually("it is listed five times", || fake.asked("tools/list").len() >= 5).await;
    assert!(begun.elapsed() >= Duration::from_millis(400), "{:?}", begun.elapsed());
    house.upstreams.stop().await;
}

#[tokio::test]
async fn a_list_that_is_none_is_a_fault_of_the_server_alone() {
    for answer in [json!({"tools": "none"}), json!([]), json!({})] {
        let shown = answer.clone();
        let fake = Fake::new(move |seen: Seen| {
            let answer = answer.clone();
            async move {
                if seen.asks() == "tools/list" { result(&seen, answer) } else { modern(&seen, &[]) }
            }
        });
        let house = House::with(vec![("s", at(&fake.url()))]).await;
        eventually("it is noticed", || house.status("s").last_error.is_some()).await;
        assert!(house.status("s").last_error.unwrap().contains("tools/list"), "{shown}");
        house.upstreams.stop().await;
    }
    let round = Fake::new(|seen: Seen| async move {
        if seen.asks() == "tools/list" {
            return result(&seen, json!({"tools": [tool("a")], "nextCursor": "again"}));
        }
        modern(&seen, &[])
    });
    let house = House::with(vec![("s", at(&round.url()))]).await;
    eventually("it is noticed", || house.status("s").last_error.is_some()).await;
    assert!(house.status("s").last_error.unwrap().contains("circles"));
    tokio::time::timeout(PATIENCE, house.upstreams.stop()).await.unwrap();
}
