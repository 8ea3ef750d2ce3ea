//! What a legacy server asks and tells while it works, for callers of both eras.

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

use crate::fake::{Fake, Seen, error, plain, raw_events, result, said, tool};
use crate::support::{House, at, call_by, eventually, text};

/// A legacy server whose tool asks for a name before it greets.
#[derive(Clone, Default)]
struct Desk {
    asked: Arc<Mutex<HashMap<String, oneshot::Sender<Value>>>>,
    greetings: Arc<Mutex<Vec<Value>>>,
}

impl Desk {
    async fn answer(self, seen: Seen) -> Response {
        if seen.method == Method::GET {
            return plain(405, "");
        }
        if seen.body.get("method").is_none() {
            let id = seen.id().as_str().unwrap_or_default().to_owned();
            if let Some(waiting) = self.asked.lock().unwrap().remove(&id) {
                let _ = waiting.send(seen.body.clone());
            }
            return plain(202, "");
        }
        match seen.asks() {
            "initialize" => {
                self.greetings.lock().unwrap().push(seen.body["params"]["capabilities"].clone());
                let mut response = result(
                    &seen,
                    json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "logging": {}}}),
                );
                let id = uuid::Uuid::new_v4().to_string();
                response.headers_mut().insert("mcp-session-id", id.parse().unwrap());
                response
            }
            "tools/list" => result(&seen, json!({"tools": [tool("greet"), tool("report")]})),
            "tools/call" if seen.body["params"]["name"] == "report" => self.report(&seen),
            "tools/call" => self.greet(&seen),
            _ if seen.id().is_null() => plain(202, ""),
            other => {
                error(if other == "server/discover" { 400 } else { 200 }, &seen, -32601, other)
            }
        }
    }

    fn greet(&self, seen: &Seen) -> Response {
        let (answer, answered) = oneshot::channel();
        let id = uuid::Uuid::new_v4().to_string();
        self.asked.lock().unwrap().insert(id.clone(), answer);
        let question = json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create",
            "params": {"message": "Who is it?", "requestedSchema": {"type": "object"}}});
        let call = seen.id().clone();
        let rest = stream::once(async move {
            let reply = answered.await.unwrap_or_default();
            let name = match &reply["result"]["content"]["name"] {
                Value::String(name) => name.clone(),
                _ => format!("nobody ({})", reply["error"]["code"]),
            };
            json!({"jsonrpc": "2.0", "id": call, "result": said(&format!("Hello, {name}!"))})
        });
        sent(stream::iter([question]).chain(rest).boxed())
    }

    fn report(&self, seen: &Seen) -> Response {
        let token = &seen.body["params"]["_meta"]["progressToken"];
        let progress = |token: &Value, done: u32| {
            json!({"jsonrpc": "2.0", "method": "notifications/progress",
                "params": {"progressToken": token, "progress": done, "total": 2, "extra": "kept"}})
        };
        let log = |level: &str| {
            json!({"jsonrpc": "2.0", "method": "notifications/message",
                "params": {"level": level, "logger": "l", "data": level}})
        };
        let done = json!({"jsonrpc": "2.0", "id": seen.id(), "result": said(&token.to_string())});
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
    told: Mutex<Vec<Value>>,
}

impl Caller {
    pub(crate) fn new(asking: AskMode, capabilities: Value) -> Self {
        Self {
            capabilities: capabilities.as_object().unwrap().clone(),
            meta: Map::new(),
            asking,
            progress: false,
            level: None,
            told: Mutex::default(),
        }
    }

    fn told(&self) -> Vec<Value> {
        self.told.lock().unwrap().clone()
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
        self.told.lock().unwrap().push(report.into());
    }

    fn log_level(&self) -> Option<LogLevel> {
        self.level
    }

    fn log(&self, message: Map<String, Value>) {
        self.told.lock().unwrap().push(message.into());
    }

    async fn ask(&self, method: &str, params: Value) -> Result<Value, AskError> {
        assert_eq!(self.asking, AskMode::Direct, "a caller of rounds is never asked directly");
        self.told.lock().unwrap().push(json!([method, params["message"]]));
        Ok(json!({"action": "accept", "content": {"name": "Ada"}}))
    }
}

async fn house() -> (Desk, Fake, House) {
    let desk = Desk::default();
    let behaviour = desk.clone();
    let fake = Fake::new(move |seen| behaviour.clone().answer(seen));
    let house = House::with(vec![("old", at(&fake.url()))]).await;
    house.offers("old:greet").await;
    (desk, fake, house)
}

pub(crate) fn by(subject: &str, tool: &str, client: &Arc<Caller>) -> Request {
    let mut call = call_by(subject, tool, json!({}));
    call.client = Some(Arc::clone(client) as Arc<dyn Client>);
    call
}

