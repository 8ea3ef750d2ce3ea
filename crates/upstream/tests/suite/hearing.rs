//! Word of a resource counts where the gateway subscribed to it, and nowhere else: one caller's session must not make
//! others read again what they did not see change.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::{StreamExt as _, stream};
use http::Method;
use proto::TenantId;
use serde_json::{Value, json};
use strip::AskMode;
use tokio::sync::Notify;
use tokio::sync::broadcast::error::TryRecvError;

use crate::bridging::{Caller, by};
use crate::fake::{Fake, Seen, error, events, plain, raw_events, result, said, tool};
use crate::python::server;
use crate::support::{House, PATIENCE, at, call_by};

fn updated(uri: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}})
}

/// A call's answer, before which the server speaks of a resource.
fn chatty(seen: &Seen) -> Response {
    let done = json!({"jsonrpc": "2.0", "id": seen.id(), "result": said("done")});
    events(&[updated("in:call"), done])
}

/// A stream that tells one thing once it is asked to, and stays open.
fn standing(first: Vec<Value>, told: &'static str, now: Arc<Notify>) -> Response {
    let later = stream::once(async move {
        now.notified().await;
        updated(told)
    });
    let messages = stream::iter(first).chain(later).chain(stream::pending());
    let text = messages.map(|message| Ok::<_, std::io::Error>(format!("data: {message}\n\n")));
    raw_events(Body::from_stream(text))
}

fn modern(seen: &Seen, now: &Arc<Notify>) -> Response {
    match seen.asks() {
        "server/discover" => result(
            seen,
            json!({"supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}, "resources": {"subscribe": true}}}),
        ),
        "tools/list" => result(seen, json!({"tools": [tool("touch")]})),
        "tools/call" => chatty(seen),
        "subscriptions/listen" => {
            let about = json!({"_meta": {"io.modelcontextprotocol/subscriptionId": seen.id()}});
            let method = "notifications/subscriptions/acknowledged";
            let begun = json!({"jsonrpc": "2.0", "method": method, "params": about});
            standing(vec![begun], "in:stream", Arc::clone(now))
        }
        other => error(404, seen, -32601, other),
    }
}

/// Each session has a stream of its own; a caller's tells at once, the gateway's when it is asked to.
fn legacy(seen: &Seen, now: &Arc<Notify>) -> Response {
    if seen.method == Method::GET {
        return match seen.header("mcp-session-id") {
            Some("ours") => standing(Vec::new(), "in:stream", Arc::clone(now)),
            _ => standing(vec![updated("in:session")], "never", Arc::default()),
        };
    }
    match seen.asks() {
        "initialize" => {
            let capabilities = json!({"tools": {}, "resources": {"subscribe": true}});
            let mut greeted = result(
                seen,
                json!({"protocolVersion": "2025-06-18", "capabilities": capabilities}),
            );
            // The gateway promises all that it can pass on, this caller nothing.
            let promises = &seen.body["params"]["capabilities"];
            let ours = promises.as_object().is_some_and(|promises| promises.len() > 1);
            let id = if ours { "ours" } else { "a-callers" };
            greeted.headers_mut().insert("mcp-session-id", id.parse().unwrap());
            greeted
        }
        "tools/list" => result(seen, json!({"tools": [tool("touch")]})),
        "tools/call" => chatty(seen),
        _ if seen.id().is_null() => plain(202, ""),
        other => error(if other == "server/discover" { 400 } else { 200 }, seen, -32601, other),
    }
}

#[tokio::test]
async fn word_of_a_resource_counts_on_the_gateways_own_stream_alone() {
    for (era, behaviour) in
        [("modern", modern as fn(&Seen, &Arc<Notify>) -> Response), ("legacy", legacy)]
    {
        let now = Arc::new(Notify::new());
        let told = Arc::clone(&now);
        let fake = Fake::new(move |seen| std::future::ready(behaviour(&seen, &told)));
        let house = House::with(vec![("far", at(&fake.url()))]).await;
        house.offers("far:touch").await;
        let mut updates = house.beside.updates();
        house.run(call_by("ann", "far:touch", json!({}))).await.unwrap();
        // One who can be asked has, with a legacy server, a stream of their own.
        let caller = Arc::new(Caller::new(AskMode::Direct, json!({"elicitation": {}})));
        house.run(by("bob", "far:touch", &caller)).await.unwrap();
        // Whatever was said in the calls and on callers' streams is older than this.
        now.notify_one();
        let first = tokio::time::timeout(PATIENCE, updates.recv()).await.unwrap().unwrap();
        assert_eq!(&*first.uri, "in:stream", "{era}");
        assert_eq!(updates.try_recv(), Err(TryRecvError::Empty), "{era}");
    }
}

#[tokio::test]
async fn word_of_a_resource_counts_from_the_gateways_own_process_alone() {
    let house = House::with(vec![("py", server(&["tools=touch,pid"]))]).await;
    house.offers("py:touch").await;
    let mut updates = house.beside.updates();
    let touch = async |tenant: &str, subject: &str, uri: &str| {
        let mut call = call_by(subject, "py:touch", json!({"uri": uri}));
        Arc::make_mut(&mut call.principal).tenant = TenantId::new(tenant);
        house.run(call).await.unwrap();
    };
    // Where there are several people, the process that is listed is nobody's: each has one of their own.
    touch("acme", "ann", "of:ann").await;
    touch("local", "key:ci", "of:key").await;
    // The local user shares it.
    touch("local", "local", "of:home").await;
    assert_eq!(&*updates.try_recv().unwrap().uri, "of:home");
    assert_eq!(updates.try_recv(), Err(TryRecvError::Empty));
}
