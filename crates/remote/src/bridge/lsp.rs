//! LSP-framed requests, answered by the gateway's HTTP routes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use proto::PromptRef;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::io::AsyncWrite;
use tokio_util::task::TaskTracker;

use crate::client::MessageWriter;
use crate::gateway::Remote;
use crate::invocation::Invocation;

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const UNREACHABLE: i64 = -32000;

/// Answers requests, concurrently.
pub(super) struct LspBridge<W> {
    remote: Remote,
    writer: Arc<MessageWriter<W>>,
    under_way: TaskTracker,
}

struct Refusal(i64, String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Invoke {
    tool: String,
    #[serde(default = "no_input")]
    input: Value,
    #[serde(default)]
    verify: bool,
    idempotency_key: Option<String>,
    timeout_ms: Option<u64>,
    run_id: Option<String>,
}

fn no_input() -> Value {
    json!({})
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Prompt {
    domain: String,
    name: String,
    major: Option<u64>,
}

impl<W: AsyncWrite + Send + Unpin + 'static> LspBridge<W> {
    pub(super) fn new(remote: Remote, writer: Arc<MessageWriter<W>>) -> Self {
        Self { remote, writer, under_way: TaskTracker::new() }
    }

    /// Begins to answer one message.
    pub(super) fn take(self: Arc<Self>, message: Bytes) {
        let bridge = Arc::clone(&self);
        self.under_way.spawn(async move {
            let (id, result) = match serde_json::from_slice::<Value>(&message) {
                Err(error) => (
                    Value::Null,
                    Err(Refusal(PARSE_ERROR, format!("the message is not JSON: {error}"))),
                ),
                Ok(mut request) => {
                    let id = request["id"].take();
                    let Some(method) = request["method"].as_str().map(str::to_owned) else {
                        let refusal =
                            Refusal(INVALID_REQUEST, "a request names its `method`".to_owned());
                        return bridge.answer(&id, Err(refusal)).await;
                    };
                    if id.is_null() {
                        return;
                    }
                    let params =
                        request.get_mut("params").map(Value::take).unwrap_or_else(no_input);
                    (id, bridge.handle(&method, params).await)
                }
            };
            bridge.answer(&id, result).await;
        });
    }

    pub(super) async fn finish(&self) {
        self.under_way.close();
        self.under_way.wait().await;
    }

    async fn answer(&self, id: &Value, result: Result<Value, Refusal>) {
        let message = match result {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(Refusal(code, message)) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
            }
        };
        self.writer.send(message.to_string().as_bytes()).await;
    }

    async fn handle(&self, method: &str, params: Value) -> Result<Value, Refusal> {
        match method {
            "mcp.discover" => as_json(self.remote.discovery().await),
            "mcp.prompt.get" => {
                let Prompt { domain, name, major } = read(params)?;
                as_json(self.remote.prompt(&PromptRef { domain, name, major }).await)
            }
            "mcp.tool.invoke" => {
                let invoke: Invoke = read(params)?;
                let invocation = Invocation {
                    tool: invoke.tool,
                    input: invoke.input,
                    verify: invoke.verify,
                    idempotency_key: invoke.idempotency_key,
                    timeout: invoke.timeout_ms.map(Duration::from_millis),
                    run: invoke.run_id,
                };
                as_json(self.remote.invoke(&invocation).await)
            }
            other => {
                let shown: String = other.chars().take(100).collect();
                Err(Refusal(METHOD_NOT_FOUND, format!("there is no method `{shown}`")))
            }
        }
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    serde_json::from_value(params)
        .map_err(|error| Refusal(INVALID_PARAMS, format!("the params cannot be read: {error}")))
}

fn as_json<T: serde::Serialize>(answer: anyhow::Result<T>) -> Result<Value, Refusal> {
    let refused = |error: anyhow::Error| Refusal(UNREACHABLE, format!("{error:#}"));
    serde_json::to_value(answer.map_err(refused)?).map_err(|error| refused(error.into()))
}
