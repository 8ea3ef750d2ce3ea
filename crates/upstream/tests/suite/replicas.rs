//! Several URLs of one server.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use operations::servers::ServerState;
use proto::Code;
use serde_json::json;
use server_entry::ServerConfig;

use crate::fake::{
    Fake, ReceivedRequest, ReservedAddress, error, modern, plain, result, text_result, tool,
    well_behaved,
};
use crate::support::{Setup, at, eventually};

fn over(urls: &[String]) -> ServerConfig {
    ServerConfig { urls: urls.to_vec(), ..ServerConfig::default() }
}

#[tokio::test]
async fn calls_go_to_the_less_busy_replica() {
    let busy = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&busy);
    let slow = Fake::new(move |received: ReceivedRequest| {
        let counter = Arc::clone(&counter);
        async move {
            if received.method_name() == "tools/call" {
                counter.fetch_add(1, Ordering::SeqCst);
                // Slower than the others even on a busy machine.
                tokio::time::sleep(Duration::from_millis(400)).await;
                return result(&received, text_result("slow"));
            }
            modern(&received, &[tool("who")])
        }
    });
    let (a, b) = (Fake::new(well_behaved("a")), Fake::new(well_behaved("b")));
    let setup = Setup::with(vec![("s", over(&[slow.url(), a.url(), b.url()]))]).await;
    setup.wait_for_tool("s:who").await;
    let mut answers: HashMap<String, usize> = HashMap::new();
    let setup = &setup;
    let callers = (0..8).map(|_| async move {
        let mut texts = Vec::new();
        for _ in 0..30 {
            texts.push(setup.text("s:who", json!({})).await);
        }
        texts
    });
    for text in join_all(callers).await.into_iter().flatten() {
        *answers.entry(text).or_default() += 1;
    }
    assert!(answers["a"] >= 40 && answers["b"] >= 40, "{answers:?}");
    // An even share would be a third; the busy one gets less.
    let slow = answers.get("slow").copied().unwrap_or_default();
    assert!(slow < answers["a"] / 2 && slow < answers["b"] / 2, "{answers:?}");
    assert_eq!(busy.load(Ordering::SeqCst), slow);
}

#[tokio::test]
async fn a_dead_replica_fails_no_call_and_is_used_again_when_it_returns() {
    let (a, b) = (Fake::new(well_behaved("a")), Fake::new(well_behaved("b")));
    let setup = Setup::with(vec![("s", over(&[a.url(), b.url()]))]).await;
    setup.wait_for_tool("s:who").await;
    let address = a.kill();
    for _ in 0..50 {
        assert_eq!(setup.text("s:who", json!({})).await, "b");
    }
    for _ in 0..50 {
        // No connection is left that could break, so that even a call that must not run twice can go elsewhere.
        assert_eq!(setup.text("s:echo", json!({})).await, "{}");
    }
    let admitted = |at: usize| setup.status("s").replicas[at].admitted;
    assert!(admitted(1));
    assert_eq!(setup.status("s").state, ServerState::Degraded);
    let _back = Fake::on(address, well_behaved("c"));
    eventually("it is admitted again", || {
        admitted(0) && setup.status("s").replicas[0].last_error.is_none()
    })
    .await;
    let mut reached = false;
    for _ in 0..50 {
        reached |= setup.text("s:who", json!({})).await == "c";
    }
    assert!(reached);
}

/// A server whose calls end without an answer while `fail` is set.
fn flaky(fail: Arc<AtomicBool>, calls: Arc<AtomicUsize>, annotations: serde_json::Value) -> Fake {
    Fake::new(move |received: ReceivedRequest| {
        let (fail, calls, annotations) =
            (Arc::clone(&fail), Arc::clone(&calls), annotations.clone());
        async move {
            if received.method_name() == "tools/call" {
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
                return result(&received, text_result("done"));
            }
            let mut listed = tool("act");
            listed["annotations"] = annotations;
            modern(&received, &[listed])
        }
    })
}

#[tokio::test]
async fn only_repeatable_calls_are_sent_twice() {
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
        let setup = Setup::with(vec![("s", over(&[a.url(), b.url()]))]).await;
        setup.wait_for_tool("s:act").await;
        let failure = setup.call("s:act", json!({})).await.unwrap_err();
        assert_eq!(failure.code, Code::Unavailable);
        assert_eq!(calls.load(Ordering::SeqCst), if retried { 2 } else { 1 }, "{annotations}");
        if retried {
            assert_eq!(a.requests_of("tools/call").len(), 1, "on another replica");
        }
        setup.upstreams.stop().await;
    }
}

