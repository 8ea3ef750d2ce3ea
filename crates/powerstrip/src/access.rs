//! How a command reaches a strip: in this process, in the one that owns the data folder, or at a URL.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use auth::LocalAccess;
use config::Loaded;
use doors::{LspClient, LspError};
use proto::{Discovery, Envelope, Principal, PromptRef};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use store::{Claim, DataFolder};
use strip::agents::AgentReport;
use strip::runs::RunOf;
use strip::{Door, Request};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::context::Context;
use crate::gateway::{Freshness, Gateway, SocketPlace};
use crate::handover;
use crate::remote::{Remote, modern_request};

/// How long an owner may take to open its socket, or an ending one to let go of the folder.
const PATIENCE: Duration = Duration::from_secs(15);

const STEP: Duration = Duration::from_millis(20);

/// One call, as the command line asks for it.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    pub(crate) tool: String,
    pub(crate) input: Value,
    pub(crate) verify: bool,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) timeout: Option<Duration>,
    /// The run that it belongs to, by name.
    pub(crate) run: Option<String>,
}

/// The data folder, or who holds it.
pub(crate) enum Reached {
    /// Nobody did; now this process does.
    Folder(DataFolder),
    /// Another process does.
    Beside(Beside),
}

/// Reaches the owner of a data folder, which may turn out to be us.
pub(crate) async fn reach(folder: &Path, agent: Option<&str>) -> anyhow::Result<Reached> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        // An heir that waits for the folder goes first.
        let claim = match handover::is_awaited(folder) {
            true => Claim::OwnedBy { pid: None },
            false => DataFolder::claim(folder)?,
        };
        let pid = match claim {
            Claim::Owner(owned) => return Ok(Reached::Folder(owned)),
            Claim::OwnedBy { pid } => pid,
        };
        if let Some(client) = greet(folder, json!({"door": "cli", "agent": agent})).await? {
            return Ok(Reached::Beside(Beside { folder: folder.to_owned(), client }));
        }
        if Instant::now() > deadline {
            let who =
                pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
            bail!("{who} holds the data folder {} but does not answer", folder.display());
        }
        tokio::time::sleep(STEP).await;
    }
}

/// A strip within reach.
pub(crate) enum Access {
    /// This process owns the data folder and holds the strip itself.
    Here(Box<Gateway>, Arc<Principal>),
    /// Another process owns it.
    Beside(Beside),
    /// A gateway at a URL.
    Elsewhere(Remote),
}

/// The process that owns the data folder.
pub(crate) struct Beside {
    folder: PathBuf,
    client: LspClient,
}

impl Access {
    /// Reaches the gateway at the URL, or else the owner of the data folder, which may turn out to be us.
    pub(crate) async fn open(
        context: &Context,
        loaded: &Loaded,
        url: Option<&Url>,
    ) -> anyhow::Result<Self> {
        Self::open_as(context, loaded, url, None).await
    }

    /// The same, as an agent.
    pub(crate) async fn open_as(
        context: &Context,
        loaded: &Loaded,
        url: Option<&Url>,
        agent: Option<&str>,
    ) -> anyhow::Result<Self> {
        if let Some(url) = url {
            return Ok(Self::Elsewhere(Remote::at(url, agent, &context.environment)?));
        }
        match reach(&loaded.config.data_dir, agent).await? {
            Reached::Folder(owned) => {
                let (servers, environment) = (loaded.servers.clone(), &context.environment);
                let (config, freshness) = (&loaded.config, Freshness::Once);
                let principal = ourselves(loaded, agent)?;
                let gateway = Gateway::open(config, servers, environment, owned, freshness);
                Ok(Self::Here(Box::new(gateway.await?), principal))
            }
            Reached::Beside(owner) => Ok(Self::Beside(owner)),
        }
    }

