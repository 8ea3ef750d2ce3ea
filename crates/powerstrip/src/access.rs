//! How a command reaches a strip: in this process, in the process that owns the data folder, or at a URL.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use auth::LocalAccess;
use config::Loaded;
use gateway::{Foundation, Freshness, Gateway};
use operations::Operation;
use proto::{Discovery, Envelope, Failure, Principal, PromptRef};
use runs::RunOf;
use serde_json::{Value, json};
use strip::{Door, Request};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::context::Context;
use crate::operation_client::run_here;
use crate::owner::{OwnerProcess, Ownership, claim_or_connect};
use remote::Invocation;
use remote::Remote;
use terminal::progress::Progress;

/// Access to a strip.
pub(crate) enum Access {
    /// This process owns the data folder and runs the strip.
    Here(Box<Gateway>, Arc<Principal>),
    /// Another process on this machine owns it.
    Owner(OwnerProcess),
    /// A gateway at a URL.
    Remote(Remote),
}

impl Access {
    /// Connects to the gateway at the URL, or to the owner of the data folder, which becomes this process if it is
    /// free.
    pub(crate) async fn open(
        context: &Context,
        loaded: &Loaded,
        url: Option<&Url>,
    ) -> anyhow::Result<Self> {
        Self::open_as(context, loaded, url, None).await
    }

    /// Opens the access for a command about what a gateway has stored, and says so if none runs. None if the data folder
    /// does not exist: nothing is stored, and a look creates nothing.
    pub(crate) async fn open_existing(
        context: &Context,
        loaded: &Loaded,
    ) -> anyhow::Result<Option<Self>> {
        let folder = &loaded.config.data_dir;
        let shown = folder.display();
        // With PostgreSQL, the data are not in the folder.
        if loaded.config.storage.database.is_none() && !folder.exists() {
            terminal::note(format_args!(
                "no gateway runs here: the data folder {shown} does not exist"
            ));
            return Ok(None);
        }
        let access = Self::open(context, loaded, None).await?;
        if let Self::Here(..) = access {
            terminal::note(format_args!(
                "no gateway runs on the data folder {shown}; this is what is stored there"
            ));
        }
        Ok(Some(access))
    }

    /// Opens the access as an agent.
    pub(crate) async fn open_as(
        context: &Context,
        loaded: &Loaded,
        url: Option<&Url>,
        agent: Option<&str>,
    ) -> anyhow::Result<Self> {
        if let Some(url) = url {
            return Ok(Self::Remote(Remote::at(url, agent, &context.environment)?));
        }
        match claim_or_connect(&loaded.config.data_dir, agent).await? {
            Ownership::Ours(owned) => {
                let principal = local_principal(loaded, agent)?;
                let process = context.process();
                let foundation = Foundation::open(&process, loaded, owned).await?;
                let gateway = Gateway::open(&process, loaded, foundation, Freshness::Once);
                Ok(Self::Here(Box::new(gateway.await?), principal))
            }
            Ownership::Other(owner) => Ok(Self::Owner(owner)),
        }
    }

    /// The tools and prompts that can be called.
    pub(crate) async fn discovery(&self) -> anyhow::Result<Discovery> {
        match self {
            Self::Here(gateway, principal) => {
                settle(gateway).await;
                Ok(gateway.strip().discovery(principal))
            }
            Self::Owner(owner) => owner.ask("mcp.discover", json!({})).await,
            Self::Remote(remote) => remote.discovery().await,
        }
    }

    /// Runs an operation as the operator, once the servers of this process are up or known to be down.
    pub(crate) async fn run<O: Operation>(&self, input: &O::Input) -> anyhow::Result<O::Output> {
        if let Self::Here(gateway, _) = self {
            settle(gateway).await;
        }
        self.run_unsettled::<O>(input).await
    }

    /// Runs an operation as the operator, whatever the state of servers.
    pub(crate) async fn run_unsettled<O: Operation>(
        &self,
        input: &O::Input,
    ) -> anyhow::Result<O::Output> {
        match self {
            Self::Here(gateway, _) => run_here::<O>(gateway.operations(), input).await,
            Self::Owner(owner) => owner.run::<O>(input).await,
            Self::Remote(_) => bail!("a gateway can be operated only from its own host"),
        }
    }

