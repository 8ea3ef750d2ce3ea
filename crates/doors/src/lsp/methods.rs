//! The methods of a session.

use std::sync::{Arc, OnceLock};

use operations::{Audience, Caller, RawInput, Table};
use proto::{Code, Failure, Principal, PromptRef, TraceId};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use strip::{Door, RefusedRequest, Request, Strip};
use tokio_util::sync::CancellationToken;

use super::message::{Fault, Outcome};
use crate::call_options::{CallOptions, InvalidOption};
use crate::size::{MAX_MESSAGE_BYTES, message_limit};

const METHODS: &str = "mcp.discover, mcp.prompt.get, mcp.tool.invoke";

/// The methods that one caller can use.
pub(crate) struct Methods {
    strip: Arc<Strip>,
    principal: Arc<Principal>,
    /// The agent that the other side claims to be.
    agent: OnceLock<Arc<Principal>>,
    /// The door that the other side claims to be, such as the command line.
    claimed: OnceLock<Door>,
    operations: Arc<Table>,
    /// Whether the other side is the operator.
    operator: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HelloParams {
    door: Option<Claim>,
    agent: Option<String>,
}

/// A door that the other side may claim to be. It is the local user in any case; only the audit row differs.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Claim {
    Cli,
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
    run_id: Option<String>,
}

impl InvokeParams {
    /// The options of the call, or what is wrong with them.
    fn options(&self) -> Result<CallOptions, String> {
        let at = |field: &'static str| move |invalid: InvalidOption| format!("`{field}` {invalid}");
        let mut options = CallOptions::default();
        options.verify(Some(self.verify)).map_err(at("verify"))?;
        if let Some(key) = &self.idempotency_key {
            options.key(Some(key)).map_err(at("idempotencyKey"))?;
        }
        if let Some(milliseconds) = self.timeout_ms {
            options.timeout_ms(Some(milliseconds)).map_err(at("timeoutMs"))?;
        }
        if let Some(run) = &self.run_id {
            options.run(Some(run)).map_err(at("runId"))?;
        }
        Ok(options)
    }
}

fn no_input() -> Value {
    Value::Object(Map::new())
}

impl Methods {
    pub(crate) fn new(
        strip: Arc<Strip>,
        principal: Arc<Principal>,
        operations: Arc<Table>,
        operator: bool,
    ) -> Self {
        let (agent, claimed) = (OnceLock::new(), OnceLock::new());
        Self { strip, principal, agent, claimed, operations, operator }
    }

    fn caller(&self) -> &Arc<Principal> {
        self.agent.get().unwrap_or(&self.principal)
    }

    /// The largest message that is read now.
    pub(super) fn max_message(&self) -> usize {
        message_limit(&self.strip, MAX_MESSAGE_BYTES)
    }

    pub(super) async fn handle(
        &self,
        method: &str,
        params: Value,
        cancel: CancellationToken,
    ) -> Result<Outcome, Fault> {
        match method {
            "powerstrip.hello" => self.hello(read(params)?),
            "mcp.discover" => Ok(Outcome::Discovery(Box::new(self.strip.discovery(self.caller())))),
            "mcp.prompt.get" => self.prompt(read(params)?),
            "mcp.tool.invoke" => self.invoke(read(params)?, cancel).await,
            other => {
                // No agent runs operations, nor does a session that claims to be one.
                if self.caller().agent.is_none()
                    && let Some(row) = self.operations.row(other)
                    && (self.operator || row.audience == Audience::LocalUser)
                {
                    return self.operate(row.name, params).await;
                }
                let shown: String = other.chars().take(100).collect();
                let message = format!("there is no method `{shown}`; there are {METHODS}");
                Err(Fault::method_not_found(message))
            }
        }
    }

    async fn operate(&self, name: &str, params: Value) -> Result<Outcome, Fault> {
        let principal = Arc::clone(&self.principal);
        let caller =
            if self.operator { Caller::operator(principal) } else { Caller::local(principal) };
        let output = self.operations.run(name, caller, RawInput::Params(params)).await;
        output.map(Outcome::Json).map_err(|error| {
            let data = json!(error);
            Fault::invalid_params(error.message).with_data(data)
        })
    }

    /// The first request of our own commands: checks that the owner answers, and claims to be the command line.
    fn hello(&self, params: HelloParams) -> Result<Outcome, Fault> {
        if let Some(Claim::Cli) = params.door {
            // A second claim changes nothing.
            let _ = self.claimed.set(Door::Cli);
        }
        if let Some(agent) = params.agent {
            let known = self.strip.agents().agents.contains_key(&agent);
            let principal = known.then(|| auth::as_agent(self.caller(), &agent)).flatten();
            let no_such = || Fault::invalid_params(format!("there is no agent `{agent}`"));
            let _ = self.agent.set(principal.ok_or_else(no_such)?);
        }
        Ok(Outcome::Json(json!({"name": "powerstrip", "version": env!("CARGO_PKG_VERSION")})))
    }

    fn prompt(&self, params: PromptParams) -> Result<Outcome, Fault> {
        let PromptParams { domain, name, major } = params;
        let prompts = self.strip.prompts().snapshot();
        let prompt = prompts.get(&PromptRef { domain, name, major }).map_err(|error| {
            let failure = Failure::from(error);
            let item = json!(failure.item());
            Fault::invalid_params(failure.message).with_data(item)
        })?;
        Ok(Outcome::Json(json!({"body": prompt.body, "spec": prompt.spec})))
    }

    async fn invoke(
        &self,
        params: InvokeParams,
        cancel: CancellationToken,
    ) -> Result<Outcome, Fault> {
        let door = self.claimed.get().copied().unwrap_or(Door::Lsp);
        let options = match params.options() {
            Ok(options) => options,
            Err(message) => {
                let refused = RefusedRequest {
                    about: &params.tool,
                    principal: Arc::clone(self.caller()),
                    door,
                    trace: TraceId::random(),
                };
                let invalid = Failure::new(Code::InvalidInput, message);
                let failure = self.strip.record_refusal(refused, invalid).await;
                let item = (failure.code == Code::RateLimit).then(|| json!(failure.item()));
                let fault = Fault::invalid_params(failure.message);
                return Err(match item {
                    Some(item) => fault.with_data(item),
                    None => fault,
                });
            }
        };
        let mut call = Request::new(params.tool, params.input, Arc::clone(self.caller()), door);
        options.apply(&mut call);
        call.cancel = cancel;
        // A failed call is a result, too: its envelope has the error.
        Ok(Outcome::Envelope(Box::new(self.strip.call(call).await.envelope())))
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Fault> {
    serde_json::from_value(params)
        .map_err(|error| Fault::invalid_params(format!("the params cannot be read: {error}")))
}
