//! Servers of 2025-11-25 and before, over HTTP.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use futures_util::future::join_all;
use http::Method;
use operations::servers::ServerState;
use proto::Code;
use serde_json::{Value, json};
use server_entry::{Instances, ServerConfig};
use upstream::{Era, Timing};

use crate::fake::{
    Fake, ReceivedRequest, error, events, modern, plain, raw_events, result, text_result, tool,
};
use crate::support::{Setup, TIMEOUT, at, call_by, eventually, quick, text};

/// The sessions that a legacy server knows, and how it behaves.
#[derive(Clone, Default)]
struct SessionServer {
    open: Arc<Mutex<HashSet<String>>>,
    /// Whether it rejects an unknown session with 400 and a text, instead of 404.
    gentle: Arc<AtomicBool>,
    changed: Arc<tokio::sync::Notify>,
    more: Arc<AtomicBool>,
}

impl SessionServer {
    fn forget_all(&self) {
        self.open.lock().unwrap().clear();
    }

    async fn answer(self, received: ReceivedRequest) -> Response {
        if received.method == Method::DELETE {
            let known = received.header("mcp-session-id").map(str::to_owned).unwrap_or_default();
            self.open.lock().unwrap().remove(&known);
            return plain(200, "");
        }
        if received.method_name() == "initialize" {
            let id = uuid::Uuid::new_v4().to_string();
            self.open.lock().unwrap().insert(id.clone());
            let mut response = result(
                &received,
                json!({"protocolVersion": "2025-06-18", "serverInfo": {"name": "old", "version": "1"},
                    "capabilities": {"tools": {"listChanged": true}}}),
            );
            response.headers_mut().insert("mcp-session-id", id.parse().unwrap());
            return response;
        }
        let Some(session) = received.header("mcp-session-id").map(str::to_owned) else {
            return error(400, &received, -32000, "Bad Request: Server not initialized");
        };
        if !self.open.lock().unwrap().contains(&session) {
            return if self.gentle.load(Ordering::SeqCst) {
                error(400, &received, -32000, "Bad Request: No valid session ID provided")
            } else {
                plain(404, "Session not found")
            };
        }
        assert_eq!(received.header("mcp-protocol-version"), Some("2025-06-18"));
        if received.method == Method::GET {
            let changed = Arc::clone(&self.changed);
            return raw_events(Body::from_stream(futures_util::stream::once(async move {
                changed.notified().await;
                let notice =
                    json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
                Ok::<_, std::io::Error>(format!("data: {notice}\n\n"))
            })));
        }
        match received.method_name() {
            "tools/list" if self.more.load(Ordering::SeqCst) => {
                result(&received, json!({"tools": [tool("session"), tool("more")]}))
            }
            "tools/list" => {
                result(&received, json!({"tools": [tool("session"), tool("ask"), tool("never")]}))
            }
            "tools/call" => match received.body["params"]["name"].as_str() {
                Some("ask") => events(&[
                    json!({"jsonrpc": "2.0", "id": "q1", "method": "ping"}),
                    json!({"jsonrpc": "2.0", "id": "q2", "method": "sampling/createMessage", "params": {}}),
                    json!({"jsonrpc": "2.0", "id": received.id(), "result": text_result("asked")}),
                ]),
                Some("never") => std::future::pending().await,
                _ => result(&received, text_result(&session)),
            },
            _ if received.id().is_null() || received.body.get("method").is_none() => plain(202, ""),
            other => error(200, &received, -32601, other),
        }
    }
}

fn start() -> (SessionServer, Fake) {
    let server = SessionServer::default();
    let behaviour = server.clone();
    (server, Fake::new(move |received| behaviour.clone().answer(received)))
}

