//! Servers of 2025-11-25 and before, over HTTP.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use futures_util::future::join_all;
use http::Method;
use proto::Code;
use serde_json::{Value, json};
use upstream::{Era, Instances, ServerConfig, State, Timing};

use crate::fake::{Fake, Seen, error, events, modern, plain, raw_events, result, said, tool};
use crate::support::{House, PATIENCE, at, call_by, eventually, quick, text};

/// The sessions that a legacy server knows, and how it behaves.
#[derive(Clone, Default)]
struct Desk {
    open: Arc<Mutex<HashSet<String>>>,
    /// How it says that it does not know a session.
    gentle: Arc<AtomicBool>,
    changed: Arc<tokio::sync::Notify>,
    more: Arc<AtomicBool>,
}

impl Desk {
    fn forget_all(&self) {
        self.open.lock().unwrap().clear();
    }

    async fn answer(self, seen: Seen) -> Response {
        if seen.method == Method::DELETE {
            let known = seen.header("mcp-session-id").map(str::to_owned).unwrap_or_default();
            self.open.lock().unwrap().remove(&known);
            return plain(200, "");
        }
        if seen.asks() == "initialize" {
            let id = uuid::Uuid::new_v4().to_string();
            self.open.lock().unwrap().insert(id.clone());
            let mut response = result(
                &seen,
                json!({"protocolVersion": "2025-06-18", "serverInfo": {"name": "old", "version": "1"},
                    "capabilities": {"tools": {"listChanged": true}}}),
            );
            response.headers_mut().insert("mcp-session-id", id.parse().unwrap());
            return response;
        }
        let Some(session) = seen.header("mcp-session-id").map(str::to_owned) else {
            return error(400, &seen, -32000, "Bad Request: Server not initialized");
        };
        if !self.open.lock().unwrap().contains(&session) {
            return if self.gentle.load(Ordering::SeqCst) {
                error(400, &seen, -32000, "Bad Request: No valid session ID provided")
            } else {
                plain(404, "Session not found")
            };
        }
        assert_eq!(seen.header("mcp-protocol-version"), Some("2025-06-18"));
        if seen.method == Method::GET {
            let changed = Arc::clone(&self.changed);
            return raw_events(Body::from_stream(futures_util::stream::once(async move {
                changed.notified().await;
                let notice =
                    json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
                Ok::<_, std::io::Error>(format!("data: {notice}\n\n"))
            })));
        }
        match seen.asks() {
            "tools/list" if self.more.load(Ordering::SeqCst) => {
                result(&seen, json!({"tools": [tool("session"), tool("more")]}))
            }
            "tools/list" => {
                result(&seen, json!({"tools": [tool("session"), tool("ask"), tool("never")]}))
            }
            "tools/call" => match seen.body["params"]["name"].as_str() {
                Some("ask") => events(&[
                    json!({"jsonrpc": "2.0", "id": "q1", "method": "ping"}),
                    json!({"jsonrpc": "2.0", "id": "q2", "method": "sampling/createMessage", "params": {}}),
                    json!({"jsonrpc": "2.0", "id": seen.id(), "result": said("asked")}),
                ]),
                Some("never") => std::future::pending().await,
                _ => result(&seen, said(&session)),
            },
            _ if seen.id().is_null() || seen.body.get("method").is_none() => plain(202, ""),
            other => error(200, &seen, -32601, other),
        }
    }
}

fn server() -> (Desk, Fake) {
    let desk = Desk::default();
    let behaviour = desk.clone();
    (desk, Fake::new(move |seen| behaviour.clone().answer(seen)))
}

#[tokio::test]
async fn a_legacy_server_is_greeted_and_called() {
    let (_, fake) = server();
    let house = House::with(vec![("old", at(&fake.url()))]).await;
    house.offers("old:session").await;
    let session = house.text("old:session", json!({})).await;
    assert_eq!(house.text("old:session", json!({})).await, session, "one session for one caller");
    let status = house.status("old");
    assert_eq!((status.state, status.era), (State::Ready, Some(Era::Legacy)));
    assert_eq!(status.server.unwrap()["name"], "old");
    assert_eq!(fake.asked("initialize").len(), 2, "the gateway's own and the caller's");
    assert_eq!(fake.asked("server/discover").len(), 1, "the era is remembered");
    let call = fake.asked("tools/call").pop().unwrap();
    assert!(call.header("mcp-method").is_none());
    assert!(call.body["params"].get("_meta").is_none());
}

#[tokio::test]
async fn pain_2_an_expired_session_is_opened_again_and_the_call_repeated() {
    let (desk, fake) = server();
    let house = House::with(vec![("old", at(&fake.url()))]).await;
    house.offers("old:session").await;
    for gentle in [false, true, false] {
        desk.gentle.store(gentle, Ordering::SeqCst);
        let before = house.text("old:session", json!({})).await;
        desk.forget_all();
        let greetings = fake.asked("initialize").len();
        let after = join_all((0..20).map(|_| house.text("old:session", json!({})))).await;
        assert!(after.iter().all(|session| *session == after[0]), "one new session for all");
        assert_ne!(after[0], before);
        assert_eq!(fake.asked("initialize").len(), greetings + 1);
    }
}

