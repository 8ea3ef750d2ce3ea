//! JSON-RPC on the wire: requests are written in one pass, answers are parsed without copying their contents.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use files::{Attachments, Blobs};
use http::HeaderName;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde::{Deserialize, Serialize as DeriveSerialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use strip::{AskMode, Client, Job};

use crate::era::{Era, MODERN};

/// The `_meta` key that carries a caller's idempotency key, so that the server can recognise a repeated call.
const IDEMPOTENCY_KEY: &str = "powerstrip/idempotency-key";

/// The extension of 2026-07-28 by which a client takes tasks.
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// How long a legacy server keeps a task, in milliseconds; longer than any call may take.
const TASK_TTL_MS: u64 = 3_600_000;

/// A request that can be written for either era.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RpcRequest<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: Params<'a>,
    pub(crate) idempotency_key: Option<&'a str>,
    /// Arguments that travel as headers too.
    pub(crate) header_params: &'a [HeaderParam],
    /// Whether it may run twice without harm.
    pub(crate) repeatable: bool,
    /// Whether the gateway itself asks: such requests are also sent to a server that is down, to see whether it is back.
    pub(crate) own: bool,
    /// The client that receives progress and log messages and can be asked questions.
    pub(crate) client: Option<&'a Arc<dyn Client>>,
    /// Whether the caller gets the refusals of a modern server itself.
    pub(crate) modern: bool,
    /// The caller's answers to earlier questions of the server.
    pub(crate) answers: Option<Answers<'a>>,
    /// Files for which the parameters have placeholders.
    pub(crate) attached: Option<&'a Arc<Attachments>>,
    /// Whether the server may answer with a task, which the gateway waits for.
    pub(crate) as_task: bool,
}

/// Answers to the questions of a modern server, and the state that it gave with them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answers<'a> {
    pub(crate) responses: &'a Map<String, Value>,
    pub(crate) state: Option<&'a str>,
}

/// An argument that is also sent as a header, so that proxies can route by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeaderParam {
    pub(crate) path: Vec<String>,
    pub(crate) header: HeaderName,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Params<'a> {
    None,
    Call { name: &'a str, arguments: &'a Value },
    Map(&'a Map<String, Value>),
}

impl<'a> RpcRequest<'a> {
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
            modern: false,
            answers: None,
            attached: None,
            as_task: false,
        }
    }

    /// A request on behalf of a caller.
    pub(crate) fn for_job(method: &'a str, params: Params<'a>, job: &'a Job) -> Self {
        Self {
            idempotency_key: job.request().idempotency_key.as_deref(),
            repeatable: false,
            own: false,
            client: job.client.as_ref(),
            modern: job.request().modern,
            attached: job.attachments.as_ref(),
            ..Self::plain(method, params)
        }
    }

    /// The value of the `Mcp-Name` header.
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
        let params = WrittenParams { request: self, era, id };
        serde_json::to_vec(&Envelope { jsonrpc: "2.0", id, method: self.method, params })
    }
}

#[derive(DeriveSerialize)]
struct Envelope<'a> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: WrittenParams<'a>,
}

struct WrittenParams<'a> {
    request: &'a RpcRequest<'a>,
    era: Era,
    id: u64,
}

impl Serialize for WrittenParams<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut callers = None;
        match self.request.params {
            Params::None => {}
            Params::Call { name, arguments } => {
                map.serialize_entry("name", name)?;
                map.serialize_entry("arguments", arguments)?;
                if self.request.as_task && self.era == Era::Legacy {
                    map.serialize_entry("task", &json!({"ttl": TASK_TTL_MS}))?;
                }
            }
            Params::Map(params) => {
                callers = params.get("_meta").and_then(Value::as_object);
                for (key, value) in params.iter().filter(|(key, _)| *key != "_meta") {
                    map.serialize_entry(key, value)?;
                }
            }
        }
        if let Some(answers) = &self.request.answers {
            map.serialize_entry("inputResponses", answers.responses)?;
            if let Some(state) = answers.state {
                map.serialize_entry("requestState", state)?;
            }
        }
        let modern = self.era == Era::Modern;
        let client = self.request.client;
        let callers = callers.or_else(|| client.map(|client| client.meta()));
        if modern || self.request.idempotency_key.is_some() || callers.is_some() {
            let (key, id) = (self.request.idempotency_key, self.id);
            let Self { request, .. } = self;
            let (own, as_task) = (request.own, request.as_task);
            let meta = Meta { modern, own, as_task, key, callers, client, id };
            map.serialize_entry("_meta", &meta)?;
        }
        map.end()
    }
}

struct Meta<'a> {
    modern: bool,
    own: bool,
    as_task: bool,
    key: Option<&'a str>,
    /// What the caller added, without the keys that the gateway writes.
    callers: Option<&'a Map<String, Value>>,
    client: Option<&'a Arc<dyn Client>>,
    /// The request's id, which is also its progress token.
    id: u64,
}

