//! Questions and notifications of a legacy server during a call, for callers of both eras.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use axum::body::Body;
use axum::response::Response;
use futures_util::{StreamExt as _, stream};
use http::Method;
use proto::Code;
use serde_json::{Map, Value, json};
use strip::{AskError, AskMode, Client, LogLevel, Reply, Request, Resume};
use tokio::sync::oneshot;

use crate::fake::{Fake, ReceivedRequest, error, plain, raw_events, result, text_result, tool};
use crate::support::{Setup, at, call_by, eventually, text};

/// A legacy server whose tool asks for a name before it answers.
#[derive(Clone, Default)]
struct AskingServer {
    asked: Arc<Mutex<HashMap<String, oneshot::Sender<Value>>>>,
    initializations: Arc<Mutex<Vec<Value>>>,
}

impl AskingServer {
    async fn answer(self, received: ReceivedRequest) -> Response {
        if received.method == Method::GET {
            return plain(405, "");
        }
        if received.body.get("method").is_none() {
            let id = received.id().as_str().unwrap_or_default().to_owned();
            if let Some(waiting) = self.asked.lock().unwrap().remove(&id) {
                let _ = waiting.send(received.body.clone());
            }
            return plain(202, "");
        }
        match received.method_name() {
            "initialize" => {
                self.initializations
                    .lock()
                    .unwrap()
                    .push(received.body["params"]["capabilities"].clone());
                let mut response = result(
                    &received,
                    json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "logging": {}}}),
                );
                let id = uuid::Uuid::new_v4().to_string();
                response.headers_mut().insert("mcp-session-id", id.parse().unwrap());
                response
            }
            "tools/list" => result(&received, json!({"tools": [tool("greet"), tool("report")]})),
            "tools/call" if received.body["params"]["name"] == "report" => self.report(&received),
            "tools/call" => self.greet(&received),
            _ if received.id().is_null() => plain(202, ""),
            other => {
                error(if other == "server/discover" { 400 } else { 200 }, &received, -32601, other)
            }
        }
    }

    fn greet(&self, received: &ReceivedRequest) -> Response {
        let (answer, answered) = oneshot::channel();
        let id = uuid::Uuid::new_v4().to_string();
        self.asked.lock().unwrap().insert(id.clone(), answer);
        let question = json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create",
            "params": {"message": "Who is it?", "requestedSchema": {"type": "object"}}});
        let call = received.id().clone();
        let rest = stream::once(async move {
            let reply = answered.await.unwrap_or_default();
            let name = match &reply["result"]["content"]["name"] {
                Value::String(name) => name.clone(),
                _ => format!("unknown ({})", reply["error"]["code"]),
            };
            json!({"jsonrpc": "2.0", "id": call, "result": text_result(&format!("Hello, {name}!"))})
        });
        sent(stream::iter([question]).chain(rest).boxed())
    }

    fn report(&self, received: &ReceivedRequest) -> Response {
        let token = &received.body["params"]["_meta"]["progressToken"];
        let progress = |token: &Value, done: u32| {
            json!({"jsonrpc": "2.0", "method": "notifications/progress",
                "params": {"progressToken": token, "progress": done, "total": 2, "extra": "kept"}})
        };
        let log = |level: &str| {
            json!({"jsonrpc": "2.0", "method": "notifications/message",
                "params": {"level": level, "logger": "l", "data": level}})
        };
        let done = json!({"jsonrpc": "2.0", "id": received.id(), "result": text_result(&token.to_string())});
        let messages = [
            progress(token, 1),
            log("debug"),
            progress(&json!(999_999), 2),
            progress(&json!("foreign"), 2),
            log("error"),
            progress(token, 2),
            json!({"jsonrpc": "2.0", "method": "notifications/progress"}),
            done,
        ];
        sent(stream::iter(messages).boxed())
    }
}

fn sent(messages: stream::BoxStream<'static, Value>) -> Response {
    let events = messages.map(|message| Ok::<_, std::io::Error>(format!("data: {message}\n\n")));
    raw_events(Body::from_stream(events))
}

/// A caller that answers every question with the same name.
#[derive(Debug)]
pub(crate) struct Caller {
    capabilities: Map<String, Value>,
    meta: Map<String, Value>,
    asking: AskMode,
    progress: bool,
    level: Option<LogLevel>,
    received: Mutex<Vec<Value>>,
}

