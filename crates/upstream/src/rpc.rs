//! JSON-RPC as it goes over the wire: requests written in one pass, answers opened without copying what is inside.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde::{Deserialize, Serialize as DeriveSerialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use strip::files::{Attachments, Carved};
use strip::{Asking, Client as Caller};

use crate::definition::HeaderParam;
use crate::era::{Era, MODERN};

/// Under this name a caller's own key reaches the server, so that it can recognise a repeated call.
const IDEMPOTENCY_KEY: &str = "powerstrip/idempotency-key";

/// A request that can be written for either era.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: Params<'a>,
    pub(crate) idempotency_key: Option<&'a str>,
    /// Arguments that travel as headers too.
    pub(crate) header_params: &'a [HeaderParam],
    /// Whether it may run twice without harm.
    pub(crate) repeatable: bool,
    /// Whether the gateway itself asks, which it may do where no call is sent.
    pub(crate) own: bool,
    /// Who may hear of the work and be asked meanwhile.
    pub(crate) client: Option<&'a Arc<dyn Caller>>,
    /// What the caller was asked before, and answers now.
    pub(crate) answers: Option<Answers<'a>>,
    /// Files that stand in the parameters by their marks.
    pub(crate) attached: Option<&'a Arc<Attachments>>,
}

/// Answers to the questions of a modern server, and the state that it gave with them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answers<'a> {
    pub(crate) responses: &'a Map<String, Value>,
    pub(crate) state: Option<&'a str>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Params<'a> {
    None,
    Call { name: &'a str, arguments: &'a Value },
    Map(&'a Map<String, Value>),
}

impl<'a> Ask<'a> {
    /// A request of the gateway's own, which only reads.
    pub(crate) fn plain(method: &'a str, params: Params<'a>) -> Self {
        Self {
            method,
            params,
            idempotency_key: None,
            header_params: &[],
            repeatable: true,
            own: true,
            client: None,
            answers: None,
            attached: None,
        }
    }

    /// What `Mcp-Name` says.
    pub(crate) fn name(&self) -> Option<&'a str> {
        match self.params {
            Params::None => None,
            Params::Call { name, .. } => Some(name),
            Params::Map(params) => {
                let key = match self.method {
                    "prompts/get" | "tools/call" => "name",
                    "resources/read" => "uri",
                    "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
                    _ => return None,
                };
                params.get(key)?.as_str()
            }
        }
    }

    pub(crate) fn encode(&self, id: u64, era: Era) -> Result<Vec<u8>, serde_json::Error> {
        let params = Written { ask: self, era, id };
        serde_json::to_vec(&Envelope { jsonrpc: "2.0", id, method: self.method, params })
    }
}

#[derive(DeriveSerialize)]
struct Envelope<'a> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: Written<'a>,
}

struct Written<'a> {
    ask: &'a Ask<'a>,
    era: Era,
    id: u64,
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut callers = None;
        match self.ask.params {
            Params::None => {}
            Params::Call { name, arguments } => {
                map.serialize_entry("name", name)?;
                map.serialize_entry("arguments", arguments)?;
            }
            Params::Map(params) => {
                callers = params.get("_meta").and_then(Value::as_object);
                for (key, value) in params.iter().filter(|(key, _)| *key != "_meta") {
                    map.serialize_entry(key, value)?;
                }
            }
        }
        if let Some(answers) = &self.ask.answers {
            map.serialize_entry("inputResponses", answers.responses)?;
            if let Some(state) = answers.state {
                map.serialize_entry("requestState", state)?;
            }
        }
        let modern = self.era == Era::Modern;
        let client = self.ask.client;
        let callers = callers.or_else(|| client.map(|client| client.meta()));
        if modern || self.ask.idempotency_key.is_some() || callers.is_some() {
            let (key, id) = (self.ask.idempotency_key, self.id);
            let meta = Meta { modern, key, callers, client, id };
            map.serialize_entry("_meta", &meta)?;
        }
        map.end()
    }
}

struct Meta<'a> {
    modern: bool,
    key: Option<&'a str>,
    /// What the caller added, without what is between us and the server.
    callers: Option<&'a Map<String, Value>>,
    client: Option<&'a Arc<dyn Caller>>,
    /// The request's own id, by which progress is told to belong to it.
    id: u64,
}

