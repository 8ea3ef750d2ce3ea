//! Updates of resources count only on the channel on which the gateway subscribed: one caller's session must not notify
//! other clients.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::{StreamExt as _, stream};
use http::Method;
use proto::TenantId;
use serde_json::{Value, json};
use strip::AskMode;
use strip::servers::{Notice, NoticeKind};
use tokio::sync::Notify;
use tokio::sync::broadcast::error::TryRecvError;

use crate::bridging::{Caller, by};
use crate::fake::{
    Fake, ReceivedRequest, error, events, plain, raw_events, result, text_result, tool,
};
use crate::python::server;
use crate::support::{Setup, TIMEOUT, at, call_by};

fn updated(uri: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}})
}

/// A call's answer, after an update of a resource.
fn answer_with_update(received: &ReceivedRequest) -> Response {
    let done = json!({"jsonrpc": "2.0", "id": received.id(), "result": text_result("done")});
    events(&[updated("in:call"), done])
}

/// A stream that sends one update when it is triggered, and stays open.
fn open_stream(first: Vec<Value>, uri: &'static str, now: Arc<Notify>) -> Response {
    let later = stream::once(async move {
        now.notified().await;
        updated(uri)
    });
    let messages = stream::iter(first).chain(later).chain(stream::pending());
    let text = messages.map(|message| Ok::<_, std::io::Error>(format!("data: {message}\n\n")));
    raw_events(Body::from_stream(text))
}

fn modern(received: &ReceivedRequest, now: &Arc<Notify>) -> Response {
    match received.method_name() {
        "server/discover" => result(
            received,
            json!({"supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}, "resources": {"subscribe": true}}}),
        ),
        "tools/list" => result(received, json!({"tools": [tool("touch")]})),
        "tools/call" => answer_with_update(received),
        "subscriptions/listen" => {
            let about = json!({"_meta": {"io.modelcontextprotocol/subscriptionId": received.id()}});
            let method = "notifications/subscriptions/acknowledged";
            let begun = json!({"jsonrpc": "2.0", "method": method, "params": about});
            open_stream(vec![begun], "in:stream", Arc::clone(now))
        }
        other => error(404, received, -32601, other),
    }
}

/// Each session has its own stream; a caller's sends an update at once, the gateway's when it is triggered.
fn legacy(received: &ReceivedRequest, now: &Arc<Notify>) -> Response {
    if received.method == Method::GET {
        return match received.header("mcp-session-id") {
            Some("ours") => open_stream(Vec::new(), "in:stream", Arc::clone(now)),
            _ => open_stream(vec![updated("in:session")], "never", Arc::default()),
        };
    }
    match received.method_name() {
        "initialize" => {
            let capabilities = json!({"tools": {}, "resources": {"subscribe": true}});
            let mut response = result(
                received,
                json!({"protocolVersion": "2025-06-18", "capabilities": capabilities}),
            );
            // The gateway declares all capabilities that it can forward, this caller none.
            let declared = &received.body["params"]["capabilities"];
            let ours = declared.as_object().is_some_and(|declared| declared.len() > 1);
            let id = if ours { "ours" } else { "a-callers" };
            response.headers_mut().insert("mcp-session-id", id.parse().unwrap());
            response
        }
        "tools/list" => result(received, json!({"tools": [tool("touch")]})),
        "tools/call" => answer_with_update(received),
        _ if received.id().is_null() => plain(202, ""),
        other => error(if other == "server/discover" { 400 } else { 200 }, received, -32601, other),
    }
}

#[tokio::test]
async fn only_updates_on_the_gateways_own_stream_are_for_all() {
    for (era, behaviour) in
        [("modern", modern as fn(&ReceivedRequest, &Arc<Notify>) -> Response), ("legacy", legacy)]
    {
        let now = Arc::new(Notify::new());
        let trigger = Arc::clone(&now);
        let fake = Fake::new(move |received| std::future::ready(behaviour(&received, &trigger)));
        let setup = Setup::with(vec![("far", at(&fake.url()))]).await;
        setup.wait_for_tool("far:touch").await;
        let mut notices = setup.servers.notices();
        setup.run(call_by("ann", "far:touch", json!({}))).await.unwrap();
        // With a legacy server, a client that can be asked has its own stream.
        let caller = Arc::new(Caller::new(AskMode::Direct, json!({"elicitation": {}})));
        setup.run(by("bob", "far:touch", &caller)).await.unwrap();
        // The updates in the calls and on callers' streams are older than this one.
        now.notify_one();
        let first = async {
            loop {
                let notice = notices.recv().await.unwrap();
                if notice.instance.is_none() {
                    break notice;
                }
            }
        };
        let first = tokio::time::timeout(TIMEOUT, first).await.unwrap();
        assert_eq!(first.kind, NoticeKind::Updated("in:stream".into()), "{era}");
        assert_eq!(notices.try_recv(), Err(TryRecvError::Empty), "{era}");
    }
}

#[tokio::test]
async fn only_updates_of_the_gateways_own_process_are_for_all() {
    let setup = Setup::with(vec![("py", server(&["tools=touch,pid"]))]).await;
    setup.wait_for_tool("py:touch").await;
    let mut notices = setup.servers.notices();
    let touch = async |tenant: &str, subject: &str, uri: &str| {
        let mut call = call_by(subject, "py:touch", json!({"uri": uri}));
        Arc::make_mut(&mut call.principal).tenant = TenantId::new(tenant);
        setup.run(call).await.unwrap();
    };
    // With several people, no caller uses the listed process: each has its own.
    touch("acme", "ann", "of:ann").await;
    touch("local", "key:ci", "of:key").await;
    // The local user shares it.
    touch("local", "local", "of:home").await;
    let mut seen = Vec::new();
    while let Ok(Notice { instance, kind: NoticeKind::Updated(uri), .. }) = notices.try_recv() {
        seen.push((instance, uri));
    }
    let [(Some(ann), _), (Some(key), _), (None, home)] = &seen[..] else { panic!("{seen:?}") };
    assert_ne!(ann, key, "each caller has its own process");
    assert_eq!(&**home, "of:home");
}
