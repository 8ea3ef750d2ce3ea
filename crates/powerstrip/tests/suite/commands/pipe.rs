use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{sleep, timeout};

/// A `powerstrip stdio` process and its pipes.
pub(crate) struct Pipe {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl Pipe {
    pub(crate) fn start(folder: &Path, more: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_powerstrip"))
            .arg("stdio")
            .args(more)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout, next: 0 }
    }

    pub(crate) async fn send(&mut self, text: &str) {
        self.stdin.as_mut().unwrap().write_all(text.as_bytes()).await.unwrap();
    }

    /// Sends a request and returns its id.
    pub(crate) async fn ask(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.send(&format!("{request}\n")).await;
        self.next
    }

    pub(crate) async fn read(&mut self) -> Value {
        let mut line = String::new();
        let read = timeout(Duration::from_secs(30), self.stdout.read_line(&mut line)).await;
        assert_ne!(read.expect("it answers in time").unwrap(), 0, "it ended before it answered");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"))
    }

    /// The answer to a request; earlier messages are skipped.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.read().await;
            if message["id"] == json!(id) && message.get("method").is_none() {
                return message;
            }
        }
    }

    pub(crate) async fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params).await;
        self.answer(id).await
    }

    /// The handshake of a legacy client.
    pub(crate) async fn initialize(&mut self) -> Value {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "pipe", "version": "0"}});
        let answer = self.request("initialize", &params).await;
        self.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n").await;
        answer
    }

    pub(crate) async fn echo(&mut self, message: &str) -> Value {
        self.request("tools/call", &json!({"name": "demo.echo", "arguments": {"message": message}}))
            .await
    }

    /// Repeats a request while the answer says to retry.
    pub(crate) async fn echo_eventually(&mut self, message: &str) -> Value {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let answer = self.echo(message).await;
            let Some(error) = answer.get("error") else { return answer };
            assert_eq!(error["data"]["retryable"], true, "{answer}");
            assert!(Instant::now() < deadline, "never answered: {answer}");
            sleep(Duration::from_millis(25)).await;
        }
    }

    /// Closes standard input, reads the remaining output and returns the exit code.
    pub(crate) async fn close(mut self) -> (Option<i32>, String) {
        drop(self.stdin.take());
        let mut rest = String::new();
        timeout(Duration::from_secs(30), self.stdout.read_to_string(&mut rest))
            .await
            .expect("it ends")
            .unwrap();
        (self.child.wait().await.unwrap().code(), rest)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// Asks the process to end.
    pub(crate) fn terminate(&self) {
        let pid = rustix::process::Pid::from_raw(self.pid().cast_signed()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    }

    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }
}
