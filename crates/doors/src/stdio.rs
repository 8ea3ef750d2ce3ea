//! Doors that only a local process can reach: a pipe or a socket on which MCP and LSP framing are told apart by the
//! first bytes.

use std::io::{self, Cursor};
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use proto::Principal;
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use serde_json::Value;
use strip::{Failure, Strip};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::lsp;
use crate::mcp::{Caller, Core, Handler};

/// White space before the first message that is still taken for white space.
const MAX_LEADING_BYTES: usize = 4 * 1024;

/// How the other side frames its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    /// MCP: one JSON message per line.
    Lines,
    /// LSP: `Content-Length` headers before each message.
    Headers,
}

/// How a session begins.
struct Opening {
    agent: Option<String>,
    framing: Framing,
    first: Vec<u8>,
}

/// Tells how the servers behind the strip are, as a list; doors pass it on without knowing what it says.
pub type ServersReport = Arc<dyn Fn() -> Value + Send + Sync>;

/// Answers what only the operator's own commands may ask. A door that was given none has no such methods, and neither
/// has the door that agents' pipes lead to.
#[async_trait]
pub trait Operator: Send + Sync + 'static {
    /// Answers a method, or says why not; nothing if there is no such method.
    async fn ask(&self, method: &str, params: Value) -> Option<Result<Value, String>>;
}

/// Gives somebody the link by which they log in to a server, by its name; none if that is not needed.
pub type LoginDesk = Arc<
    dyn Fn(String, Arc<Principal>) -> BoxFuture<'static, Result<Option<String>, Failure>>
        + Send
        + Sync,
>;

/// A door for local processes; each of them is the local user.
#[derive(Clone)]
pub struct LocalDoor {
    core: Arc<Core>,
    principal: Arc<Principal>,
    servers: Option<ServersReport>,
    operator: Option<Arc<dyn Operator>>,
    logins: Option<LoginDesk>,
    shutdown: CancellationToken,
}

impl LocalDoor {
    /// Opens the door; sessions end, their calls under way finished, when `shutdown` is cancelled.
    pub fn new(strip: Arc<Strip>, principal: Arc<Principal>, shutdown: CancellationToken) -> Self {
        let core = Arc::new(Core::new(strip, shutdown.clone()));
        Self { core, principal, servers: None, operator: None, logins: None, shutdown }
    }

    /// Lets sessions ask how the servers behind the strip are.
    pub fn reporting_servers(mut self, report: ServersReport) -> Self {
        self.servers = Some(report);
        self
    }

    /// The same door for the operator's commands. It must be where no agent's messages are relayed to.
    pub fn operated(mut self, operator: Arc<dyn Operator>) -> Self {
        self.operator = Some(operator);
        self
    }

    /// Lets sessions ask for the link of a login.
    pub fn logging_in(mut self, desk: LoginDesk) -> Self {
        self.logins = Some(desk);
        self
    }

    /// The same door for an agent, if there is such an agent and this is not the door of another.
    pub fn as_agent(&self, agent: &str) -> Option<Self> {
        self.core.strip().agents().agents.get(agent)?;
        let principal = auth::as_agent(&self.principal, agent)?;
        // What is the operator's own is no agent's.
        Some(Self { principal, operator: None, logins: None, servers: None, ..self.clone() })
    }

    /// Serves one session until the other side closes it. A first line `@NAME` makes it the session of an agent.
    pub async fn serve<R, W>(&self, mut read: R, write: W) -> io::Result<()>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let sniffed = tokio::select! {
            sniffed = sniff(&mut read) => sniffed?,
            () = self.shutdown.cancelled() => return Ok(()),
        };
        let Some(Opening { agent, framing, first }) = sniffed else {
            return Ok(());
        };
        if let Some(agent) = agent {
            let no_such = || io::Error::new(io::ErrorKind::NotFound, format!("no agent `{agent}`"));
            let door = self.as_agent(&agent).ok_or_else(no_such)?;
            return door.converse(framing, first, read, write).await;
        }
        self.converse(framing, first, read, write).await
    }

    async fn converse<R, W>(
        &self,
        framing: Framing,
        first: Vec<u8>,
        read: R,
        write: W,
    ) -> io::Result<()>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let read = Cursor::new(first).chain(read);
        match framing {
            // A last line without its newline is still a message.
            Framing::Lines => self.serve_mcp(read.chain(Cursor::new(b"\n")), write).await,
            Framing::Headers => {
                let desk =
                    lsp::Desk::new(Arc::clone(self.core.strip()), Arc::clone(&self.principal))
                        .reporting_servers(self.servers.clone())
                        .operated(self.operator.clone())
                        .logging_in(self.logins.clone());
                lsp::serve(desk, read, write, &self.shutdown).await
            }
        }
    }

    async fn serve_mcp<R, W>(&self, read: R, write: W) -> io::Result<()>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let handler =
            Handler::new(Arc::clone(&self.core), Caller::Fixed(Arc::clone(&self.principal)));
        let running = handler.serve_with_ct((read, write), self.shutdown.child_token()).await;
        match running {
            Ok(running) => {
                running.waiting().await.map_err(io::Error::other)?;
                Ok(())
            }
            // Leaving before saying hello is no fault.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
                Ok(())
            }
            Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error.to_string())),
        }
    }
}