impl Caller {
    pub(crate) fn new(asking: AskMode, capabilities: Value) -> Self {
        Self {
            capabilities: capabilities.as_object().unwrap().clone(),
            meta: Map::new(),
            asking,
            progress: false,
            level: None,
            received: Mutex::default(),
        }
    }

    pub(crate) fn with_progress(self) -> Self {
        Self { progress: true, ..self }
    }

    pub(crate) fn received(&self) -> Vec<Value> {
        self.received.lock().unwrap().clone()
    }
}

#[async_trait]
impl Client for Caller {
    fn capabilities(&self) -> &Map<String, Value> {
        &self.capabilities
    }

    fn meta(&self) -> &Map<String, Value> {
        &self.meta
    }

    fn ask_mode(&self) -> AskMode {
        self.asking
    }

    fn wants_progress(&self) -> bool {
        self.progress
    }

    fn progress(&self, report: Map<String, Value>) {
        self.received.lock().unwrap().push(report.into());
    }

    fn log_level(&self) -> Option<LogLevel> {
        self.level
    }

    fn log(&self, message: Map<String, Value>) {
        self.received.lock().unwrap().push(message.into());
    }

    async fn ask(&self, method: &str, params: Value) -> Result<Value, AskError> {
        assert_eq!(self.asking, AskMode::Direct, "a caller of rounds is never asked directly");
        self.received.lock().unwrap().push(json!([method, params["message"]]));
        Ok(json!({"action": "accept", "content": {"name": "Ada"}}))
    }
}

async fn setup() -> (AskingServer, Fake, Setup) {
    let server = AskingServer::default();
    let behaviour = server.clone();
    let fake = Fake::new(move |received| behaviour.clone().answer(received));
    let setup = Setup::with(vec![("old", at(&fake.url()))]).await;
    setup.wait_for_tool("old:greet").await;
    (server, fake, setup)
}

pub(crate) fn by(subject: &str, tool: &str, client: &Arc<Caller>) -> Request {
    let mut call = call_by(subject, tool, json!({}));
    call.modern = client.ask_mode() == AskMode::Rounds;
    call.client = Some(Arc::clone(client) as Arc<dyn Client>);
    call
}

#[tokio::test]
async fn a_legacy_caller_answers_a_legacy_server() {
    let (server, _fake, setup) = setup().await;
    let caller = Arc::new(Caller::new(AskMode::Direct, json!({"elicitation": {}, "other": {}})));
    let output = setup.run(by("ann", "old:greet", &caller)).await.unwrap();
    assert_eq!(text(&output), "Hello, Ada!");
    assert_eq!(caller.received(), [json!(["elicitation/create", "Who is it?"])]);
    let initializations = server.initializations.lock().unwrap().clone();
    assert_eq!(initializations.last(), Some(&json!({"elicitation": {}})), "only what was declared");

    // A client without capabilities is asked nothing, in a session that declares none.
    let silent = Arc::new(Caller::new(AskMode::Direct, json!({})));
    let output = setup.run(by("ann", "old:greet", &silent)).await.unwrap();
    assert_eq!(text(&output), "Hello, unknown (-32601)!");
    assert!(silent.received().is_empty());
    assert_eq!(server.initializations.lock().unwrap().last(), Some(&json!({})));
}

#[tokio::test]
async fn a_call_waits_while_a_modern_caller_is_asked() {
    let (_server, fake, setup) = setup().await;
    let caller = Arc::new(Caller::new(AskMode::Rounds, json!({"elicitation": {}})));
    let output = setup.run(by("ann", "old:greet", &caller)).await.unwrap();
    assert_eq!(output.reply, Reply::NeedsInput);
    let asked = output.native.unwrap();
    let (key, question) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "Who is it?");
    let state = asked["requestState"].as_str().unwrap().to_owned();
    let response = json!({"action": "accept", "content": {"name": "Ann"}});
    let resumed = |subject: &str, tool: &str, state: &str| {
        let mut call = by(subject, tool, &caller);
        let responses = Map::from_iter([(key.clone(), response.clone())]);
        call.resume = Some(Arc::new(Resume { responses, state: Some(state.to_owned()) }));
        call
    };
    for (subject, tool, wrong) in [
        ("bob", "old:greet", state.as_str()),
        ("ann", "old:report", state.as_str()),
        ("ann", "old:greet", "made.up"),
    ] {
        let refused = setup.run(resumed(subject, tool, wrong)).await.unwrap_err();
        assert_eq!(refused.code, Code::InvalidInput, "{subject} {tool}");
    }
    let output = setup.run(resumed("ann", "old:greet", &state)).await.unwrap();
    assert_eq!((output.reply, text(&output).as_str()), (Reply::Done, "Hello, Ann!"));
    assert_eq!(fake.requests_of("tools/call").len(), 1, "the very same call went on");
    let again = setup.run(resumed("ann", "old:greet", &state)).await.unwrap_err();
    assert_eq!(again.code, Code::InvalidInput, "it was answered once");
}

