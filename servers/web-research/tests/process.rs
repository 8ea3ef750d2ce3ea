//! The server as a program over stdin and stdout; how it searches and reads is tested with the gateway.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests play the client")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Sends requests to a new server without any key, which may read one private host, and returns its answers.
fn answers(allowed: &str, requests: &[(&str, Value)]) -> Vec<Value> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_web-research-mcp"))
        .arg("--stdio")
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("POWERSTRIP_RESEARCH_BROWSER", "off")
        .env("POWERSTRIP_RESEARCH_ALLOW", allowed)
        .env("SEARCH_ROUTING", "brave")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for (id, (method, params)) in requests.iter().enumerate() {
        let mut params = params.clone();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(stdin, "{request}").unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let mut answers: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    answers
}

fn call(tool: &str, arguments: Value) -> (&'static str, Value) {
    ("tools/call", json!({"name": tool, "arguments": arguments}))
}

/// Serves a page without text at the address that is returned.
fn serve_empty_page() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = BufReader::new(stream.try_clone().unwrap()).lines();
            while request.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n";
            let _ = write!(stream, "{head}content-length: 4\r\n\r\n<p/>");
        }
    });
    address
}

#[test]
fn tools_are_listed_and_called_over_stdio() {
    let step = json!({"searchStep": "Why tides?", "stepNumber": 1, "nextStepNeeded": true});
    let empty = serve_empty_page();
    let requests = [
        ("tools/list", json!({})),
        call("sequential_search", step),
        call("web_search", json!({"query": "tides"})),
        call("web_search", json!({"query": "tides", "num_results": 11})),
        call("scrape_page", json!({"url": "http://127.0.0.1:9/"})),
        call("scrape_page", json!({"url": format!("http://{empty}/")})),
    ];
    let answers = answers(&empty.to_string(), &requests);
    let tools = answers[0]["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 8, "{tools:?}");
    assert!(tools.iter().all(|tool| tool["outputSchema"]["type"] == "object"));
    assert_eq!(answers[1]["result"]["structuredContent"]["question"], "Why tides?");
    let failure = |answer: &Value, code: &str, words: &str| {
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with(code) && text.contains(words), "{text}");
    };
    failure(&answers[2], "UNSUPPORTED", "BRAVE_API_KEY");
    failure(&answers[3], "INVALID_INPUT", "/num_results");
    failure(&answers[4], "INVALID_INPUT", "127.0.0.1");
    failure(&answers[5], "UNAVAILABLE", "no readable content");
    assert_eq!(answers[5]["result"]["_meta"]["powerstrip/fault"]["retryable"], false);
}
