//! Tools that run as tasks only, for callers without tasks; and streams that are closed to be polled.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use futures_util::{StreamExt as _, stream};
use http::Method;
use serde_json::{Map, Value, json};
use strip::{AskMode, Reply, Resume};

use crate::bridging::{Caller, by};
use crate::fake::{
    Fake, ReceivedRequest, error, events, plain, raw_events, result, text_result, tool,
};
use crate::support::{Setup, at, call_by, eventually, text};

/// A legacy server with a tool that runs as a task only. Without an end, the task works forever.
#[derive(Clone)]
struct TaskServer {
    polls: Arc<AtomicUsize>,
    ends_after: usize,
    /// What the task asks before it ends.
    asks: bool,
    answers: Arc<Mutex<Vec<Value>>>,
}

impl TaskServer {
    fn new(ends_after: usize, asks: bool) -> Self {
        Self { polls: Arc::default(), ends_after, asks, answers: Arc::default() }
    }

    fn state(&self) -> Value {
        let polls = self.polls.fetch_add(1, Ordering::SeqCst);
        let status = match () {
            () if polls < self.ends_after => "working",
            () if self.asks => "input_required",
            () => "completed",
        };
        json!({"taskId": "t1", "status": status, "statusMessage": format!("step {polls}"),
            "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z",
            "ttl": 60_000, "pollInterval": 20, "pollIntervalMs": 20})
    }

    /// A stream with a question, and with the result once the question is answered.
    fn ask_first(&self, done: Value) -> Response {
        let question = json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
            "params": {"message": "Which one?"}});
        let answers = Arc::clone(&self.answers);
        let rest = stream::once(async move {
            while answers.lock().unwrap().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            done
        });
        let messages = stream::iter([question]).chain(rest);
        let events =
            messages.map(|message| Ok::<_, std::io::Error>(format!("data: {message}\n\n")));
        raw_events(Body::from_stream(events))
    }

    async fn answer(self, received: ReceivedRequest) -> Response {
        let params = &received.body["params"];
        match received.method_name() {
            "initialize" => result(
                &received,
                json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {},
                    "tasks": {"requests": {"tools": {"call": {}}}, "cancel": {}}}}),
            ),
            "tools/list" => {
                let mut listed = tool("research");
                listed["execution"] = json!({"taskSupport": "required"});
                result(&received, json!({"tools": [listed]}))
            }
            "tools/call" if params["task"]["ttl"].is_u64() => {
                result(&received, json!({"task": self.state()}))
            }
            "tasks/get" if params["taskId"] == "t1" => result(&received, self.state()),
            "tasks/result" if params["taskId"] == "t1" => {
                let done =
                    json!({"jsonrpc": "2.0", "id": received.id(), "result": text_result("found")});
                if self.asks {
                    return self.ask_first(done);
                }
                events(&[done])
            }
            "tasks/cancel" => result(&received, self.state()),
            "" if received.method == Method::POST => {
                self.answers.lock().unwrap().push(received.body["result"].clone());
                plain(202, "")
            }
            _ if received.id().is_null() => plain(202, ""),
            other => {
                error(if other == "server/discover" { 400 } else { 200 }, &received, -32601, other)
            }
        }
    }
}

async fn setup(server: &TaskServer) -> (Fake, Setup) {
    let behaviour = server.clone();
    let fake = Fake::new(move |received| behaviour.clone().answer(received));
    let setup = Setup::with(vec![("lab", at(&fake.url()))]).await;
    setup.wait_for_tool("lab:research").await;
    (fake, setup)
}

#[tokio::test]
async fn the_gateway_waits_for_a_task_with_progress() {
    let server = TaskServer::new(3, false);
    let (fake, setup) = setup(&server).await;
    assert_eq!(setup.text("lab:research", json!({})).await, "found");
    assert_eq!(fake.requests_of("tasks/get").len(), 3);
    assert!(fake.requests_of("tasks/cancel").is_empty());

    server.polls.store(0, Ordering::SeqCst);
    let caller = Arc::new(Caller::new(AskMode::Direct, json!({})).with_progress());
    let output = setup.run(by("ann", "lab:research", &caller)).await.unwrap();
    assert_eq!(text(&output), "found");
    let reports: Vec<_> = (0..4)
        .map(|step| json!({"progress": step + 1, "message": format!("step {step}")}))
        .collect();
    assert_eq!(caller.received(), reports);
}

#[tokio::test]
async fn a_task_may_ask_callers_of_both_eras() {
    let server = TaskServer::new(1, true);
    let (_fake, setup) = setup(&server).await;
    let caller = Arc::new(Caller::new(AskMode::Direct, json!({"elicitation": {}})));
    let output = setup.run(by("ann", "lab:research", &caller)).await.unwrap();
    assert_eq!(text(&output), "found");
    assert_eq!(caller.received(), [json!(["elicitation/create", "Which one?"])]);

    server.answers.lock().unwrap().clear();
    let modern = Arc::new(Caller::new(AskMode::Rounds, json!({"elicitation": {}})));
    let output = setup.run(by("ann", "lab:research", &modern)).await.unwrap();
    assert_eq!(output.reply, Reply::NeedsInput);
    let asked = output.native.unwrap();
    let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let mut again = by("ann", "lab:research", &modern);
    again.resume = Some(Arc::new(Resume {
        responses: Map::from_iter([(key, json!({"action": "decline"}))]),
        state: Some(asked["requestState"].as_str().unwrap().to_owned()),
    }));
    let output = setup.run(again).await.unwrap();
    assert_eq!((output.reply, text(&output).as_str()), (Reply::Done, "found"));
    assert_eq!(*server.answers.lock().unwrap(), [json!({"action": "decline"})]);
}