    /// What there is to call.
    pub(crate) async fn discovery(&self) -> anyhow::Result<Discovery> {
        match self {
            Self::Here(gateway, principal) => {
                gateway.settle().await;
                Ok(gateway.strip().discovery(principal))
            }
            Self::Beside(owner) => owner.ask("mcp.discover", json!({})).await,
            Self::Elsewhere(remote) => remote.discovery().await,
        }
    }

    /// How the servers behind the strip are.
    pub(crate) async fn servers(&self) -> anyhow::Result<Vec<Value>> {
        let told = match self {
            Self::Here(gateway, _) => {
                gateway.settle().await;
                gateway.servers()
            }
            Self::Beside(owner) => return owner.ask("powerstrip.servers", json!({})).await,
            Self::Elsewhere(_) => bail!("a gateway tells only its own host how its servers are"),
        };
        Ok(serde_json::from_value(told)?)
    }

    /// Asks what only the operator may ask, by method.
    pub(crate) async fn operate(&self, method: &str, params: Value) -> anyhow::Result<Value> {
        match self {
            Self::Here(gateway, _) => {
                gateway.settle().await;
                let answer = gateway.operator().ask(method, params).await;
                answer.context("there is no such method")?.map_err(anyhow::Error::msg)
            }
            Self::Beside(owner) => owner.operate(method, params).await,
            Self::Elsewhere(_) => bail!("a gateway is operated from its own host only"),
        }
    }

    /// The link by which the local user logs in to a server; none if that is not needed.
    pub(crate) async fn login(&self, server: &str) -> anyhow::Result<Option<String>> {
        match self {
            Self::Here(gateway, _) => Ok(gateway.login(server).await?),
            Self::Beside(owner) => owner.ask("powerstrip.login", json!({"server": server})).await,
            Self::Elsewhere(_) => bail!("a gateway lets only its own host log in"),
        }
    }

    /// The agents and what each may call.
    pub(crate) async fn agents(&self) -> anyhow::Result<Vec<AgentReport>> {
        match self {
            Self::Here(gateway, _) => {
                gateway.settle().await;
                Ok(gateway.strip().agent_reports())
            }
            Self::Beside(owner) => owner.ask("powerstrip.agents", json!({})).await,
            Self::Elsewhere(_) => bail!("a gateway tells only its own host which agents it has"),
        }
    }

