//! The same call through each door, so that answers can be compared.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::{Gateway, mcp, powerstrip_binary};

/// The five doors of a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    McpHttp,
    McpStdio,
    Http,
    Lsp,
    Cli,
}

impl Door {
    /// Every door.
    pub const ALL: [Door; 5] = [Door::McpHttp, Door::McpStdio, Door::Http, Door::Lsp, Door::Cli];

    /// Calls a tool through this door; answers `{ok, data, code}` whatever the door's own shape is.
    pub async fn call(self, gateway: &Gateway, tool: &str, input: &Value) -> Value {
        match self {
            Door::Http => facts(&gateway.call(tool, input).await.body),
            Door::Lsp => {
                let mut session = StdioSession::start(gateway);
                let params = json!({"tool": tool, "input": input});
                facts(&session.lsp("mcp.tool.invoke", &params).await["result"])
            }
            Door::Cli => facts(&cli(gateway, tool, input).await),
            Door::McpStdio => {
                let mut session = StdioSession::start(gateway);
                session.mcp_initialize().await;
                let params = json!({"name": tool, "arguments": input});
                mcp_facts(&session.mcp("tools/call", &params).await)
            }
            Door::McpHttp => mcp_facts(&mcp_http(gateway, tool, input).await),
        }
    }
}

fn facts(envelope: &Value) -> Value {
    json!({"ok": envelope["ok"], "data": envelope["data"], "code": envelope["errors"][0]["code"]})
}

/// An MCP answer in the envelope's terms.
fn mcp_facts(message: &Value) -> Value {
    let result = &message["result"];
    if result["isError"] == json!(true) {
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let code = text.split([':', ' ', '\n']).next().unwrap_or_default();
        return json!({"ok": false, "data": null, "code": code});
    }
    if message.get("error").is_some() {
        return json!({"ok": false, "data": null, "code": message["error"]["code"]});
    }
    json!({"ok": true, "data": result["structuredContent"], "code": null})
}

async fn mcp_http(gateway: &Gateway, tool: &str, input: &Value) -> Value {
    mcp(&gateway.url("/mcp"), "tools/call", json!({"name": tool, "arguments": input})).await
}

async fn cli(gateway: &Gateway, tool: &str, input: &Value) -> Value {
    gateway.run(&["call", tool, "--json", "--input", &input.to_string()]).await.json()
}

/// A `powerstrip stdio` process that is a client of a running gateway.
pub struct StdioSession {
    _child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next_id: u64,
}

impl StdioSession {
    /// Starts the process in the gateway's folder.
    pub fn start(gateway: &Gateway) -> Self {
        Self::start_with(gateway, &[])
    }

    /// Starts the process in the gateway's folder with further arguments.
    pub fn start_with(gateway: &Gateway, arguments: &[&str]) -> Self {
        let mut child = Command::new(powerstrip_binary())
            .args(["stdio", "--config", "powerstrip.yaml"])
            .args(arguments)
            .current_dir(gateway.folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("the command runs");
        let stdin = child.stdin.take().expect("stdin is piped");
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        Self { _child: child, stdin, stdout, next_id: 0 }
    }

    fn request(&mut self, method: &str, params: &Value) -> String {
        self.next_id += 1;
        json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params})
            .to_string()
    }

    /// One LSP-framed request and its answer.
    pub async fn lsp(&mut self, method: &str, params: &Value) -> Value {
        let request = self.request(method, params);
        let frame = format!("Content-Length: {}\r\n\r\n{request}", request.len());
        self.stdin.write_all(frame.as_bytes()).await.expect("the process reads");
        let mut length = 0;
        loop {
            let mut header = String::new();
            let read = self.stdout.read_line(&mut header).await.expect("the process answers");
            assert_ne!(read, 0, "the process ended before it answered");
            match header.trim_end().split_once(": ") {
                Some(("Content-Length", value)) => length = value.parse().expect("a length"),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.stdout.read_exact(&mut body).await.expect("a whole frame");
        serde_json::from_slice(&body).expect("JSON")
    }

    /// The handshake of a legacy MCP client.
    pub async fn mcp_initialize(&mut self) -> Value {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "testkit", "version": "0"}});
        let answer = self.mcp("initialize", &params).await;
        let notification = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.write_line(&notification.to_string()).await;
        answer
    }

    /// One newline-framed MCP request and its answer; notifications in between are skipped.
    pub async fn mcp(&mut self, method: &str, params: &Value) -> Value {
        let request = self.request(method, params);
        self.write_line(&request).await;
        loop {
            let mut line = String::new();
            let read = self.stdout.read_line(&mut line).await.expect("the process answers");
            assert_ne!(read, 0, "the process ended before it answered");
            let message: Value = serde_json::from_str(&line).expect("one JSON message a line");
            if message["id"] == json!(self.next_id) {
                return message;
            }
        }
    }

    /// The next notification.
    pub async fn mcp_notification(&mut self) -> Value {
        loop {
            let mut line = String::new();
            let read = self.stdout.read_line(&mut line).await.expect("stdout can be read");
            assert_ne!(read, 0, "the process ended before it sent a notification");
            let message: Value = serde_json::from_str(&line).expect("one JSON message a line");
            if message.get("id").is_none() {
                return message;
            }
        }
    }

    async fn write_line(&mut self, text: &str) {
        let line = format!("{text}\n");
        self.stdin.write_all(line.as_bytes()).await.expect("the process reads");
    }
}