    /// Calls a tool; cancelling ends the call.
    pub(crate) async fn invoke(
        &self,
        invocation: &Invocation,
        cancel: CancellationToken,
    ) -> anyhow::Result<Envelope> {
        let answer = async {
            match self {
                Self::Here(gateway, principal) => {
                    // The tools of a server are unknown until it has answered.
                    if gateway.strip().catalog().snapshot().resolve(&invocation.tool).is_err() {
                        settle(gateway).await;
                    }
                    let (caller, input) = (Arc::clone(principal), invocation.input.clone());
                    let mut call = Request::new(&invocation.tool, input, caller, Door::Cli);
                    call.verify = invocation.verify;
                    call.idempotency_key = invocation.idempotency_key.clone();
                    call.timeout = invocation.timeout;
                    if let Some(run) = &invocation.run {
                        call.run = RunOf::Named(run.as_str().into());
                    }
                    call.cancel = cancel.clone();
                    Ok(gateway.strip().call(call).await.envelope())
                }
                Self::Owner(owner) => {
                    let params = json!({
                        "tool": invocation.tool,
                        "input": invocation.input,
                        "verify": invocation.verify,
                        "idempotencyKey": invocation.idempotency_key,
                        "runId": invocation.run,
                        "timeoutMs": invocation.timeout.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
                    });
                    owner.ask("mcp.tool.invoke", params).await
                }
                Self::Remote(remote) => remote.invoke(invocation).await,
            }
        };
        match self {
            // The strip ends a cancelled call itself and writes its audit row.
            Self::Here(..) => answer.await,
            Self::Owner(_) | Self::Remote(_) => tokio::select! {
                answer = answer => answer,
                () = cancel.cancelled() => bail!("interrupted"),
            },
        }
    }

    /// A prompt's body and spec.
    pub(crate) async fn prompt(&self, prompt: &PromptRef) -> anyhow::Result<Value> {
        match self {
            Self::Here(gateway, _) => {
                let prompts = gateway.strip().prompts().snapshot();
                let prompt = prompts.get(prompt).map_err(Failure::from)?;
                Ok(json!({"body": prompt.body, "spec": prompt.spec}))
            }
            Self::Owner(owner) => {
                let params =
                    json!({"domain": prompt.domain, "name": prompt.name, "major": prompt.major});
                owner.ask("mcp.prompt.get", params).await
            }
            Self::Remote(remote) => remote.prompt(prompt).await,
        }
    }

    /// A prompt's text for these arguments.
    pub(crate) async fn render(
        &self,
        prompt: &PromptRef,
        arguments: &Value,
    ) -> anyhow::Result<String> {
        let result = match self {
            Self::Here(gateway, _) => {
                let prompts = gateway.strip().prompts().snapshot();
                let text = prompts.get(prompt).and_then(|prompt| prompt.render(arguments));
                return Ok(text.map_err(Failure::from)?);
            }
            Self::Owner(owner) => owner.render(prompt, arguments).await?,
            Self::Remote(remote) => remote.render(prompt, arguments).await?,
        };
        let text = result["messages"][0]["content"]["text"].as_str();
        text.map(str::to_owned).context("the gateway's answer contains no text")
    }

    /// Closes the gateway if this process runs it.
    pub(crate) async fn close(self) {
        if let Self::Here(gateway, _) = self {
            gateway.close().await;
        }
    }
}

/// Waits until the servers of this process are up or known to be down, and says so on a terminal.
async fn settle(gateway: &Gateway) {
    let starting = gateway.server_statuses().len();
    if starting == 0 {
        return;
    }
    let progress = Progress::start(format!("starting {starting} servers"));
    gateway.settle().await;
    progress.end().await;
}

/// The local user, or one of the agents in the config.
fn local_principal(loaded: &Loaded, agent: Option<&str>) -> anyhow::Result<Arc<Principal>> {
    let user = LocalAccess::default().user();
    let Some(agent) = agent else { return Ok(user) };
    let known = loaded.config.agents.contains_key(agent);
    let principal = known.then(|| auth::as_agent(&user, agent)).flatten();
    principal.with_context(|| {
        let known: Vec<_> = loaded.config.agents.keys().map(String::as_str).collect();
        if known.is_empty() {
            format!("there is no agent `{agent}`: the config names none under `agents`")
        } else {
            format!("there is no agent `{agent}`; the config names {}", known.join(", "))
        }
    })
}
