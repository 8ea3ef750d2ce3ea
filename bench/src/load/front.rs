//! Servers that speak MCP over HTTP, as a client of either era sees them.

use std::fmt;
use std::net::SocketAddr;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

use super::connection::{Answer, Connection};
use super::request::{MESSAGE, Request};

/// The versions that are spoken here.
const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

/// Which of the two kinds of MCP a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2026-07-28: stateless requests.
    Modern,
    /// 2025-11-25: `initialize`, then calls in a session if the server gives one.
    Legacy,
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Modern => MODERN,
            Self::Legacy => LEGACY,
        })
    }
}

/// Where a server answers MCP, and the tool that echoes.
#[derive(Clone, Debug)]
pub(crate) struct Front {
    pub(crate) address: SocketAddr,
    pub(crate) path: String,
    /// Headers in addition to those of the protocol.
    pub(crate) headers: Vec<(String, String)>,
    /// The name of the echo there.
    pub(crate) tool: String,
    /// The characters that are sent and returned in addition to the message.
    pub(crate) padding: usize,
}

impl Front {
    /// A server at the usual path.
    pub(crate) fn new(address: SocketAddr, tool: &str) -> Self {
        let (path, tool) = ("/mcp".to_owned(), tool.to_owned());
        Self { address, path, headers: Vec::new(), tool, padding: 0 }
    }

    /// A call of the echo, in a session of its own if this is the era of sessions.
    pub(crate) async fn call(
        &self,
        era: Era,
        connection: &mut Connection,
    ) -> anyhow::Result<Request> {
        let mut arguments = json!({"message": MESSAGE});
        if self.padding > 0 {
            arguments["more"] = "x".repeat(self.padding).into();
        }
        let params = json!({"name": self.tool, "arguments": arguments});
        match era {
            Era::Modern => Ok(self.modern("tools/call", params)),
            Era::Legacy => {
                let session = self.open(connection).await?;
                Ok(self.legacy(Some("tools/call"), &params, &session))
            }
        }
    }

    /// Whether the echo answers to a client of this era now.
    pub(crate) async fn echoes(&self, era: Era) -> anyhow::Result<()> {
        let mut connection = Connection::open(self.address).await?;
        let request = self.call(era, &mut connection).await?;
        let answer = connection.ask(request.bytes()).await?;
        ensure!(
            answer.status == 200 && request.echo_in(answer.body, 0).is_some(),
            "there is no echo: {answer}"
        );
        Ok(())
    }

    /// A request of 2026-07-28, with the headers that it must carry.
    pub(crate) fn modern(&self, method: &str, mut params: Value) -> Request {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut headers = vec![("mcp-protocol-version", MODERN), ("mcp-method", method)];
        if let Some(name) = body["params"]["name"].as_str() {
            headers.push(("mcp-name", name));
        }
        self.post(&headers, &body)
    }

    /// A request of a session, or its first notification.
    fn legacy(&self, method: Option<&str>, params: &Value, session: &Session) -> Request {
        let body = match method {
            Some(method) => {
                json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            }
            None => json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        };
        let mut headers = vec![("mcp-protocol-version", session.version.as_str())];
        if let Some(id) = &session.id {
            headers.push(("mcp-session-id", id));
        }
        self.post(&headers, &body)
    }

    fn post(&self, headers: &[(&str, &str)], body: &Value) -> Request {
        let own = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let all: Vec<_> = headers.iter().copied().chain(own).collect();
        Request::post(self.address, &self.path, &all, body)
    }

    /// Opens a session as the era asks for it.
    async fn open(&self, connection: &mut Connection) -> anyhow::Result<Session> {
        let greeting = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": LEGACY,
            "capabilities": {},
            "clientInfo": {"name": "powerstrip-bench", "version": env!("CARGO_PKG_VERSION")},
        }});
        let answer = connection.ask(self.post(&[], &greeting).bytes()).await?;
        let session = Session::read(&answer)?;
        let begun = self.legacy(None, &Value::Null, &session);
        let answer = connection.ask(begun.bytes()).await?;
        ensure!(answer.status < 300, "a session is not begun: {answer}");
        Ok(session)
    }
}

/// What a server said when it was greeted.
#[derive(Debug, PartialEq, Eq)]
struct Session {
    /// Servers without a state give none.
    id: Option<String>,
    version: String,
}

impl Session {
    fn read(answer: &Answer<'_>) -> anyhow::Result<Self> {
        ensure!(answer.status == 200, "no session is given: {answer}");
        let message = message(answer.body).with_context(|| format!("an odd greeting: {answer}"))?;
        let Some(version) = message["result"]["protocolVersion"].as_str() else {
            bail!("no session is given: {answer}");
        };
        let id = answer.header("mcp-session-id").map(str::to_owned);
        Ok(Self { id, version: version.to_owned() })
    }
}

/// The answer in a body, which is JSON or a stream of events with the answer in one of them.
pub(super) fn message(body: &[u8]) -> Option<Value> {
    if let Ok(message) = serde_json::from_slice(body) {
        return Some(message);
    }
    let text = std::str::from_utf8(body).ok()?;
    text.lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .filter_map(|data| serde_json::from_str::<Value>(data).ok())
        .find(|message| message.get("result").or(message.get("error")).is_some())
}
