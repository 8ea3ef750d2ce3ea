//! A client of the server over stdin and stdout.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// One process for several calls, without LibreOffice.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    pub(crate) fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_media-transform-mcp"))
            .args(["--stdio", "--keep", "off", "--libreoffice", "/nonexistent"])
            .env_remove("POWERSTRIP_GATEWAY")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout, next: 0 }
    }

    fn request(&mut self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        self.next += 1;
        let message =
            json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
        stdin.flush().unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let mut answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], json!(self.next), "{answer}");
        answer["result"].take()
    }

    fn result(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// The structured answer of a call that succeeds.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut result = self.result(tool, arguments);
        assert!(!result["isError"].as_bool().unwrap_or(false), "{result}");
        if let Some(ref_id) = result["structuredContent"]["ref_id"].as_str() {
            let link = result["content"].as_array().unwrap().last().unwrap();
            assert!(link["uri"].as_str().unwrap().contains(ref_id), "{link}");
        }
        result["structuredContent"].take()
    }

    /// The text and the details of a call that fails.
    pub(crate) fn refuse(&mut self, tool: &str, arguments: Value) -> (String, Value) {
        let mut result = self.result(tool, arguments);
        assert_eq!(result["isError"], json!(true), "{result}");
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        (text, result["_meta"]["powerstrip/fault"].take())
    }

    /// The bytes of a stored file.
    pub(crate) fn bytes(&mut self, answer: &Value) -> Vec<u8> {
        let (ref_id, name) = (answer["ref_id"].as_str().unwrap(), answer["name"].as_str().unwrap());
        let uri = format!("kept://media-transform-mcp/{ref_id}/{name}");
        let read = self.request("resources/read", json!({"uri": uri}));
        STANDARD.decode(read["contents"][0]["blob"].as_str().unwrap()).unwrap()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The end of stdin ends the server.
        drop(self.stdin.take());
        let ended = self.child.wait().unwrap();
        assert!(ended.success() || std::thread::panicking(), "{ended}");
    }
}

pub(crate) fn file(bytes: &[u8], media_type: &str) -> Value {
    json!({"file_data": STANDARD.encode(bytes), "file_type": media_type})
}

pub(crate) fn with(mut arguments: Value, more: Value) -> Value {
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    arguments
}