#[tokio::test]
async fn a_legacy_caller_answers_a_legacy_server() {
    let (desk, _fake, house) = house().await;
    let caller = Arc::new(Caller::new(AskMode::Direct, json!({"elicitation": {}, "other": {}})));
    let output = house.run(by("ann", "old:greet", &caller)).await.unwrap();
    assert_eq!(text(&output), "Hello, Ada!");
    assert_eq!(caller.told(), [json!(["elicitation/create", "Who is it?"])]);
    let greetings = desk.greetings.lock().unwrap().clone();
    assert_eq!(greetings.last(), Some(&json!({"elicitation": {}})), "only what was declared");

    // Who declared nothing is asked nothing, in a session that promises nothing.
    let mute = Arc::new(Caller::new(AskMode::Direct, json!({})));
    let output = house.run(by("ann", "old:greet", &mute)).await.unwrap();
    assert_eq!(text(&output), "Hello, nobody (-32601)!");
    assert!(mute.told().is_empty());
    assert_eq!(desk.greetings.lock().unwrap().last(), Some(&json!({})));
}

#[tokio::test]
async fn a_call_waits_while_a_modern_caller_is_asked() {
    let (_desk, fake, house) = house().await;
    let caller = Arc::new(Caller::new(AskMode::Rounds, json!({"elicitation": {}})));
    let output = house.run(by("ann", "old:greet", &caller)).await.unwrap();
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
        let refused = house.run(resumed(subject, tool, wrong)).await.unwrap_err();
        assert_eq!(refused.code, Code::InvalidInput, "{subject} {tool}");
    }
    let output = house.run(resumed("ann", "old:greet", &state)).await.unwrap();
    assert_eq!((output.reply, text(&output).as_str()), (Reply::Done, "Hello, Ann!"));
    assert_eq!(fake.asked("tools/call").len(), 1, "the very same call went on");
    let again = house.run(resumed("ann", "old:greet", &state)).await.unwrap_err();
    assert_eq!(again.code, Code::InvalidInput, "it was answered once");
}

#[tokio::test]
async fn one_caller_does_not_take_all_the_places_to_wait() {
    let (_desk, fake, house) = house().await;
    let caller = Arc::new(Caller::new(AskMode::Rounds, json!({"elicitation": {}})));
    for _ in 0..32 {
        let output = house.run(by("ann", "old:greet", &caller)).await.unwrap();
        assert_eq!(output.reply, Reply::NeedsInput);
    }
    let refused = house.run(by("ann", "old:greet", &caller)).await.unwrap_err();
    assert_eq!(refused.code, Code::Unavailable);
    assert!(refused.message.contains("wait for people"), "{}", refused.message);
    let output = house.run(by("bob", "old:greet", &caller)).await.unwrap();
    assert_eq!(output.reply, Reply::NeedsInput);
    // The call that found no place has ended, and its server knows.
    eventually("the server is told", || fake.asked("notifications/cancelled").len() == 1).await;
}

#[tokio::test]
async fn a_state_expires() {
    let (_desk, _fake, house) = house().await;
    let caller = Arc::new(Caller::new(AskMode::Rounds, json!({"elicitation": {}})));
    let output = house.run(by("ann", "old:greet", &caller)).await.unwrap();
    let state = output.native.unwrap()["requestState"].as_str().unwrap().to_owned();
    house.clock.advance(std::time::Duration::from_secs(301));
    let mut late = by("ann", "old:greet", &caller);
    late.resume = Some(Arc::new(Resume { responses: Map::new(), state: Some(state) }));
    assert_eq!(house.run(late).await.unwrap_err().code, Code::InvalidInput);
}

#[tokio::test]
async fn a_caller_that_leaves_takes_its_call_along() {
    let (desk, fake, house) = house().await;
    let caller = Arc::new(Caller::new(AskMode::Rounds, json!({"elicitation": {}})));
    let output = house.run(by("ann", "old:greet", &caller)).await.unwrap();
    let state = output.native.unwrap()["requestState"].as_str().unwrap().to_owned();
    assert_eq!(desk.asked.lock().unwrap().len(), 1);
    // Coming back without an answer, the question stays; the call ends with the house.
    let mut again = by("ann", "old:greet", &caller);
    again.resume = Some(Arc::new(Resume { responses: Map::new(), state: Some(state) }));
    let output = house.run(again).await.unwrap();
    assert_eq!(output.reply, Reply::NeedsInput);
    house.upstreams.stop().await;
    drop(house);
    eventually("the server is told", || !fake.asked("notifications/cancelled").is_empty()).await;
}

#[tokio::test]
async fn progress_and_logs_reach_their_caller_and_no_more() {
    let (_desk, _fake, house) = house().await;
    let mut caller = Caller::new(AskMode::Direct, json!({}));
    caller.progress = true;
    caller.level = Some(LogLevel::Warning);
    let caller = Arc::new(caller);
    let output = house.run(by("ann", "old:report", &caller)).await.unwrap();
    assert_ne!(text(&output), "null", "the server was given a token");
    assert_eq!(
        caller.told(),
        [
            json!({"progress": 1, "total": 2, "extra": "kept"}),
            json!({"level": "error", "logger": "l", "data": "error"}),
            json!({"progress": 2, "total": 2, "extra": "kept"}),
        ]
    );
    let indifferent = Arc::new(Caller::new(AskMode::Direct, json!({})));
    let output = house.run(by("ann", "old:report", &indifferent)).await.unwrap();
    assert_eq!(text(&output), "null", "no token for who wants no progress");
    assert!(indifferent.told().is_empty());
}