#[tokio::test]
async fn a_legacy_server_is_initialized_and_called() {
    let (_, fake) = start();
    let setup = Setup::with(vec![("old", at(&fake.url()))]).await;
    setup.wait_for_tool("old:session").await;
    let session = setup.text("old:session", json!({})).await;
    assert_eq!(setup.text("old:session", json!({})).await, session, "one session for one caller");
    let status = setup.status("old");
    assert_eq!((status.state, status.era), (ServerState::Ready, Some(Era::Legacy)));
    assert_eq!(status.server.unwrap()["name"], "old");
    assert_eq!(fake.requests_of("initialize").len(), 2, "the gateway's own and the caller's");
    assert_eq!(fake.requests_of("server/discover").len(), 1, "the era is remembered");
    let call = fake.requests_of("tools/call").pop().unwrap();
    assert!(call.header("mcp-method").is_none());
    assert!(call.body["params"].get("_meta").is_none());
}

#[tokio::test]
async fn an_expired_session_is_opened_again_and_the_call_repeated() {
    let (server, fake) = start();
    let setup = Setup::with(vec![("old", at(&fake.url()))]).await;
    setup.wait_for_tool("old:session").await;
    for gentle in [false, true, false] {
        server.gentle.store(gentle, Ordering::SeqCst);
        let before = setup.text("old:session", json!({})).await;
        server.forget_all();
        let greetings = fake.requests_of("initialize").len();
        let after = join_all((0..20).map(|_| setup.text("old:session", json!({})))).await;
        assert!(after.iter().all(|session| *session == after[0]), "one new session for all");
        assert_ne!(after[0], before);
        assert_eq!(fake.requests_of("initialize").len(), greetings + 1);
    }
}

#[tokio::test]
async fn a_server_that_forgets_every_session_is_not_retried_forever() {
    let (server, fake) = start();
    let forgetful = server.clone();
    let setup = Setup::with(vec![("old", at(&fake.url()))]).await;
    setup.wait_for_tool("old:session").await;
    let address = fake.kill();
    let fake = Fake::on(address, move |received| {
        let server = forgetful.clone();
        async move {
            let response = server.clone().answer(received).await;
            server.forget_all();
            response
        }
    });
    let failure = setup.call("old:session", json!({})).await.unwrap_err();
    assert_eq!(failure.code, Code::Unavailable);
    assert!(failure.message.contains("`old`"), "{}", failure.message);
    assert!(fake.requests_of("tools/call").len() <= 4);
}

#[tokio::test]
async fn callers_have_sessions_of_their_own_unless_the_server_is_shared() {
    let (_, fake) = start();
    let shared = ServerConfig { instances: Some(Instances::Shared), ..at(&fake.url()) };
    let setup = Setup::with(vec![("own", at(&fake.url())), ("shared", shared)]).await;
    setup.wait_for_tool("own:session").await;
    setup.wait_for_tool("shared:session").await;
    let session = async |subject: &str, agent: Option<&str>, tool: &str| {
        let mut call = call_by(subject, tool, json!({}));
        let mut principal = (*call.principal).clone();
        principal.agent = agent.map(str::to_owned);
        call.principal = Arc::new(principal);
        text(&setup.run(call).await.unwrap())
    };
    let own = [
        session("ann", None, "own:session").await,
        session("bob", None, "own:session").await,
        session("ann", Some("analyst"), "own:session").await,
    ];
    assert_eq!(HashSet::from(own.clone()).len(), 3, "each has its own");
    assert_eq!(session("ann", None, "own:session").await, own[0]);
    assert_eq!(setup.status("own").sessions, 3);
    assert_eq!(
        session("ann", None, "shared:session").await,
        session("bob", None, "shared:session").await
    );
}

