//! A client of the server over its stdin and stdout.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

pub(crate) struct Client {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Client {
    /// A server without a folder, which may download from `host`.
    pub(crate) fn start(host: &str, flags: &[&str]) -> Self {
        Self::spawn("off", host, flags)
    }

    /// A server that keeps its jobs in a folder.
    pub(crate) fn keeping(folder: &Path, host: &str, flags: &[&str]) -> Self {
        Self::spawn(folder.to_str().unwrap(), host, flags)
    }

    fn spawn(keep: &str, host: &str, flags: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_video-subtitle-mcp"))
            .args(["--stdio", "--keep", keep, "--allow", host])
            .args(flags)
            .env_remove("POWERSTRIP_GATEWAY")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    pub(crate) fn request(&mut self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        writeln!(self.stdin, "{message}").unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let mut answer: Value = serde_json::from_str(&line).unwrap();
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].take()
    }

    /// The whole result of a call.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// The structured answer of a call that succeeds.
    pub(crate) fn answer(&mut self, tool: &str, arguments: Value) -> Value {
        let mut result = self.call(tool, arguments);
        assert_ne!(result["isError"], json!(true), "{result}");
        result["structuredContent"].take()
    }

    /// Adds a job and returns its id.
    pub(crate) fn create(&mut self, url: &str, operation: &str, options: Value) -> String {
        let call = json!({"input_url": url, "operation": operation, "options": options});
        let created = self.answer("create_job", call);
        assert_eq!(created["state"], json!("queued"), "{created}");
        created["job_id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn status(&mut self, job_id: &str, wait_ms: u64) -> Value {
        self.answer("job_status", json!({"job_id": job_id, "wait_ms": wait_ms}))
    }

    /// Waits until a job runs this step.
    pub(crate) fn wait_for_step(&mut self, job_id: &str, step: &str) {
        loop {
            let status = self.status(job_id, 100);
            assert!(matches!(status["state"].as_str(), Some("queued" | "running")), "{status}");
            if status["step"] == json!(step) {
                return;
            }
        }
    }

    /// The result of a job that succeeds, and the URIs of its links.
    pub(crate) fn finish(&mut self, job_id: &str) -> (Value, Vec<String>) {
        let call = json!({"job_id": job_id, "wait_ms": 25_000});
        let mut result = self.call("job_status", call);
        let blocks = result["content"].as_array().into_iter().flatten();
        let uris = blocks.filter_map(|block| Some(block["uri"].as_str()?.to_owned())).collect();
        let status = &mut result["structuredContent"];
        assert_eq!(status["state"], json!("done"), "{status}");
        (status["result"].take(), uris)
    }

    /// What a link leads to.
    pub(crate) fn stored_bytes(&mut self, uri: &str) -> Vec<u8> {
        let read = self.request("resources/read", json!({"uri": uri}));
        STANDARD.decode(read["contents"][0]["blob"].as_str().unwrap()).unwrap()
    }

    /// Ends the server by a signal, such as `KILL`.
    pub(crate) fn signal(mut self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
        self.child.wait().unwrap();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
