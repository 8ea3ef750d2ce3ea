//! Long texts are redacted in confined processes, so that the memory of the server does not grow with them.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests play the client")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Server {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_audit-compliance-mcp"))
            .args(["--stdio", "--keep", "off"])
            .env_remove("POWERSTRIP_GATEWAY")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    fn redact(&mut self, arguments: &Value) -> Value {
        let message = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {
                "name": "redact", "arguments": arguments,
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        });
        writeln!(self.stdin, "{message}").unwrap();
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the server ended");
            let mut answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == json!(1) {
                let mut result = answer["result"].take();
                assert_ne!(result["isError"], json!(true), "{result}");
                return result["structuredContent"].take();
            }
        }
    }

    /// The most memory that the server has had, in MB.
    fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
        kilobytes / 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // May fail: the server has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A text of many different values, of so many bytes.
fn text_of(bytes: usize) -> String {
    let line = |number: usize| {
        format!("Anna Weber of Leeds (user{number}@lumen.com) paid 20 euros for order {number}.\n")
    };
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&line(number));
    }
    text
}

#[test]
fn the_memory_of_the_server_does_not_grow_with_redacted_texts() {
    let mut server = Server::start();
    let arguments =
        |bytes| json!({"text": text_of(bytes), "types": ["EMAIL_ADDRESS"], "mode": "label"});
    // A short text is redacted in the server, which has the lists of names in memory from then on.
    server.redact(&arguments(10_000));
    let before = server.peak();
    for _ in 0..2 {
        let done = server.redact(&arguments(600_000));
        let content = done["content"].as_str().unwrap();
        assert!(content.contains("([EMAIL_ADDRESS]) paid") && !content.contains("lumen"));
        assert_eq!(done["verified"], json!(true));
    }
    let grown = server.peak() - before;
    assert!(grown < 24, "{grown} MB for texts of 600 kB");
}

#[test]
fn spans_of_a_long_text_are_redacted() {
    let text = format!("ähm {}", text_of(100_000));
    let start = text.find("user7@").unwrap() - "ä".len() + 1;
    let spans = json!([{"start": start, "end": start + 5, "type": "PERSON"}]);
    let done = Server::start().redact(&json!({"text": text, "spans": spans, "mode": "pseudonym"}));
    assert!(done["content"].as_str().unwrap().contains("(PERSON_1@lumen.com)"));
}