#[tokio::test]
async fn one_caller_cannot_suspend_too_many_calls() {
    let (_server, fake, setup) = setup().await;
    let caller = Arc::new(Caller::new(AskMode::Rounds, json!({"elicitation": {}})));
    for _ in 0..32 {
        let output = setup.run(by("ann", "old:greet", &caller)).await.unwrap();
        assert_eq!(output.reply, Reply::NeedsInput);
    }
    let refused = setup.run(by("ann", "old:greet", &caller)).await.unwrap_err();
    assert_eq!(refused.code, Code::Unavailable);
    assert!(refused.message.contains("wait for people"), "{}", refused.message);
    let output = setup.run(by("bob", "old:greet", &caller)).await.unwrap();
    assert_eq!(output.reply, Reply::NeedsInput);
    // The rejected call is cancelled at the server.
    eventually("the call is cancelled at the server", || {
        fake.requests_of("notifications/cancelled").len() == 1
    })
    .await;
}

#[tokio::test]
async fn a_state_expires() {
    let (_server, _fake, setup) = setup().await;
    let caller = Arc::new(Caller::new(AskMode::Rounds, json!({"elicitation": {}})));
    let output = setup.run(by("ann", "old:greet", &caller)).await.unwrap();
    let state = output.native.unwrap()["requestState"].as_str().unwrap().to_owned();
    setup.clock.advance(std::time::Duration::from_secs(301));
    let mut late = by("ann", "old:greet", &caller);
    late.resume = Some(Arc::new(Resume { responses: Map::new(), state: Some(state) }));
    assert_eq!(setup.run(late).await.unwrap_err().code, Code::InvalidInput);
}

#[tokio::test]
async fn a_suspended_call_ends_when_the_gateway_stops() {
    let (server, fake, setup) = setup().await;
    let caller = Arc::new(Caller::new(AskMode::Rounds, json!({"elicitation": {}})));
    let output = setup.run(by("ann", "old:greet", &caller)).await.unwrap();
    let state = output.native.unwrap()["requestState"].as_str().unwrap().to_owned();
    assert_eq!(server.asked.lock().unwrap().len(), 1);
    // A resumed call without an answer keeps its question; the call ends with the gateway.
    let mut again = by("ann", "old:greet", &caller);
    again.resume = Some(Arc::new(Resume { responses: Map::new(), state: Some(state) }));
    let output = setup.run(again).await.unwrap();
    assert_eq!(output.reply, Reply::NeedsInput);
    setup.upstreams.stop().await;
    drop(setup);
    eventually("the call is cancelled at the server", || {
        !fake.requests_of("notifications/cancelled").is_empty()
    })
    .await;
}

#[tokio::test]
async fn progress_and_logs_reach_only_their_caller() {
    let (_server, _fake, setup) = setup().await;
    let mut caller = Caller::new(AskMode::Direct, json!({}));
    caller.progress = true;
    caller.level = Some(LogLevel::Warning);
    let caller = Arc::new(caller);
    let output = setup.run(by("ann", "old:report", &caller)).await.unwrap();
    assert_ne!(text(&output), "null", "the server was given a token");
    assert_eq!(
        caller.received(),
        [
            json!({"progress": 1, "total": 2, "extra": "kept"}),
            json!({"level": "error", "logger": "l", "data": "error"}),
            json!({"progress": 2, "total": 2, "extra": "kept"}),
        ]
    );
    let indifferent = Arc::new(Caller::new(AskMode::Direct, json!({})));
    let output = setup.run(by("ann", "old:report", &indifferent)).await.unwrap();
    assert_eq!(text(&output), "null", "no token for a client that wants no progress");
    assert!(indifferent.received().is_empty());
}