    /// Calls a tool; gives up waiting, and tells the tool so, when cancelled.
    pub(crate) async fn invoke(
        &self,
        invocation: &Invocation,
        cancel: CancellationToken,
    ) -> anyhow::Result<Envelope> {
        let answer = async {
            match self {
                Self::Here(gateway, principal) => {
                    // A tool of a server is known when its server has answered.
                    if gateway.strip().catalog().snapshot().resolve(&invocation.tool).is_err() {
                        gateway.settle().await;
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
                Self::Beside(owner) => {
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
                Self::Elsewhere(remote) => remote.invoke(invocation).await,
            }
        };
        match self {
            // The strip itself ends a cancelled call, and leaves an audit row.
            Self::Here(..) => answer.await,
            Self::Beside(_) | Self::Elsewhere(_) => tokio::select! {
                answer = answer => answer,
                () = cancel.cancelled() => bail!("interrupted"),
            },
        }
    }

    /// A prompt's body and spec.
    pub(crate) async fn prompt(&self, prompt: &PromptRef) -> anyhow::Result<Value> {
        match self {
            Self::Here(gateway, _) => {
                let shelf = gateway.strip().prompts().shelf();
                let prompt = shelf.get(prompt)?;
                Ok(json!({"body": prompt.body, "spec": prompt.spec}))
            }
            Self::Beside(owner) => {
                let params =
                    json!({"domain": prompt.domain, "name": prompt.name, "major": prompt.major});
                owner.ask("mcp.prompt.get", params).await
            }
            Self::Elsewhere(remote) => remote.prompt(prompt).await,
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
                let shelf = gateway.strip().prompts().shelf();
                return Ok(shelf.get(prompt)?.render(arguments)?);
            }
            Self::Beside(owner) => owner.render(prompt, arguments).await?,
            Self::Elsewhere(remote) => remote.render(prompt, arguments).await?,
        };
        let text = result["messages"][0]["content"]["text"].as_str();
        text.map(str::to_owned).context("the gateway's answer holds no text")
    }

    /// Lets go.
    pub(crate) async fn close(self) {
        if let Self::Here(gateway, _) = self {
            gateway.close().await;
        }
    }
}

/// Connects to the owner of a folder, and makes sure that somebody answers: an ending owner may still take
/// connections that it will never serve. What we say of ourselves goes into the audit trail; an agent that we say to
/// be must exist.
pub(crate) async fn greet(folder: &Path, ourselves: Value) -> anyhow::Result<Option<LspClient>> {
    let connected = async {
        let place = SocketPlace::of(folder).ok()?;
        UnixStream::connect(place.path()).await.ok()
    };
    let Some(stream) = connected.await else { return Ok(None) };
    let client = LspClient::connect(stream);
    match tokio::time::timeout(PATIENCE, client.request("powerstrip.hello", ourselves)).await {
        Ok(Ok(_)) => Ok(Some(client)),
        Ok(Err(LspError::Refused { message, .. })) => bail!(message),
        Ok(Err(LspError::Closed)) | Err(_) => Ok(None),
    }
}

/// The local user, or one of the agents in the config.
fn ourselves(loaded: &Loaded, agent: Option<&str>) -> anyhow::Result<Arc<Principal>> {
    let user = LocalAccess::default().user();
    let Some(agent) = agent else { return Ok(user) };
    let known = loaded.config.agents.contains_key(agent);
    let principal = known.then(|| auth::as_agent(&user, agent)).flatten();
    principal.with_context(|| format!("there is no agent `{agent}`"))
}

impl Beside {
    async fn ask<T: DeserializeOwned>(&self, method: &str, params: Value) -> anyhow::Result<T> {
        Self::asked(&self.client, method, params).await
    }

    /// The operator has a socket of its own.
    pub(crate) async fn operate(&self, method: &str, params: Value) -> anyhow::Result<Value> {
        let place = SocketPlace::for_operator(&self.folder)?;
        let stream = UnixStream::connect(place.path()).await;
        let stream = stream.context("the gateway that runs on this data folder takes no orders")?;
        Self::asked(&LspClient::connect(stream), method, params).await
    }

    async fn asked<T: DeserializeOwned>(
        client: &LspClient,
        method: &str,
        params: Value,
    ) -> anyhow::Result<T> {
        let answer = client.request(method, params).await.map_err(|error| match error {
            LspError::Refused { message, .. } => anyhow::Error::msg(message),
            LspError::Closed => anyhow::Error::msg(
                "the process that owns the data folder ended before it answered; what it had begun may be done",
            ),
        })?;
        serde_json::from_value(answer)
            .context("the owner of the data folder answers in another form than this version")
    }

    /// The LSP door does not render prompts; the MCP door on the same socket does.
    async fn render(&self, prompt: &PromptRef, arguments: &Value) -> anyhow::Result<Value> {
        let place = SocketPlace::of(&self.folder)?;
        let stream = UnixStream::connect(place.path()).await?;
        let (read, mut write) = stream.into_split();
        let request = modern_request(
            "prompts/get",
            json!({"name": prompt.to_string(), "arguments": arguments}),
        );
        write.write_all(format!("{request}\n").as_bytes()).await?;
        let mut lines = BufReader::new(read).lines();
        while let Some(line) = lines.next_line().await? {
            let mut message: Value = serde_json::from_str(&line)?;
            if message["id"] != request["id"] {
                continue;
            }
            if let Some(error) = message.get("error") {
                bail!("{}", error["message"].as_str().unwrap_or("the prompt was refused"));
            }
            return Ok(message["result"].take());
        }
        bail!("the process that owns the data folder ended before it answered")
    }
}
