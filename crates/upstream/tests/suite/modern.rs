//! Servers of 2026-07-28.

use axum::body::Body;
use operations::servers::ServerState;
use proto::Code;
use serde_json::{Value, json};
use server_entry::ServerConfig;
use upstream::Era;

use crate::fake::{
    Fake, error, events, modern, raw_events, result, text_result, tool, well_behaved,
};
use crate::support::{Setup, at, call_by, eventually, text};

#[tokio::test]
async fn tools_are_listed_and_called() {
    let fake = Fake::new(well_behaved("a"));
    let setup = Setup::with(vec![("doc", at(&fake.url()))]).await;
    setup.wait_for_tool("doc:echo").await;
    assert_eq!(setup.text("doc:echo", json!({"x": [1, "é"]})).await, r#"{"x":[1,"é"]}"#);
    let status = setup.status("doc");
    assert_eq!(
        (status.state, status.era, status.tools),
        (ServerState::Ready, Some(Era::Modern), 2)
    );
    assert_eq!(status.server, Some(json!({"name": "fake", "version": "3"})));
    assert_eq!(status.transport, "http");
    assert!(fake.requests_of("initialize").is_empty());
}

#[tokio::test]
async fn a_call_carries_what_the_protocol_asks_for_and_nothing_of_the_callers_identity() {
    let listed = json!({"name": "t", "inputSchema": {"type": "object", "properties":
        {"region": {"type": "string", "x-mcp-header": "Region"}}}});
    let fake = Fake::new(move |received| {
        let listed = listed.clone();
        async move {
            if received.method_name() == "tools/call" {
                result(&received, text_result("ok"))
            } else {
                modern(&received, &[listed])
            }
        }
    });
    let config = ServerConfig {
        headers: [("X-Api-Key".to_owned(), "canary".to_owned())].into(),
        ..at(&fake.url())
    };
    let setup = Setup::with(vec![("s", config)]).await;
    setup.wait_for_tool("s:t").await;
    let mut call = call_by("subject-secret", "s:t", json!({"region": " west"}));
    call.idempotency_key = Some("key-1".to_owned());
    setup.run(call).await.unwrap();

    let received = fake.requests_of("tools/call").pop().unwrap();
    for (name, value) in [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "t"),
        ("mcp-param-region", "=?base64?IHdlc3Q=?="),
        ("x-api-key", "canary"),
        ("accept", "application/json, text/event-stream"),
    ] {
        assert_eq!(received.header(name), Some(value), "{name}");
    }
    let meta = &received.body["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["powerstrip/idempotency-key"], "key-1");
    assert!(received.header("mcp-session-id").is_none());
    assert!(!format!("{received:?}").contains("subject-secret"));
    assert!(!format!("{:?}", setup.status("s")).contains("canary"));
}

#[tokio::test]
async fn answers_may_come_as_events_among_other_messages() {
    let fake = Fake::new(|received| async move {
        if received.method_name() != "tools/call" {
            return modern(&received, &[tool("t")]);
        }
        events(&[
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}),
            json!({"jsonrpc": "2.0", "id": 999_999, "result": text_result("crossed")}),
            json!({"jsonrpc": "2.0", "id": received.id(), "result": text_result("own")}),
            json!({"jsonrpc": "2.0", "id": received.id(), "result": text_result("twice")}),
        ])
    });
    let setup = Setup::with(vec![("s", at(&fake.url()))]).await;
    setup.wait_for_tool("s:t").await;
    for _ in 0..5 {
        assert_eq!(setup.text("s:t", json!({})).await, "own");
    }
    assert_eq!(setup.status("s").odd_messages, 5, "the crossed ones");
}

#[tokio::test]
async fn two_hundred_callers_at_once_get_their_own_answers() {
    let fake = Fake::new(well_behaved("a"));
    let setup = Setup::with(vec![("s", at(&fake.url()))]).await;
    setup.wait_for_tool("s:echo").await;
    let calls = (0..200).map(|n| setup.text("s:echo", json!({"n": n})));
    for (n, text) in futures_util::future::join_all(calls).await.into_iter().enumerate() {
        assert_eq!(text, json!({"n": n}).to_string());
    }
}

#[tokio::test]
async fn results_pass_whole_and_failures_keep_their_result() {
    let fake = Fake::new(|received| async move {
        match received.method_name() {
            "tools/call" if received.arguments()["fail"] == true => result(
                &received,
                json!({"isError": true, "content": [{"type": "text", "text": "no such file"}], "x": 1}),
            ),
            "tools/call" => result(
                &received,
                json!({"structuredContent": {"n": 3}, "_meta": {"k": "v"}, "new": [1],
                    "content": [{"type": "image", "data": "QQ==", "mimeType": "image/png"}]}),
            ),
            _ => modern(&received, &[tool("t")]),
        }
    });
    let setup = Setup::with(vec![("s", at(&fake.url()))]).await;
    setup.wait_for_tool("s:t").await;
    let output = setup.call("s:t", json!({})).await.unwrap();
    assert_eq!(*output.data, json!({"n": 3}));
    let native = output.native.unwrap();
    assert_eq!((&native["_meta"]["k"], &native["new"]), (&json!("v"), &json!([1])));
    assert_eq!(native["content"][0]["mimeType"], "image/png");

    let failure = setup.call("s:t", json!({"fail": true})).await.unwrap_err();
    assert_eq!((failure.code, failure.message.as_str()), (Code::Internal, "no such file"));
    assert_eq!(failure.native.unwrap()["x"], 1);
}