#[tokio::test]
async fn a_caller_that_leaves_cancels_its_task() {
    let server = TaskServer::new(usize::MAX, false);
    let (fake, setup) = setup(&server).await;
    let call = setup.run(call_by("local", "lab:research", json!({})));
    let left = tokio::time::timeout(Duration::from_millis(300), call).await;
    assert!(left.is_err(), "the task never ends");
    eventually("the task is cancelled", || fake.requests_of("tasks/cancel").len() == 1).await;
    let cancelled = fake.requests_of("tasks/cancel");
    assert_eq!(cancelled[0].body["params"]["taskId"], json!("t1"));
}

/// The tools of the fixture need a client that takes tasks.
#[tokio::test]
async fn modern_tasks_are_run_for_callers_without_tasks() {
    let config = server_entry::ServerConfig {
        command: Some(crate::support::fixture().to_str().unwrap().to_owned()),
        era: server_entry::EraChoice::Modern,
        ..server_entry::ServerConfig::default()
    };
    let setup = Setup::with(vec![("near", config)]).await;
    setup.wait_for_tool("near:failing_job").await;
    let failed = setup.call("near:failing_job", json!({})).await.unwrap_err();
    assert!(failed.message.contains("the job failed"), "{failed:?}");
    let broken = setup.call("near:protocol_error_job", json!({})).await.unwrap_err();
    assert!(broken.message.contains("the job broke"), "{broken:?}");
    let caller = Arc::new(Caller::new(AskMode::Direct, json!({"elicitation": {}})));
    let output = setup.run(by("ann", "near:multi_input", &caller)).await.unwrap();
    assert_eq!(text(&output), "Ada and Ada");
    assert_eq!(caller.received().len(), 2, "each question is asked once");
    // A caller that cannot be asked learns why, and its task is cancelled.
    let mute = setup.call("near:multi_input", json!({})).await.unwrap_err();
    assert_eq!(mute.code, proto::Code::Unsupported, "{mute:?}");
    assert!(mute.effect_unknown, "the task had begun: {mute:?}");
    // A client of 2026-07-28 gets the server's own error, which says what to declare.
    let modern = Arc::new(Caller::new(AskMode::Rounds, json!({"elicitation": {}})));
    let refused = setup.run(by("ann", "near:multi_input", &modern)).await.unwrap_err();
    assert_eq!(refused.details.as_ref().unwrap()["code"], json!(-32021), "{refused:?}");
    // Also one that has declared nothing at all.
    let mut bare = call_by("ann", "near:failing_job", json!({}));
    bare.modern = true;
    let refused = setup.run(bare).await.unwrap_err();
    assert_eq!(refused.details.as_ref().unwrap()["code"], json!(-32021), "{refused:?}");
}

#[tokio::test]
async fn a_stream_that_ends_before_the_answer_is_resumed() {
    let resumed = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&resumed);
    let fake = Fake::new(move |received: ReceivedRequest| {
        let count = Arc::clone(&count);
        async move {
            if received.method == Method::GET {
                return match received.header("last-event-id") {
                    None => plain(405, ""),
                    Some("a1") => {
                        count.fetch_add(1, Ordering::SeqCst);
                        // Nothing new yet: the client is to ask again, sooner.
                        raw_events("id: a2\nretry: 20\ndata:\n\n")
                    }
                    Some("a2") => {
                        assert_eq!(received.header("mcp-session-id"), Some("s"));
                        count.fetch_add(1, Ordering::SeqCst);
                        let call = json!({"jsonrpc": "2.0", "id": CALL.load(Ordering::SeqCst), "result": text_result("late")});
                        raw_events(format!("id: a3\ndata: {call}\n\n"))
                    }
                    Some(other) => panic!("{other}"),
                };
            }
            match received.method_name() {
                "initialize" => {
                    let mut response = result(
                        &received,
                        json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}),
                    );
                    response.headers_mut().insert("mcp-session-id", "s".parse().unwrap());
                    response
                }
                "tools/list" => result(&received, json!({"tools": [tool("slow")]})),
                "tools/call" => {
                    CALL.store(received.id().as_u64().unwrap() as usize, Ordering::SeqCst);
                    raw_events("retry: 30\nid: a1\ndata:\n\n")
                }
                _ if received.id().is_null() => plain(202, ""),
                other => error(400, &received, -32601, other),
            }
        }
    });
    let setup = Setup::with(vec![("old", at(&fake.url()))]).await;
    setup.wait_for_tool("old:slow").await;
    let began = std::time::Instant::now();
    assert_eq!(setup.text("old:slow", json!({})).await, "late");
    assert_eq!(resumed.load(Ordering::SeqCst), 2);
    assert!(began.elapsed() >= Duration::from_millis(50), "the server's pauses are kept");
    assert_eq!(fake.requests_of("tools/call").len(), 1, "the call is not sent again");
}

/// The id of the call that is answered on the resumed stream.
static CALL: AtomicUsize = AtomicUsize::new(0);