impl Serialize for Meta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if self.modern {
            map.serialize_entry("io.modelcontextprotocol/protocolVersion", MODERN)?;
            map.serialize_entry("io.modelcontextprotocol/clientInfo", &CLIENT)?;
            let capabilities = self.client.map_or_else(Map::new, |client| promised(&**client));
            map.serialize_entry("io.modelcontextprotocol/clientCapabilities", &capabilities)?;
            if let Some(level) = self.client.and_then(|client| client.log_level()) {
                map.serialize_entry("io.modelcontextprotocol/logLevel", level.as_str())?;
            }
        }
        if self.client.is_some_and(|client| client.wants_progress()) {
            map.serialize_entry("progressToken", &self.id)?;
        }
        if let Some(key) = self.key {
            map.serialize_entry(IDEMPOTENCY_KEY, key)?;
        }
        for (key, value) in self.callers.into_iter().flatten() {
            let ours = key == "progressToken"
                || key == IDEMPOTENCY_KEY
                || key.starts_with("io.modelcontextprotocol/");
            if !ours {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}

/// What a caller can be asked.
pub(crate) const QUESTIONS: [&str; 3] = ["elicitation", "sampling", "roots"];

/// The parts that the protocol knows of each: forms and links, context and tools, notices.
const PARTS: [&str; 5] = ["form", "url", "context", "tools", "listChanged"];

/// What may be promised to a modern server in a caller's name: what it declared, and of a caller of the legacy era
/// only what can be passed on to it.
fn promised(client: &dyn Caller) -> Map<String, Value> {
    let declared = client.capabilities();
    match client.asking() {
        Asking::Rounds => declared.clone(),
        Asking::Direct => questions(declared),
    }
}

/// The part of a caller's capabilities that says what it can be asked.
pub(crate) fn questions(declared: &Map<String, Value>) -> Map<String, Value> {
    let askable = |(key, _): &(&String, &Value)| QUESTIONS.contains(&key.as_str());
    // Only what the protocol knows: a caller could otherwise invent ever new ones, each with a session of its own.
    let known = |value: &Value| -> Value {
        let parts = value.as_object().into_iter().flatten();
        parts
            .filter(|(part, _)| PARTS.contains(&part.as_str()))
            .map(|(part, value)| {
                (part.clone(), if value.is_boolean() { value.clone() } else { json!({}) })
            })
            .collect::<Map<_, _>>()
            .into()
    };
    declared.iter().filter(askable).map(|(key, value)| (key.clone(), known(value))).collect()
}

/// Who we are, as servers see it.
#[derive(DeriveSerialize)]
pub(crate) struct Client {
    name: &'static str,
    version: &'static str,
}

pub(crate) const CLIENT: Client = Client { name: "powerstrip", version: env!("CARGO_PKG_VERSION") };

/// A notification, or a legacy `initialize`, which differ from all else.
pub(crate) fn notification(method: &str, params: &Value) -> Bytes {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string().into()
}

/// What is sent when nobody waits for the answer any more.
pub(crate) fn cancelled(id: u64) -> Bytes {
    notification("notifications/cancelled", &json!({"requestId": id, "reason": "nobody waits"}))
}

/// An error that a server answered with.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) data: Option<Value>,
}

impl RpcError {
    /// What a server answers that does not know a method.
    pub(crate) fn unknown_method(method: &str) -> Self {
        Self { code: -32601, message: format!("there is no {method}"), data: None }
    }
}

/// An answer that is not looked into yet.
pub(crate) type Answer = Result<Given, RpcError>;

/// A result as it came, without the long runs of base64 that were taken out of it on the way.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) raw: Box<RawValue>,
    pub(crate) carved: Option<Carved>,
}

impl Given {
    /// The result's text, with marks where something was taken out.
    pub(crate) fn get(&self) -> &str {
        self.raw.get()
    }

    /// The result's text as it came.
    pub(crate) fn whole(&self) -> Cow<'_, str> {
        match &self.carved {
            Some(carved) => carved.restored(self.get()).into(),
            None => self.get().into(),
        }
    }
}

/// One message, opened just far enough to know whose it is.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Answer { id: Option<u64>, answer: Answer },
    Request { id: &'a RawValue, method: Cow<'a, str>, params: Option<&'a RawValue> },
    Notification { method: Cow<'a, str>, params: Option<&'a RawValue> },
}

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

impl<'a> Message<'a> {
    /// Opens a message; the error says what is wrong with it.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, String> {
        let frame: Frame<'a> =
            serde_json::from_slice(bytes).map_err(|why| format!("not JSON-RPC: {why}"))?;
        if let Some(method) = frame.method {
            return Ok(match frame.id {
                Some(id) => Self::Request { id, method, params: frame.params },
                None => Self::Notification { method, params: frame.params },
            });
        }
        let id = frame.id.and_then(|id| id.get().parse().ok());
        let answer = match (frame.result, frame.error) {
            (Some(result), None) => Ok(Given { raw: result.to_owned(), carved: None }),
            (None, Some(error)) => Err(serde_json::from_str(error.get())
                .map_err(|why| format!("an error that is none: {why}"))?),
            _ => return Err("neither a result nor an error".to_owned()),
        };
        Ok(Self::Answer { id, answer })
    }
}

#[cfg(test)]
mod tests;
