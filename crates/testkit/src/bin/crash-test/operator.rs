//! What the operator does, over the socket in the data folder.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(30);

/// Has a quarantined workflow continue. None if the gateway was killed meanwhile.
pub(crate) async fn release(folder: &Path, workflow: &str) -> Option<Value> {
    let params = json!({"id": workflow, "force": true, "wait_ms": 0});
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "powerstrip.workflows.continue", "params": params,
    });
    timeout(ANSWER, ask(folder, &request.to_string())).await.ok().flatten()
}

/// Sends one request in the framing of LSP, and reads its answer.
async fn ask(folder: &Path, request: &str) -> Option<Value> {
    let mut stream = UnixStream::connect(folder.join(".powerstrip/operator")).await.ok()?;
    let framed = format!("Content-Length: {}\r\n\r\n{request}", request.len());
    stream.write_all(framed.as_bytes()).await.ok()?;
    let mut stream = BufReader::new(stream);
    let mut length = None;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().ok();
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut answer: Vec<u8> = vec![0; length?];
    stream.read_exact(&mut answer).await.ok()?;
    serde_json::from_slice(&answer).ok()
}