#[tokio::test]
async fn a_call_that_was_answered_with_an_error_is_not_repeated() {
    let calls = Arc::new(AtomicUsize::new(0));
    let make = || {
        let calls = Arc::clone(&calls);
        Fake::new(move |received: ReceivedRequest| {
            let calls = Arc::clone(&calls);
            async move {
                if received.method_name() == "tools/call" {
                    calls.fetch_add(1, Ordering::SeqCst);
                    return error(200, &received, -32603, "internal");
                }
                let mut listed = tool("t");
                listed["annotations"] = json!({"readOnlyHint": true});
                modern(&received, &[listed])
            }
        })
    };
    let (a, b) = (make(), make());
    let setup = Setup::with(vec![("s", over(&[a.url(), b.url()]))]).await;
    setup.wait_for_tool("s:t").await;
    assert_eq!(setup.call("s:t", json!({})).await.unwrap_err().code, Code::Internal);
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn when_all_are_down_calls_fail_at_once_and_say_when_it_is_tried_again() {
    let (one, two) = (ReservedAddress::new(), ReservedAddress::new());
    let fake = Fake::new(well_behaved("a"));
    let empty = |reserved: &ReservedAddress| format!("http://{}/mcp", reserved.address);
    let urls = [fake.url(), empty(&one), empty(&two)];
    let setup = Setup::with(vec![("s", over(&urls))]).await;
    setup.wait_for_tool("s:who").await;
    let _empty = fake.kill();
    setup.wait_for_state("s", ServerState::Down).await;
    eventually("none is admitted", || setup.status("s").replicas.iter().all(|one| !one.admitted))
        .await;
    let mut named = false;
    for _ in 0..20 {
        let failure = setup.call("s:who", json!({})).await.unwrap_err();
        assert_eq!(failure.code, Code::Unavailable);
        assert!(failure.message.contains("`s`"), "{}", failure.message);
        named |= failure.message.contains("tried again") && failure.retry_after.is_some();
    }
    assert!(named);
}

#[tokio::test]
async fn a_strict_server_is_not_killed_by_health_checks() {
    // It refuses everything but what a client needs, each time in another way.
    let refusals = Arc::new(AtomicUsize::new(0));
    let make = |name: &'static str| {
        let refusals = Arc::clone(&refusals);
        Fake::new(move |received: ReceivedRequest| {
            let refusals = Arc::clone(&refusals);
            async move {
                match received.method_name() {
                    "initialize" => result(
                        &received,
                        json!({"protocolVersion": "2025-03-26", "capabilities": {}}),
                    ),
                    "notifications/initialized" => plain(202, ""),
                    "tools/list" => result(&received, json!({"tools": [tool("who")]})),
                    "tools/call" => result(&received, text_result(name)),
                    "ping" => match refusals.fetch_add(1, Ordering::SeqCst) % 4 {
                        0 => error(200, &received, -32601, "no such method"),
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
    let setup = Setup::with(vec![("s", over(&[a.url(), b.url()]))]).await;
    setup.wait_for_tool("s:who").await;
    eventually("many checks", || refusals.load(Ordering::SeqCst) >= 20).await;
    assert!(setup.status("s").replicas.iter().all(|replica| replica.admitted));
    for _ in 0..20 {
        setup.call("s:who", json!({})).await.unwrap();
    }
}

#[tokio::test]
async fn one_failure_does_not_mark_a_server_down() {
    let misses = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&misses);
    let fake = Fake::new(move |received: ReceivedRequest| {
        let counter = Arc::clone(&counter);
        async move {
            let n = counter.fetch_add(1, Ordering::SeqCst);
            // It fails from time to time.
            if received.method_name() == "tools/call" && n % 4 == 3 {
                plain(503, "")
            } else {
                well_behaved("a")(received).await
            }
        }
    });
    let setup = Setup::with(vec![("s", at(&fake.url()))]).await;
    setup.wait_for_tool("s:who").await;
    let mut good = 0;
    for _ in 0..40 {
        match setup.call("s:who", json!({})).await {
            Ok(_) => good += 1,
            Err(failure) => assert!(!failure.message.contains("is down"), "{}", failure.message),
        }
    }
    assert!(good >= 25, "{good}");
}
