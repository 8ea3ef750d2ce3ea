//! Several URLs of one server.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use proto::Code;
use serde_json::json;
use upstream::{ServerConfig, State};

use crate::fake::{Fake, Place, Seen, error, modern, plain, result, said, tool, well_behaved};
use crate::support::{House, at, eventually};

fn over(urls: &[String]) -> ServerConfig {
    ServerConfig { urls: urls.to_vec(), ..ServerConfig::default() }
}

#[tokio::test]
async fn calls_are_spread_and_go_where_there_is_less_to_do() {
    let busy = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&busy);
    let slow = Fake::new(move |seen: Seen| {
        let counter = Arc::clone(&counter);
        async move {
            if seen.asks() == "tools/call" {
                counter.fetch_add(1, Ordering::SeqCst);
                // Slow beside the others, also where these are slow because the machine is busy.
                tokio::time::sleep(Duration::from_secs(1)).await;
                return result(&seen, said("slow"));
            }
            modern(&seen, &[tool("who")])
        }
    });
    let (a, b) = (Fake::new(well_behaved("a")), Fake::new(well_behaved("b")));
    let house = House::with(vec![("s", over(&[slow.url(), a.url(), b.url()]))]).await;
    house.offers("s:who").await;
    let mut said: HashMap<String, usize> = HashMap::new();
    let house = &house;
    let callers = (0..8).map(|_| async move {
        let mut heard = Vec::new();
        for _ in 0..30 {
            heard.push(house.text("s:who", json!({})).await);
        }
        heard
    });
    for text in join_all(callers).await.into_iter().flatten() {
        *said.entry(text).or_default() += 1;
    }
    assert!(said["a"] >= 40 && said["b"] >= 40, "{said:?}");
    // A third would be even; who still has work gets less.
    let slow = said.get("slow").copied().unwrap_or_default();
    assert!(slow < said["a"] / 2 && slow < said["b"] / 2, "{said:?}");
    assert_eq!(busy.load(Ordering::SeqCst), slow);
}

#[tokio::test]
async fn a_dead_replica_costs_no_call_and_is_back_when_it_returns() {
    let (a, b) = (Fake::new(well_behaved("a")), Fake::new(well_behaved("b")));
    let house = House::with(vec![("s", over(&[a.url(), b.url()]))]).await;
    house.offers("s:who").await;
    let place = a.kill();
    for _ in 0..50 {
        assert_eq!(house.text("s:who", json!({})).await, "b");
    }
    for _ in 0..50 {
        // No connection is left that could break, so that even a call that must not run twice can go elsewhere.
        assert_eq!(house.text("s:echo", json!({})).await, "{}");
    }
    let admitted = |at: usize| house.status("s").replicas[at].admitted;
    assert!(admitted(1));
    assert_eq!(house.status("s").state, State::Ready);
    let _back = Fake::on(place, well_behaved("c"));
    eventually("it is admitted again", || {
        admitted(0) && house.status("s").replicas[0].last_error.is_none()
    })
    .await;
    let mut seen = false;
    for _ in 0..50 {
        seen |= house.text("s:who", json!({})).await == "c";
    }
    assert!(seen);
}

/// A server whose calls end without an answer when told so.
fn flaky(fail: Arc<AtomicBool>, calls: Arc<AtomicUsize>, annotations: serde_json::Value) -> Fake {
    Fake::new(move |seen: Seen| {
        let (fail, calls, annotations) =
            (Arc::clone(&fail), Arc::clone(&calls), annotations.clone());
        async move {
            if seen.asks() == "tools/call" {
                calls.fetch_add(1, Ordering::SeqCst);
                if fail.load(Ordering::SeqCst) {
                    // The connection ends in the middle of the answer.
                    let parts = [Ok("{".to_owned()), Err(std::io::Error::other("gone"))];
                    let body = axum::body::Body::from_stream(futures_util::stream::iter(parts));
                    return axum::response::Response::builder()
                        .header("content-type", "application/json")
                        .body(body)
                        .unwrap();
                }
                return result(&seen, said("done"));
            }
            let mut listed = tool("act");
            listed["annotations"] = annotations;
            modern(&seen, &[listed])
        }
    })
}

#[tokio::test]
async fn only_what_may_run_twice_is_sent_twice() {
    for (annotations, retried) in [
        (json!({}), false),
        (json!({"destructiveHint": false}), false),
        (json!({"readOnlyHint": true}), true),
        (json!({"idempotentHint": true}), true),
    ] {
        let calls = Arc::new(AtomicUsize::new(0));
        let fail = Arc::new(AtomicBool::new(true));
        let a = flaky(Arc::clone(&fail), Arc::clone(&calls), annotations.clone());
        let b = flaky(Arc::clone(&fail), Arc::clone(&calls), annotations.clone());
        let house = House::with(vec![("s", over(&[a.url(), b.url()]))]).await;
        house.offers("s:act").await;
        let failure = house.call("s:act", json!({})).await.unwrap_err();
        assert_eq!(failure.code, Code::Unavailable);
        assert_eq!(calls.load(Ordering::SeqCst), if retried { 2 } else { 1 }, "{annotations}");
        if retried {
            assert_eq!(a.asked("tools/call").len(), 1, "on another replica");
        }
        house.upstreams.stop().await;
    }
}