#[tokio::test]
async fn errors_of_the_server_keep_their_meaning() {
    let fake = Fake::new(|received| async move {
        if received.method_name() != "tools/call" {
            return modern(&received, &[tool("t")]);
        }
        let code = received.arguments()["code"].as_i64().unwrap();
        let status = if matches!(code, -32021 | -32020) { 400 } else { 200 };
        error(status, &received, code, "because")
    });
    let setup = Setup::with(vec![("s", at(&fake.url()))]).await;
    setup.wait_for_tool("s:t").await;
    for (code, expected) in [
        (-32602, Code::InvalidInput),
        (-32601, Code::Unsupported),
        (-32002, Code::NotFound),
        (-32021, Code::Unsupported),
        (-32603, Code::Internal),
        (-1, Code::Internal),
    ] {
        let failure = setup.call("s:t", json!({"code": code})).await.unwrap_err();
        assert_eq!(failure.code, expected, "{code}");
        assert!(failure.message.contains("`s`") && failure.message.contains("because"));
        assert_eq!(failure.details.unwrap()["code"], code);
    }
    assert_eq!(setup.status("s").state, ServerState::Ready);
}

#[tokio::test]
async fn a_cancelled_call_closes_the_stream() {
    let fake = Fake::new(|received| async move {
        match received.method_name() {
            "tools/call" => raw_events(Body::from_stream(futures_util::stream::pending::<
                Result<String, std::io::Error>,
            >())),
            _ => modern(&received, &[tool("t")]),
        }
    });
    let setup = Setup::with(vec![("s", at(&fake.url()))]).await;
    setup.wait_for_tool("s:t").await;
    let call = call_by("a", "s:t", json!({}));
    let cancel = call.cancel.clone();
    let running = setup.run(call);
    let cancelling = async {
        eventually("the call arrives", || !fake.requests_of("tools/call").is_empty()).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(running, cancelling);
    assert_eq!(outcome.unwrap_err().code, Code::Unavailable);
    assert_eq!(setup.status("s").replicas[0].outstanding, 0);
    // In the modern era, closing the stream is the cancellation.
    assert!(fake.requests_of("notifications/cancelled").is_empty());
}

#[tokio::test]
async fn a_subscription_announces_changes() {
    // The permit is stored: the client may not listen yet although it has subscribed.
    let change = std::sync::Arc::new(tokio::sync::Notify::new());
    let changed = change.clone();
    let late = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let more = late.clone();
    let fake = Fake::new(move |received| {
        let (changed, more) = (changed.clone(), more.clone());
        async move {
            match received.method_name() {
                "server/discover" => result(
                    &received,
                    json!({"supportedVersions": ["2026-07-28"],
                    "capabilities": {"tools": {"listChanged": true}}}),
                ),
                "subscriptions/listen" => {
                    assert_eq!(received.body["params"]["notifications"]["toolsListChanged"], true);
                    raw_events(Body::from_stream(futures_util::stream::once(async move {
                        changed.notified().await;
                        let notice =
                            json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
                        Ok::<_, std::io::Error>(format!("data: {notice}\n\n"))
                    })))
                }
                _ if more.load(std::sync::atomic::Ordering::SeqCst) => {
                    modern(&received, &[tool("a"), tool("b")])
                }
                _ => modern(&received, &[tool("a")]),
            }
        }
    });
    let setup = Setup::with(vec![("s", at(&fake.url()))]).await;
    setup.wait_for_tool("s:a").await;
    eventually("it listens", || !fake.requests_of("subscriptions/listen").is_empty()).await;
    late.store(true, std::sync::atomic::Ordering::SeqCst);
    change.notify_one();
    setup.wait_for_tool("s:b").await;
}

#[tokio::test]
async fn hidden_characters_are_counted_or_cleaned() {
    let fake = Fake::new(|received| async move {
        if received.method_name() == "tools/call" {
            result(&received, text_result("a\u{200b}b"))
        } else {
            modern(&received, &[tool("t")])
        }
    });
    let clean = ServerConfig { clean_results: true, ..at(&fake.url()) };
    let setup = Setup::with(vec![("raw", at(&fake.url())), ("clean", clean)]).await;
    setup.wait_for_tool("raw:t").await;
    setup.wait_for_tool("clean:t").await;
    let raw = setup.call("raw:t", Value::Null).await.unwrap();
    assert_eq!(text(&raw), "a\u{200b}b");
    assert!(raw.warnings[0].contains("1 invisible"), "{:?}", raw.warnings);
    assert_eq!(setup.text("clean:t", Value::Null).await, "ab");
}