#[tokio::test]
async fn pain_2_a_server_that_forgets_every_session_at_once_is_not_asked_for_ever() {
    let (desk, fake) = server();
    let forgetful = desk.clone();
    let house = House::with(vec![("old", at(&fake.url()))]).await;
    house.offers("old:session").await;
    let place = fake.kill();
    let fake = Fake::on(place, move |seen| {
        let desk = forgetful.clone();
        async move {
            let response = desk.clone().answer(seen).await;
            desk.forget_all();
            response
        }
    });
    let failure = house.call("old:session", json!({})).await.unwrap_err();
    assert_eq!(failure.code, Code::Unavailable);
    assert!(failure.message.contains("`old`"), "{}", failure.message);
    assert!(fake.asked("tools/call").len() <= 4);
}

#[tokio::test]
async fn pain_3_callers_have_sessions_of_their_own_unless_the_server_is_shared() {
    let (_, fake) = server();
    let shared = ServerConfig { instances: Instances::Shared, ..at(&fake.url()) };
    let house = House::with(vec![("own", at(&fake.url())), ("shared", shared)]).await;
    house.offers("own:session").await;
    house.offers("shared:session").await;
    let session = async |subject: &str, agent: Option<&str>, tool: &str| {
        let mut call = call_by(subject, tool, json!({}));
        let mut principal = (*call.principal).clone();
        principal.agent = agent.map(str::to_owned);
        call.principal = Arc::new(principal);
        text(&house.run(call).await.unwrap())
    };
    let own = [
        session("ann", None, "own:session").await,
        session("bob", None, "own:session").await,
        session("ann", Some("analyst"), "own:session").await,
    ];
    assert_eq!(HashSet::from(own.clone()).len(), 3, "each has its own");
    assert_eq!(session("ann", None, "own:session").await, own[0]);
    assert_eq!(house.status("own").sessions, 3);
    assert_eq!(
        session("ann", None, "shared:session").await,
        session("bob", None, "shared:session").await
    );
}

#[tokio::test]
async fn sessions_that_nobody_uses_are_closed_and_the_rest_at_the_end() {
    let (desk, fake) = server();
    // Long enough to look at them, on a busy machine too.
    let timing = Timing { idle: Duration::from_secs(2), ..quick() };
    let house = House::timed(vec![("old", at(&fake.url()))], timing, Default::default()).await;
    house.offers("old:session").await;
    for subject in ["ann", "bob"] {
        house.run(call_by(subject, "old:session", json!({}))).await.unwrap();
    }
    assert_eq!(desk.open.lock().unwrap().len(), 3);
    eventually("two are closed", || desk.open.lock().unwrap().len() == 1).await;
    house.upstreams.stop().await;
    assert!(desk.open.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_change_is_heard_over_the_get_stream() {
    let (desk, fake) = server();
    let house = House::with(vec![("old", at(&fake.url()))]).await;
    house.offers("old:session").await;
    let listens = || fake.seen().iter().any(|seen| seen.method == Method::GET);
    eventually("it listens", listens).await;
    desk.more.store(true, Ordering::SeqCst);
    desk.changed.notify_one();
    house.offers("old:more").await;
    assert_eq!(house.tools(), ["old:more", "old:session"]);
}

#[tokio::test]
async fn questions_within_a_call_are_answered() {
    let (_, fake) = server();
    let house = House::with(vec![("old", at(&fake.url()))]).await;
    house.offers("old:ask").await;
    assert_eq!(house.text("old:ask", json!({})).await, "asked");
    let replies = || -> Vec<Value> {
        let seen = fake.seen().into_iter().map(|seen| seen.body);
        seen.filter(|body| body.get("method").is_none() && !body.is_null()).collect()
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
async fn a_caller_who_leaves_is_told_to_the_server() {
    let (_, fake) = server();
    let house = House::with(vec![("old", at(&fake.url()))]).await;
    house.offers("old:never").await;
    let call = call_by("local", "old:never", json!({}));
    let cancel = call.cancel.clone();
    let leaving = async {
        eventually("the call arrives", || !fake.asked("tools/call").is_empty()).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(house.run(call), leaving);
    assert!(outcome.is_err());
    eventually("it is told", || !fake.asked("notifications/cancelled").is_empty()).await;
    let notice = fake.asked("notifications/cancelled").pop().unwrap();
    assert_eq!(notice.body["params"]["requestId"], *fake.asked("tools/call")[0].id());
    assert!(notice.header("mcp-session-id").is_some());
}

#[tokio::test]
async fn a_server_may_change_its_era_while_we_watch() {
    let (desk, fake) = server();
    let house = House::with(vec![("s", at(&fake.url()))]).await;
    house.offers("s:session").await;
    house.text("s:session", json!({})).await;

    let place = fake.kill();
    let new = Fake::on(place, |seen| async move {
        if seen.asks() == "initialize" {
            return error(400, &seen, -32022, "Unsupported protocol version");
        }
        if seen.header("mcp-protocol-version") != Some("2026-07-28") {
            return error(400, &seen, -32020, "Header mismatch");
        }
        if seen.asks() == "tools/call" {
            result(&seen, said("new"))
        } else {
            modern(&seen, &[tool("session")])
        }
    });
    assert_eq!(retried(&house).await, "new");
    assert_eq!(house.status("s").era, Some(Era::Modern));

    let place = new.kill();
    let _old = Fake::on(place, move |seen| desk.clone().answer(seen));
    assert_eq!(retried(&house).await.len(), 36, "a session id");
    assert_eq!(house.status("s").era, Some(Era::Legacy));
}

/// The text of a call, over the moment in which the server is away.
async fn retried(house: &House) -> String {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        match house.call("s:session", json!({})).await {
            Ok(output) => return text(&output),
            Err(failure) => assert_eq!(failure.code, Code::Unavailable, "{failure}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the server never came back");
}