/// Serves one session on a pair of pipes until the other side closes it.
pub async fn serve_session<R, W>(
    strip: Arc<Strip>,
    principal: Arc<Principal>,
    read: R,
    write: W,
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    LocalDoor::new(strip, principal, CancellationToken::new()).serve(read, write).await
}

/// Reads until the framing is clear; nothing if the other side closed before saying anything.
async fn sniff(read: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Opening>> {
    let mut first = Vec::with_capacity(1024);
    let mut agent = None;
    loop {
        if read.read_buf(&mut first).await? == 0 {
            return Ok(None);
        }
        if agent.is_none() && first.first() == Some(&b'@') {
            match first.iter().position(|byte| *byte == b'\n') {
                Some(end) => {
                    agent = Some(String::from_utf8_lossy(&first[1..end]).trim().to_owned());
                    first.drain(..=end);
                }
                None if first.len() > MAX_LEADING_BYTES => {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "an endless name"));
                }
                None => continue,
            }
        }
        let telling = first.iter().find(|byte| !byte.is_ascii_whitespace());
        match telling {
            // A header's name; no JSON message begins with a letter.
            Some(byte) if byte.is_ascii_alphabetic() => {
                return Ok(Some(Opening { agent, framing: Framing::Headers, first }));
            }
            Some(_) => return Ok(Some(Opening { agent, framing: Framing::Lines, first })),
            None if first.len() > MAX_LEADING_BYTES => {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "nothing but white space"));
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn framing(bytes: &'static [u8]) -> Option<Framing> {
        sniff(&mut &bytes[..]).await.expect("sniffing").map(|opening| opening.framing)
    }

    #[tokio::test]
    async fn framings_are_told_apart_by_their_first_bytes() {
        assert_eq!(framing(b"{\"jsonrpc\"").await, Some(Framing::Lines));
        assert_eq!(framing(b"\r\n  {").await, Some(Framing::Lines));
        assert_eq!(framing(b"\xEF\xBB\xBF{").await, Some(Framing::Lines));
        assert_eq!(framing(b"[").await, Some(Framing::Lines));
        assert_eq!(framing(b"Content-Length: 2\r\n").await, Some(Framing::Headers));
        assert_eq!(framing(b"content-length").await, Some(Framing::Headers));
        assert_eq!(framing(b"").await, None);
        assert_eq!(framing(b" \n").await, None);
    }

    #[tokio::test]
    async fn an_agent_may_be_named_first_and_once() {
        let mut read = &b"@analyst\n{\"jsonrpc\""[..];
        let opening = sniff(&mut read).await.expect("sniffing").expect("something was said");
        assert_eq!(opening.agent.as_deref(), Some("analyst"));
        assert_eq!((opening.framing, &*opening.first), (Framing::Lines, &b"{\"jsonrpc\""[..]));
        let mut read = &b"@analyst\n@writer\n{"[..];
        let opening = sniff(&mut read).await.expect("sniffing").expect("something was said");
        assert_eq!(opening.agent.as_deref(), Some("analyst"));
        assert_eq!(opening.first[0], b'@', "no message begins like this: the session fails");
        assert!(sniff(&mut tokio::io::repeat(b'@')).await.is_err());
    }

    #[tokio::test]
    async fn endless_white_space_is_refused() {
        let mut read = tokio::io::repeat(b' ');
        assert!(sniff(&mut read).await.is_err());
    }
}