#[tokio::test]
async fn an_answer_is_never_asked_for_again_even_if_it_is_an_error() {
    let calls = Arc::new(AtomicUsize::new(0));
    let make = || {
        let calls = Arc::clone(&calls);
        Fake::new(move |seen: Seen| {
            let calls = Arc::clone(&calls);
            async move {
                if seen.asks() == "tools/call" {
                    calls.fetch_add(1, Ordering::SeqCst);
                    return error(200, &seen, -32603, "internal");
                }
                let mut listed = tool("t");
                listed["annotations"] = json!({"readOnlyHint": true});
                modern(&seen, &[listed])
            }
        })
    };
    let (a, b) = (make(), make());
    let house = House::with(vec![("s", over(&[a.url(), b.url()]))]).await;
    house.offers("s:t").await;
    assert_eq!(house.call("s:t", json!({})).await.unwrap_err().code, Code::Internal);
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn when_all_are_down_callers_are_told_at_once_when_it_is_tried_again() {
    let (one, two) = (Place::new(), Place::new());
    let fake = Fake::new(well_behaved("a"));
    let empty = |place: &Place| format!("http://{}/mcp", place.address);
    let urls = [fake.url(), empty(&one), empty(&two)];
    let house = House::with(vec![("s", over(&urls))]).await;
    house.offers("s:who").await;
    let _empty = fake.kill();
    house.becomes("s", State::Down).await;
    eventually("none is admitted", || house.status("s").replicas.iter().all(|one| !one.admitted))
        .await;
    let mut told = false;
    for _ in 0..20 {
        let failure = house.call("s:who", json!({})).await.unwrap_err();
        assert_eq!(failure.code, Code::Unavailable);
        assert!(failure.message.contains("`s`"), "{}", failure.message);
        told |= failure.message.contains("tried again") && failure.retry_after.is_some();
    }
    assert!(told);
}

#[tokio::test]
async fn pain_13_a_strict_server_is_not_killed_by_health_checks() {
    // It refuses everything but what a client needs, each time in another way.
    let refusals = Arc::new(AtomicUsize::new(0));
    let make = |name: &'static str| {
        let refusals = Arc::clone(&refusals);
        Fake::new(move |seen: Seen| {
            let refusals = Arc::clone(&refusals);
            async move {
                match seen.asks() {
                    "initialize" => {
                        result(&seen, json!({"protocolVersion": "2025-03-26", "capabilities": {}}))
                    }
                    "notifications/initialized" => plain(202, ""),
                    "tools/list" => result(&seen, json!({"tools": [tool("who")]})),
                    "tools/call" => result(&seen, said(name)),
                    "ping" => match refusals.fetch_add(1, Ordering::SeqCst) % 4 {
                        0 => error(200, &seen, -32601, "no such method"),
                        1 => plain(405, ""),
                        2 => plain(500, "strict"),
                        _ => plain(400, "strict"),
                    },
                    _ => plain(400, "strict"),
                }
            }
        })
    };
    let (a, b) = (make("a"), make("b"));
    let house = House::with(vec![("s", over(&[a.url(), b.url()]))]).await;
    house.offers("s:who").await;
    eventually("many checks", || refusals.load(Ordering::SeqCst) >= 20).await;
    assert!(house.status("s").replicas.iter().all(|replica| replica.admitted));
    for _ in 0..20 {
        house.call("s:who", json!({})).await.unwrap();
    }
}

#[tokio::test]
async fn pain_13_one_miss_does_not_give_a_server_up() {
    let misses = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&misses);
    let fake = Fake::new(move |seen: Seen| {
        let counter = Arc::clone(&counter);
        async move {
            let n = counter.fetch_add(1, Ordering::SeqCst);
            // Now and then it stumbles.
            if seen.asks() == "tools/call" && n % 4 == 3 {
                plain(503, "")
            } else {
                well_behaved("a")(seen).await
            }
        }
    });
    let house = House::with(vec![("s", at(&fake.url()))]).await;
    house.offers("s:who").await;
    let mut good = 0;
    for _ in 0..40 {
        match house.call("s:who", json!({})).await {
            Ok(_) => good += 1,
            Err(failure) => assert!(!failure.message.contains("is down"), "{}", failure.message),
        }
    }
    assert!(good >= 25, "{good}");
}
