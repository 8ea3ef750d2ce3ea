//! The process that owns a data folder, reached over its local sockets.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use gateway::{SocketPath, handover};
use operations::{Operation, OperationError};
use proto::PromptRef;
use remote::{LspClient, LspError, modern_request};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use store::{Claim, DataFolder};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::time::Instant;

/// How long an owner may take to open its socket, or a stopping one to release the folder.
const OWNER_TIMEOUT: Duration = Duration::from_secs(15);

/// How often a folder that is about to be free is tried.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// The owner of the data folder.
pub(crate) enum Ownership {
    /// This process, from now on.
    Ours(DataFolder),
    /// Another process, connected.
    Other(OwnerProcess),
}

/// Takes the data folder if it is free, and connects to its owner otherwise.
pub(crate) async fn claim_or_connect(
    folder: &Path,
    agent: Option<&str>,
) -> anyhow::Result<Ownership> {
    let deadline = Instant::now() + OWNER_TIMEOUT;
    loop {
        // A server that waits to take the folder over goes first.
        let claim = if handover::is_awaited(folder) {
            Claim::OwnedBy { pid: None }
        } else {
            DataFolder::claim(folder)?
        };
        let pid = match claim {
            Claim::Owner(owned) => return Ok(Ownership::Ours(owned)),
            Claim::OwnedBy { pid } => pid,
        };
        if let Some(client) = greet(folder, json!({"door": "cli", "agent": agent})).await? {
            return Ok(Ownership::Other(OwnerProcess { folder: folder.to_owned(), client }));
        }
        if Instant::now() > deadline {
            let owner =
                pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
            bail!("{owner} holds the data folder {} but does not answer", folder.display());
        }
        tokio::time::sleep(RETRY_INTERVAL).await;
    }
}

/// A connection to the process that owns the data folder.
pub(crate) struct OwnerProcess {
    folder: PathBuf,
    client: LspClient,
}

impl OwnerProcess {
    /// Connects to the process that owns a folder; none if there is no such process.
    pub(crate) async fn find(folder: &Path) -> Option<Self> {
        let client = greet(folder, json!({"door": "cli"})).await.ok().flatten()?;
        Some(Self { folder: folder.to_owned(), client })
    }

    /// Sends a request over the local socket.
    pub(crate) async fn ask<T: DeserializeOwned>(
        &self,
        method: &str,
        params: Value,
    ) -> anyhow::Result<T> {
        request(&self.client, method, params).await
    }

    /// Runs an operation in the owner, over the operator socket.
    pub(crate) async fn run<O: Operation>(&self, input: &O::Input) -> anyhow::Result<O::Output> {
        let path = SocketPath::for_operator(&self.folder)?;
        let stream = UnixStream::connect(path.path()).await;
        let stream =
            stream.context("the gateway on this data folder does not accept operator commands")?;
        request(&LspClient::connect(stream), O::NAME, serde_json::to_value(input)?).await
    }

    /// Renders a prompt through the MCP door on the same socket: the LSP door cannot.
    pub(crate) async fn render(
        &self,
        prompt: &PromptRef,
        arguments: &Value,
    ) -> anyhow::Result<Value> {
        let path = SocketPath::of(&self.folder)?;
        let stream = UnixStream::connect(path.path()).await?;
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

async fn request<T: DeserializeOwned>(
    client: &LspClient,
    method: &str,
    params: Value,
) -> anyhow::Result<T> {
    let answer = client.request(method, params).await.map_err(|error| match error {
        LspError::Refused { message, data, .. } => {
            // may fail: other errors have other data, and are shown by their message.
            let typed = data.and_then(|data| serde_json::from_value::<OperationError>(data).ok());
            typed.map_or_else(|| anyhow::Error::msg(message), anyhow::Error::new)
        }
        LspError::Closed => anyhow::Error::msg(
            "the process that owns the data folder ended before it answered; the request may have taken effect",
        ),
    })?;
    serde_json::from_value(answer)
        .context("the owner of the data folder runs another version: its answer cannot be read")
}

/// Connects to the owner of a folder and waits for its first answer: a stopping owner may accept connections that it
/// never serves. `introduction` names the door, for the audit trail, and the agent, which must exist.
pub(crate) async fn greet(folder: &Path, introduction: Value) -> anyhow::Result<Option<LspClient>> {
    let connected = async {
        let path = SocketPath::of(folder).ok()?;
        UnixStream::connect(path.path()).await.ok()
    };
    let Some(stream) = connected.await else { return Ok(None) };
    let client = LspClient::connect(stream);
    match tokio::time::timeout(OWNER_TIMEOUT, client.request("powerstrip.hello", introduction))
        .await
    {
        Ok(Ok(_)) => Ok(Some(client)),
        Ok(Err(LspError::Refused { message, .. })) => bail!(message),
        Ok(Err(LspError::Closed)) | Err(_) => Ok(None),
    }
}
