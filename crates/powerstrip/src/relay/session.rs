//! A session with the process that runs the strip: this one if the data folder is free, otherwise its owner.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use config::Loaded;
use gateway::reload::Reload;
use gateway::{Foundation, Freshness, Gateway, SocketPath};
use serde_json::json;
use store::{Claim, DataFolder};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::owner;
use gateway::handover::{self, HandoverListener};

/// How long it may take until a process runs the strip; far more than a start or a hand-over needs.
const OWNER_TIMEOUT: Duration = Duration::from_secs(60);

const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// How long running calls, and tasks of workflows, may take to finish when the session ends.
const DRAIN: Duration = Duration::from_secs(10);

const PIPE_BYTES: usize = 64 << 10;

/// The session's end to read from.
pub(super) type Reader = Box<dyn AsyncRead + Send + Unpin>;

/// The session's end to write to.
pub(super) type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// One session and, if it is served by this process, all that serves it.
pub(super) struct Session {
    ends: Option<(Reader, Writer)>,
    own: Option<Own>,
}

struct Own {
    gateway: Arc<Gateway>,
    handover_listener: Option<HandoverListener>,
    serving: JoinHandle<()>,
    /// Follows the config file.
    following: JoinHandle<()>,
    ending: CancellationToken,
}

impl Session {
    /// Opens a session, wherever the strip is.
    pub(super) async fn open(
        context: &Arc<Context>,
        loaded: &Loaded,
        agent: Option<&str>,
    ) -> anyhow::Result<Self> {
        let folder = &loaded.config.data_dir;
        let deadline = Instant::now() + OWNER_TIMEOUT;
        loop {
            // A server that waits for the folder goes first.
            if !handover::is_awaited(folder)
                && let Claim::Owner(owned) = DataFolder::claim(folder)?
            {
                return Self::here(context, loaded, owned, agent).await;
            }
            // An owner that is ending may still take connections, but does not greet any more.
            if owner::greet(folder, json!({"agent": agent})).await?.is_some()
                && let Ok(place) = SocketPath::of(folder)
                && let Ok(stream) = UnixStream::connect(place.path()).await
            {
                let (read, mut write) = stream.into_split();
                if let Some(agent) = agent {
                    write.write_all(format!("@{agent}\n").as_bytes()).await?;
                }
                return Ok(Self { ends: Some((Box::new(read), Box::new(write))), own: None });
            }
            if Instant::now() > deadline {
                bail!(
                    "the process that holds the data folder {} does not answer",
                    folder.display()
                );
            }
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
    }

    async fn here(
        context: &Arc<Context>,
        loaded: &Loaded,
        folder: DataFolder,
        agent: Option<&str>,
    ) -> anyhow::Result<Self> {
        let handover_listener = HandoverListener::open(folder.path())
            .inspect_err(|error| tracing::warn!(%error, "the data folder cannot be released"))
            .ok();
        // The config in force may have changed since this process started.
        let loaded = context.load().unwrap_or_else(|_| loaded.clone());
        let process = context.process();
        let foundation = Foundation::open(&process, &loaded, folder).await?;
        let gateway = Gateway::open(&process, &loaded, foundation, Freshness::Followed).await?;
        let gateway = Arc::new(gateway);
        let ending = CancellationToken::new();
        gateway.resume_workflows(auth::LocalAccess::default().into());
        let flags = context.global.overrides();
        let reload = Reload::new(Arc::clone(&gateway), process, flags, &loaded);
        let following = tokio::spawn(reload.follow(loaded, ending.clone()));
        let (ours, other) = tokio::io::duplex(PIPE_BYTES);
        let door = match agent {
            None => gateway.door().clone(),
            Some(agent) => gateway
                .door()
                .as_agent(agent)
                .with_context(|| format!("there is no agent `{agent}`"))?,
        };
        let serving = tokio::spawn(async move {
            let (read, write) = tokio::io::split(other);
            if let Err(error) = door.serve(read, write).await {
                tracing::debug!(%error, "the session ended");
            }
        });
        let (read, write) = tokio::io::split(ours);
        let own = Some(Own { gateway, handover_listener, serving, following, ending });
        Ok(Self { ends: Some((Box::new(read), Box::new(write))), own })
    }

    /// Both ends; they can be had once.
    pub(super) fn take(&mut self) -> (Reader, Writer) {
        self.ends
            .take()
            .unwrap_or_else(|| (Box::new(tokio::io::empty()), Box::new(tokio::io::sink())))
    }

    /// Returns when another process asks for the data folder; never if this process does not own it.
    pub(super) async fn handover_requested(&self) {
        match self.own.as_ref().and_then(|own| own.handover_listener.as_ref()) {
            Some(handover_listener) => handover_listener.release_requested().await,
            None => std::future::pending().await,
        }
    }

    /// Lets the calls of all sessions finish for a while, if this process runs the strip. Those that wait for people are
    /// answered: their approvals and questions stay pending.
    pub(super) async fn finish_calls(&self) {
        let Some(Own { gateway, .. }) = &self.own else { return };
        gateway.approvals().end();
        gateway.strip().runs().end_waiting();
        let stopping = CancellationToken::new();
        stopping.cancel();
        gateway.drain_local_calls(stopping, DRAIN).await;
    }

    /// Ends the session, and lets go of the data folder if this process holds it.
    pub(super) async fn close(self) {
        let Some(Own { gateway, handover_listener, serving, following, ending }) = self.own else {
            return;
        };
        drop(handover_listener);
        ending.cancel();
        gateway.drain_workflows(ending, DRAIN).await;
        let _ = following.await;
        Gateway::close_shared(gateway).await;
        serving.abort();
    }
}

/// Writes a message to a session.
pub(super) async fn write(writer: &mut Writer, framed: &[u8]) -> io::Result<()> {
    writer.write_all(framed).await?;
    writer.flush().await
}
