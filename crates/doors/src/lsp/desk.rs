//! The methods, and what they answer.

use std::sync::Arc;
use std::time::Duration;

use proto::{Principal, PromptRef};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use strip::{Call, Door, Strip};
use tokio_util::sync::CancellationToken;

use super::message::{Fault, Outcome};

const METHODS: &str = "mcp.discover, mcp.prompt.get, mcp.tool.invoke";

/// Answers the requests of one caller.
pub(crate) struct Desk {
    strip: Arc<Strip>,
    principal: Arc<Principal>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PromptParams {
    domain: String,
    name: String,
    major: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct InvokeParams {
    tool: String,
    #[serde(default = "no_input")]
    input: Value,
    #[serde(default)]
    verify: bool,
    idempotency_key: Option<String>,
    timeout_ms: Option<u64>,
}

fn no_input() -> Value {
    Value::Object(Map::new())
}

impl Desk {
    pub(crate) fn new(strip: Arc<Strip>, principal: Arc<Principal>) -> Self {
        Self { strip, principal }
    }

    pub(super) async fn handle(
        &self,
        method: &str,
        params: Value,
        cancel: CancellationToken,
    ) -> Result<Outcome, Fault> {
        match method {
            "mcp.discover" => Ok(Outcome::Discovery(Box::new(self.strip.discovery()))),
            "mcp.prompt.get" => self.prompt(read(params)?),
            "mcp.tool.invoke" => self.invoke(read(params)?, cancel).await,
            other => {
                let shown: String = other.chars().take(100).collect();
                let message = format!("there is no method `{shown}`; there are {METHODS}");
                Err(Fault::method_not_found(message))
            }
        }
    }

    fn prompt(&self, params: PromptParams) -> Result<Outcome, Fault> {
        let PromptParams { domain, name, major } = params;
        let shelf = self.strip.prompts().shelf();
        let prompt = shelf.get(&PromptRef { domain, name, major }).map_err(|failure| {
            let item = serde_json::to_value(failure.item()).unwrap_or_default();
            Fault::invalid_params(failure.message).with_data(item)
        })?;
        Ok(Outcome::Json(json!({"body": prompt.body, "spec": prompt.spec})))
    }

    async fn invoke(
        &self,
        params: InvokeParams,
        cancel: CancellationToken,
    ) -> Result<Outcome, Fault> {
        let mut call = Call::new(params.tool, params.input, Arc::clone(&self.principal), Door::Lsp);
        call.verify = params.verify;
        call.idempotency_key = params.idempotency_key;
        call.patience = params.timeout_ms.map(Duration::from_millis);
        call.cancel = cancel;
        // A failed call is an answer like any other: the envelope says so.
        Ok(Outcome::Envelope(Box::new(self.strip.call(call).await.envelope())))
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Fault> {
    serde_json::from_value(params)
        .map_err(|error| Fault::invalid_params(format!("the params cannot be read: {error}")))
}