impl Serialize for Meta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if self.modern {
            map.serialize_entry("io.modelcontextprotocol/protocolVersion", MODERN)?;
            map.serialize_entry("io.modelcontextprotocol/clientInfo", &CLIENT)?;
            let mut capabilities = match self.client {
                Some(client) => declared(&**client),
                // Its own lists are to have everything that any caller may use.
                None if self.own => Map::from_iter(apps_capability()),
                None => Map::new(),
            };
            if self.as_task {
                let extensions = capabilities.entry("extensions").or_insert_with(|| json!({}));
                // The caller wrote them, so they may be anything.
                if let Some(extensions) = extensions.as_object_mut() {
                    extensions.insert(TASKS.to_owned(), json!({}));
                }
            }
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

/// Capabilities that let a server ask the client something.
pub(crate) const QUESTION_CAPABILITIES: [&str; 3] = ["elicitation", "sampling", "roots"];

/// The parts of these capabilities that the protocol defines.
const CAPABILITY_PARTS: [&str; 5] = ["form", "url", "context", "tools", "listChanged"];

/// The capabilities to declare to a modern server on behalf of a client: all that it declared, or of a legacy client
/// only the questions that can be forwarded to it.
fn declared(client: &dyn Client) -> Map<String, Value> {
    let declared = client.capabilities();
    match client.ask_mode() {
        AskMode::Rounds => declared.clone(),
        AskMode::Direct => {
            let mut capabilities = question_capabilities(declared);
            if shows_apps(declared) {
                capabilities.extend(apps_capability());
            }
            capabilities
        }
    }
}

/// Whether a client is asked by requests of its own while a call waits, as legacy servers do it. A server that speaks
/// both eras is spoken to in the legacy one for such a client: many servers ask nothing in the modern one.
pub(crate) fn is_asked_directly(asking: AskMode, declared: &Map<String, Value>) -> bool {
    asking == AskMode::Direct && QUESTION_CAPABILITIES.iter().any(|can| declared.contains_key(*can))
}

/// The part of a client's capabilities that says what it can be asked.
pub(crate) fn question_capabilities(declared: &Map<String, Value>) -> Map<String, Value> {
    let askable = |(key, _): &(&String, &Value)| QUESTION_CAPABILITIES.contains(&key.as_str());
    // Unknown parts are dropped: each distinct set of capabilities gets a session, and a client could invent any number.
    let known = |value: &Value| -> Value {
        let parts = value.as_object().into_iter().flatten();
        parts
            .filter(|(part, _)| CAPABILITY_PARTS.contains(&part.as_str()))
            .map(|(part, value)| {
                (part.clone(), if value.is_boolean() { value.clone() } else { json!({}) })
            })
            .collect::<Map<_, _>>()
            .into()
    };
    declared.iter().filter(askable).map(|(key, value)| (key.clone(), known(value))).collect()
}

/// The extension of MCP Apps, and the one kind of app that hosts show.
const APPS: &str = "io.modelcontextprotocol/ui";
const APP_TYPE: &str = "text/html;profile=mcp-app";

/// Whether a client declared that it shows MCP Apps.
pub(crate) fn shows_apps(declared: &Map<String, Value>) -> bool {
    declared.get("extensions").is_some_and(|extensions| extensions.get(APPS).is_some())
}

/// The capability of a client that shows MCP Apps: servers offer tools with apps only to such clients.
pub(crate) fn apps_capability() -> [(String, Value); 1] {
    [("extensions".to_owned(), json!({APPS: {"mimeTypes": [APP_TYPE]}}))]
}

/// The gateway's name and version, as sent to servers.
#[derive(DeriveSerialize)]
pub(crate) struct ClientInfo {
    name: &'static str,
    version: &'static str,
}

pub(crate) const CLIENT: ClientInfo =
    ClientInfo { name: "powerstrip", version: env!("CARGO_PKG_VERSION") };

/// The text of a notification.
pub(crate) fn notification(method: &str, params: &Value) -> Bytes {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string().into()
}

/// The notification that no caller waits for the answer any more.
pub(crate) fn cancelled(id: u64) -> Bytes {
    notification(
        "notifications/cancelled",
        &json!({"requestId": id, "reason": "the caller has left"}),
    )
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
    /// The error of a server that does not know a method.
    pub(crate) fn unknown_method(method: &str) -> Self {
        Self { code: -32601, message: format!("unknown method {method}"), data: None }
    }
}

/// An answer whose result is not parsed yet.
pub(crate) type Answer = Result<RpcResult, RpcError>;

/// A result as it arrived, without the long base64 that was extracted while it was read.
#[derive(Debug)]
pub(crate) struct RpcResult {
    pub(crate) raw: Box<RawValue>,
    pub(crate) blobs: Option<Blobs>,
}

impl RpcResult {
    /// The result's text, with placeholders for extracted base64.
    pub(crate) fn get(&self) -> &str {
        self.raw.get()
    }

    /// The result's text as the server sent it.
    pub(crate) fn whole(&self) -> Cow<'_, str> {
        match &self.blobs {
            Some(blobs) => blobs.restore(self.get()).into(),
            None => self.get().into(),
        }
    }
}

/// One message, parsed just far enough to know what it belongs to.
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

/// Whether a text that is no message is JSON without an id: no request waits for it.
pub(crate) fn is_stray(bytes: &[u8]) -> bool {
    serde_json::from_slice(bytes).is_ok_and(|Frame { id, .. }| id.is_none())
}

impl<'a> Message<'a> {
    /// Parses a message; the error says what is wrong with it.
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
            (Some(result), None) => Ok(RpcResult { raw: result.to_owned(), blobs: None }),
            (None, Some(error)) => Err(serde_json::from_str(error.get())
                .map_err(|why| format!("malformed `error`: {why}"))?),
            _ => return Err("neither a result nor an error".to_owned()),
        };
        Ok(Self::Answer { id, answer })
    }
}

#[cfg(test)]
mod tests;
