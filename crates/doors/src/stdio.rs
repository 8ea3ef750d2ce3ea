//! The door for local processes: a pipe or a socket. The first bytes decide between MCP and LSP framing.

mod transport;

use std::io::{self, Cursor};
use std::sync::Arc;

use operations::Table;
use proto::Principal;
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use strip::Strip;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::lsp;
use crate::mcp::{Handler, Identity, McpState, RawLists};
use transport::Pipes;

/// How much white space may precede the first message.
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

/// The door for local processes, each of which is the local user.
#[derive(Clone)]
pub struct LocalDoor {
    state: Arc<McpState>,
    principal: Arc<Principal>,
    operations: Arc<Table>,
    /// Whether sessions may run the operations of the operator as well.
    operator: bool,
    shutdown: CancellationToken,
}

impl LocalDoor {
    /// Opens the door. When `shutdown` is cancelled, sessions end with their calls; [`Self::calls_end`] waits for these.
    pub fn new(strip: Arc<Strip>, principal: Arc<Principal>, shutdown: CancellationToken) -> Self {
        let state = Arc::new(McpState::new(strip, shutdown.clone()));
        Self { state, principal, operations: Arc::default(), operator: false, shutdown }
    }

    /// Waits until no tool call of an MCP session is under way.
    pub async fn calls_end(&self) {
        self.state.calls_end().await;
    }

    /// Lets sessions of the local user run operations.
    pub fn with_operations(mut self, table: Arc<Table>) -> Self {
        self.operations = table;
        self
    }

    /// The same door for the operator's commands. No agent's messages may be relayed to it.
    pub fn for_operator(mut self) -> Self {
        self.operator = true;
        self
    }

    /// The same door for an agent, if that agent exists and this is not the door of another.
    pub fn as_agent(&self, agent: &str) -> Option<Self> {
        self.state.strip().agents().agents.get(agent)?;
        let principal = auth::as_agent(&self.principal, agent)?;
        // Agents run no operations.
        Some(Self { principal, operations: Arc::default(), operator: false, ..self.clone() })
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
                let caller = Arc::clone(&self.principal);
                let operations = Arc::clone(&self.operations);
                let strip = Arc::clone(self.state.strip());
                let methods = lsp::Methods::new(strip, caller, operations, self.operator);
                lsp::serve(methods, read, write, &self.shutdown).await
            }
        }
    }

    async fn serve_mcp<R, W>(&self, read: R, write: W) -> io::Result<()>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let handler =
            Handler::new(Arc::clone(&self.state), Identity::Fixed(Arc::clone(&self.principal)));
        let handler = RawLists(handler);
        let running =
            handler.serve_with_ct(Pipes::new(read, write), self.shutdown.child_token()).await;
        match running {
            Ok(running) => {
                running.waiting().await.map_err(io::Error::other)?;
                Ok(())
            }
            // A client may disconnect before it has initialized.
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

/// Reads until the framing is known; `None` if the other side closed without sending anything.
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
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "the name of the agent has no end",
                    ));
                }
                None => continue,
            }
        }
        let significant = first.iter().find(|byte| !byte.is_ascii_whitespace());
        match significant {
            // The name of a header: no JSON message begins with a letter.
            Some(byte) if byte.is_ascii_alphabetic() => {
                return Ok(Some(Opening { agent, framing: Framing::Headers, first }));
            }
            Some(_) => return Ok(Some(Opening { agent, framing: Framing::Lines, first })),
            None if first.len() > MAX_LEADING_BYTES => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "the session begins with too much white space",
                ));
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
    async fn the_first_bytes_decide_the_framing() {
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
        let opening = sniff(&mut read).await.expect("sniffing").expect("an opening");
        assert_eq!(opening.agent.as_deref(), Some("analyst"));
        assert_eq!((opening.framing, &*opening.first), (Framing::Lines, &b"{\"jsonrpc\""[..]));
        let mut read = &b"@analyst\n@writer\n{"[..];
        let opening = sniff(&mut read).await.expect("sniffing").expect("an opening");
        assert_eq!(opening.agent.as_deref(), Some("analyst"));
        assert_eq!(opening.first[0], b'@', "no message begins with this, so the session fails");
        assert!(sniff(&mut tokio::io::repeat(b'@')).await.is_err());
    }

    #[tokio::test]
    async fn endless_white_space_is_refused() {
        let mut read = tokio::io::repeat(b' ');
        assert!(sniff(&mut read).await.is_err());
    }
}
