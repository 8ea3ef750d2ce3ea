//! A large document that is passed from server to server: how much of it an agent reads, and how much the gateway holds
//! in memory.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tokio::process::Command;

use super::files::{upload, watched};
use super::report::{Report, close};
use crate::cli::ChainRun;
use crate::gateway::{Gateway, Home};
use crate::load::Connection;
use crate::process::Process;
use crate::table::{Row, Target, Unit};

/// The documents fixture, which Cargo builds into the gateway's folder.
const SERVER: &str = "powerstrip-documents";

/// How long the servers may take to list their tools.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Limits that admit the document in base64.
const ROOM: [&str; 4] = ["--max-body-bytes", "134217728", "--max-output-bytes", "134217728"];

/// Measures chains over one large document.
pub(crate) async fn measure(run: &ChainRun, binary: &Path) -> Report {
    let mut rows = Vec::new();
    let measured = chains(run, binary, &mut rows).await;
    close("chain", measured, &mut rows);
    Report { rows }
}

async fn chains(run: &ChainRun, binary: &Path, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    let (megabytes, rounds) = (20, if run.how.quick { 1 } else { 3 });
    let home = Home::new()?;
    let program = binary.with_file_name(format!("{SERVER}{}", std::env::consts::EXE_SUFFIX));
    ensure!(program.is_file(), "there is no {}: cargo build -p fixture", program.display());
    let mut servers = Vec::new();
    let mut config = "listen: 127.0.0.1:0\nservers:\n".to_owned();
    for name in ["one", "two"] {
        let mut command = Command::new(&program);
        command.args(["--listen", "127.0.0.1:0"]).args(ROOM);
        let server = Process::start(command, home.path().join(format!("{name}.log"))).await?;
        config.push_str(&format!("  {name}: {{ url: 'http://{}/mcp' }}\n", server.address));
        servers.push(server);
    }
    home.write("powerstrip.yaml", &config)?;
    let gateway = Gateway::start(binary, &home).await?;

    for name in ["one", "two"] {
        offered(&gateway, name).await?;
    }
    let mut chunk = noise(1 << 20);
    // The first bytes give its media type; every megabyte begins the same, which does not matter.
    chunk[..9].copy_from_slice(b"%PDF-1.4\n");
    // A first, short chain warms up.
    chain(&gateway, &chunk, 1).await?;
    let before = gateway.memory_at_rest().await?.own_mb;
    let (mut read, mut peak) = (0, 0.0_f64);
    for _ in 0..rounds {
        let (bytes, seen) = watched(&gateway, chain(&gateway, &chunk, megabytes)).await?;
        read = read.max(bytes?);
        peak = peak.max(seen);
    }
    let kilobytes = f64::from(u32::try_from(read)?) / 1_024.0;
    let name = format!("five hops of {megabytes} MB: what the agent reads");
    rows.push(Row::new(name, kilobytes, Unit::Kilobytes).target(Target::Below(2.0)));
    let name = format!("five hops of {megabytes} MB: memory above rest");
    rows.push(
        Row::new(name, (peak - before).max(0.0), Unit::Megabytes).target(Target::Below(64.0)).fact(
            "at rest",
            before,
            Unit::Megabytes,
        ),
    );
    gateway.stop().await?;
    for server in servers {
        server.stop().await?;
    }
    Ok(())
}

/// Waits until a server's tools are there.
async fn offered(gateway: &Gateway, server: &str) -> anyhow::Result<()> {
    let address = gateway.address();
    let request =
        format!("GET /mcp/schema/{server}:stamp@1/input HTTP/1.1\r\nhost: {address}\r\n\r\n");
    let mut connection = Connection::open(address).await?;
    let begun = Instant::now();
    while connection.ask(request.as_bytes()).await?.status != 200 {
        ensure!(begun.elapsed() < TIMEOUT, "the tools of `{server}` are not offered");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// Uploads a document and passes it through five tools of two servers; returns the bytes of answers that the agent reads.
async fn chain(gateway: &Gateway, chunk: &[u8], megabytes: usize) -> anyhow::Result<usize> {
    let (_, answer) =
        upload(gateway.address(), "POST /v1/files?name=cv.pdf", chunk, megabytes).await?;
    let answer: Value = serde_json::from_str(&answer).context("the answer is no JSON")?;
    let file = answer["data"]["file_id"].clone();
    let mut agent = Agent { connection: Connection::open(gateway.address()).await?, read: 0 };
    let parsed = agent.call("one__parse_document", json!({"file_id": file})).await?;
    let input = json!({"source_ref_id": parsed, "target_role": "Countess"});
    let tailored = agent.call("two__tailor_resume", input).await?;
    let stamped = agent.call("one__stamp_field", json!({"file_id": tailored})).await?;
    let stamped = agent.call("two__stamp_field", json!({"file_id": stamped})).await?;
    agent.call("one__stamp", json!({"file_id": stamped, "form": "blob"})).await?;
    Ok(agent.read)
}

struct Agent {
    connection: Connection,
    read: usize,
}

impl Agent {
    /// Calls a tool; returns the first reference in its answer.
    async fn call(&mut self, tool: &str, input: Value) -> anyhow::Result<String> {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}});
        let params = json!({"name": tool, "arguments": input, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let body = body.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
             mcp-method: tools/call\r\nmcp-name: {tool}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = self.connection.ask(request.as_bytes()).await?;
        let text = String::from_utf8_lossy(answer.body);
        let json = text.find('{').zip(text.rfind('}')).map(|(start, end)| &text[start..=end]);
        let message: Value = serde_json::from_str(json.unwrap_or_default())
            .with_context(|| format!("{tool} answered with no JSON: {answer}"))?;
        let result = &message["result"];
        ensure!(result.is_object() && result["isError"] != true, "{tool} failed: {message}");
        // Structured content repeats the text; a model reads one of them.
        self.read += result["content"].to_string().len();
        let text = result.to_string().replace('\\', "");
        let start = text.find("\"ref_id\":\"").context("no reference")? + 10;
        Ok(text[start..].chars().take_while(|c| *c != '"').collect())
    }
}

/// Bytes without repetition.
fn noise(size: usize) -> Vec<u8> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let step = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..size).map(step).collect()
}