#[tokio::test]
async fn idle_sessions_are_closed_and_the_rest_at_the_end() {
    let (server, fake) = start();
    // Long enough to observe them on a busy machine.
    let timing = Timing { idle: Duration::from_secs(2), ..quick() };
    let setup = Setup::timed(vec![("old", at(&fake.url()))], timing, Default::default()).await;
    setup.wait_for_tool("old:session").await;
    for subject in ["ann", "bob"] {
        setup.run(call_by(subject, "old:session", json!({}))).await.unwrap();
    }
    assert_eq!(server.open.lock().unwrap().len(), 3);
    eventually("two are closed", || server.open.lock().unwrap().len() == 1).await;
    setup.upstreams.stop().await;
    assert!(server.open.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_change_is_announced_over_the_get_stream() {
    let (server, fake) = start();
    let setup = Setup::with(vec![("old", at(&fake.url()))]).await;
    setup.wait_for_tool("old:session").await;
    let listens = || fake.requests().iter().any(|received| received.method == Method::GET);
    eventually("it listens", listens).await;
    server.more.store(true, Ordering::SeqCst);
    server.changed.notify_one();
    setup.wait_for_tool("old:more").await;
    assert_eq!(setup.tools(), ["old:more", "old:session"]);
}

#[tokio::test]
async fn questions_within_a_call_are_answered() {
    let (_, fake) = start();
    let setup = Setup::with(vec![("old", at(&fake.url()))]).await;
    setup.wait_for_tool("old:ask").await;
    assert_eq!(setup.text("old:ask", json!({})).await, "asked");
    let replies = || -> Vec<Value> {
        let bodies = fake.requests().into_iter().map(|received| received.body);
        bodies.filter(|body| body.get("method").is_none() && !body.is_null()).collect()
    };
    eventually("both are answered", || replies().len() == 2).await;
    for reply in replies() {
        match reply["id"].as_str().unwrap() {
            "q1" => assert_eq!(reply["result"], json!({})),
            _ => assert_eq!(reply["error"]["code"], -32601),
        }
    }
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_at_the_server() {
    let (_, fake) = start();
    let setup = Setup::with(vec![("old", at(&fake.url()))]).await;
    setup.wait_for_tool("old:never").await;
    let call = call_by("local", "old:never", json!({}));
    let cancel = call.cancel.clone();
    let cancelling = async {
        eventually("the call arrives", || !fake.requests_of("tools/call").is_empty()).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(setup.run(call), cancelling);
    assert!(outcome.is_err());
    eventually("it is reported", || !fake.requests_of("notifications/cancelled").is_empty()).await;
    let notice = fake.requests_of("notifications/cancelled").pop().unwrap();
    assert_eq!(notice.body["params"]["requestId"], *fake.requests_of("tools/call")[0].id());
    assert!(notice.header("mcp-session-id").is_some());
}

#[tokio::test]
async fn a_server_may_change_its_era() {
    let (server, fake) = start();
    let setup = Setup::with(vec![("s", at(&fake.url()))]).await;
    setup.wait_for_tool("s:session").await;
    setup.text("s:session", json!({})).await;

    let address = fake.kill();
    let new = Fake::on(address, |received| async move {
        if received.method_name() == "initialize" {
            return error(400, &received, -32022, "Unsupported protocol version");
        }
        if received.header("mcp-protocol-version") != Some("2026-07-28") {
            return error(400, &received, -32020, "Header mismatch");
        }
        if received.method_name() == "tools/call" {
            result(&received, text_result("new"))
        } else {
            modern(&received, &[tool("session")])
        }
    });
    assert_eq!(retried(&setup).await, "new");
    assert_eq!(setup.status("s").era, Some(Era::Modern));

    let address = new.kill();
    let _old = Fake::on(address, move |received| server.clone().answer(received));
    assert_eq!(retried(&setup).await.len(), 36, "a session id");
    assert_eq!(setup.status("s").era, Some(Era::Legacy));
}

/// The text of a call, retried while the server is away.
async fn retried(setup: &Setup) -> String {
    let begun = Instant::now();
    while begun.elapsed() < TIMEOUT {
        match setup.call("s:session", json!({})).await {
            Ok(output) => return text(&output),
            Err(failure) => assert_eq!(failure.code, Code::Unavailable, "{failure}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the server never came back");
}
