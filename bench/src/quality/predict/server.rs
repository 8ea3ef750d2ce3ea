//! A capability server over stdio.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

/// Clock ticks of `/proc/PID/stat` per second, on all platforms that Linux runs on today.
const TICKS: f64 = 100.0;

/// One call of a tool.
pub(super) struct Call {
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
}

/// A running server.
pub(super) struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: u64,
    pub(super) calls: usize,
    pub(super) failed: usize,
    pub(super) first_failure: Option<String>,
}

/// What a server has used.
pub(super) struct Usage {
    pub(super) cpu_seconds: f64,
    pub(super) peak_mb: u64,
}

impl Server {
    pub(super) fn start(program: &Path, flags: &[String]) -> anyhow::Result<Self> {
        let mut child = Command::new(program)
            .args(flags)
            .args(["--log", "error"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} cannot be started", program.display()))?;
        let stdin = child.stdin.take().context("the server has no stdin")?;
        let stdout = BufReader::new(child.stdout.take().context("the server has no stdout")?);
        let (next, calls, failed, first_failure) = (1, 0, 0, None);
        let mut server = Self { child, stdin, stdout, next, calls, failed, first_failure };
        let client = json!({"name": "powerstrip-bench", "version": env!("CARGO_PKG_VERSION")});
        server.request(
            "initialize",
            &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}),
        )?;
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(server)
    }

    /// The structured answer of a tool; null if the call failed.
    pub(super) fn call(&mut self, call: &Call) -> anyhow::Result<Value> {
        let params = json!({"name": call.tool, "arguments": call.arguments});
        let mut result = self.request("tools/call", &params)?;
        self.calls += 1;
        if result["isError"] == true {
            self.failed += 1;
            let why = result["content"][0]["text"].as_str().unwrap_or_default();
            self.first_failure.get_or_insert_with(|| why.to_owned());
            return Ok(Value::Null);
        }
        Ok(result["structuredContent"].take())
    }

    fn request(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            if self.stdout.read_line(&mut line)? == 0 {
                bail!("the server has ended");
            }
            let mut message: Value =
                serde_json::from_str(&line).context("the server printed no JSON")?;
            if message["id"] != id {
                continue;
            }
            if !message["error"].is_null() {
                bail!("{method} failed: {}", message["error"]);
            }
            return Ok(message["result"].take());
        }
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        writeln!(self.stdin, "{message}").context("the server does not read")?;
        self.stdin.flush().context("the server does not read")
    }

    /// What it has used so far, with the processes that it has started and that have ended. Ends it.
    pub(super) fn usage(mut self) -> anyhow::Result<Usage> {
        let folder = format!("/proc/{}", self.child.id());
        let stat = std::fs::read_to_string(format!("{folder}/stat"))?;
        // The name in parentheses may have blanks.
        let fields: Vec<_> =
            stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace().collect();
        let ticks: f64 =
            fields.iter().skip(11).take(4).flat_map(|field| field.parse::<f64>()).sum();
        let status = std::fs::read_to_string(format!("{folder}/status"))?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|peak| peak.split_ascii_whitespace().next()?.parse::<u64>().ok());
        drop(self.stdin);
        self.child.wait()?;
        Ok(Usage { cpu_seconds: ticks / TICKS, peak_mb: peak.unwrap_or_default() / 1024 })
    }
}
