//! Servers of papers behind a gateway, one over stdio and one over HTTP, and papers to give them.

use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{Gateway, eventually, powerstrip_binary};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};

/// Room for large papers.
const ROOM: [&str; 4] = ["--max-body-bytes", "67108864", "--max-output-bytes", "67108864"];

/// All that our own code logs.
const LOG: &str =
    "info,powerstrip=trace,strip=trace,upstream=trace,doors=trace,egress=trace,store=trace";

fn program() -> PathBuf {
    let program = powerstrip_binary().with_file_name("powerstrip-documents");
    assert!(program.is_file(), "build it first: cargo build -p fixture");
    program
}

/// A server of papers on a port of its own.
pub(crate) struct Papers {
    _child: Child,
    _stdout: BufReader<ChildStdout>,
    pub(crate) url: String,
}

impl Papers {
    pub(crate) async fn start() -> Self {
        let mut child = Command::new(program())
            .args(["--listen", "127.0.0.1:0"])
            .args(ROOM)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut url = String::new();
        stdout.read_line(&mut url).await.unwrap();
        Self { _child: child, _stdout: stdout, url: url.trim().to_owned() }
    }
}

/// A gateway with the server `near`, over stdio, and the server `far`, over HTTP.
pub(crate) struct House {
    pub(crate) gateway: Gateway,
    _far: Papers,
}

impl House {
    pub(crate) async fn open() -> Self {
        Self::with("", "").await
    }

    /// With more in the config, and more in each server's entry.
    pub(crate) async fn with(config: &str, entry: &str) -> Self {
        let far = Papers::start().await;
        let servers = format!(
            "servers:\n  near:\n    command: '{}'\n    args: {}\n{entry}  far:\n    url: '{}'\n{entry}",
            program().display(),
            json!(ROOM),
            far.url
        );
        let gateway = Gateway::with()
            .config(&servers)
            .config(config)
            .env("POWERSTRIP_LOG", LOG)
            .start()
            .await;
        for server in ["near", "far"] {
            eventually(&format!("{server} is there"), || async {
                let seen = gateway.get(&format!("/mcp/schema/{server}:stamp@1/input")).await;
                (seen.status == 200).then_some(())
            })
            .await;
        }
        Self { gateway, _far: far }
    }

    /// Calls a tool; gives the whole envelope.
    pub(crate) async fn call(&self, tool: &str, input: Value) -> Value {
        self.gateway.call(tool, &input).await.body
    }

    /// Calls a tool that must succeed; gives its data.
    pub(crate) async fn data(&self, tool: &str, input: Value) -> Value {
        let mut answer = self.call(tool, input).await;
        assert_eq!(answer["ok"], true, "{tool}: {answer}");
        answer["data"].take()
    }

    /// Calls a tool that must fail; gives the code and the message.
    pub(crate) async fn refusal(&self, tool: &str, input: Value) -> (String, String) {
        let answer = self.call(tool, input).await;
        assert_eq!(answer["ok"], false, "{tool}: {answer}");
        let text = |key: &str| answer["errors"][0][key].as_str().unwrap_or_default().to_owned();
        (text("code"), text("message"))
    }

    /// Stores a file; gives its id.
    pub(crate) async fn put(&self, name: &str, bytes: impl Into<reqwest::Body>) -> String {
        let url = self.gateway.url(&format!("/v1/files?name={name}"));
        let answer = reqwest::Client::new().post(url).body(bytes).send().await.unwrap();
        let answer: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        answer["data"]["file_id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// The bytes of a file or a reference.
    pub(crate) async fn bytes(&self, id: &str) -> Vec<u8> {
        let url = self.gateway.url(&format!("/v1/files/{id}/content"));
        let answer = reqwest::get(url).await.unwrap();
        assert_eq!(answer.status(), 200, "{id}");
        answer.bytes().await.unwrap().to_vec()
    }

    /// One request of MCP 2026-07-28, with all that comes of it as text.
    pub(crate) async fn mcp_text(&self, method: &str, name: &str, mut params: Value) -> String {
        if !params["_meta"].is_object() {
            params["_meta"] = json!({});
        }
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut request = reqwest::Client::new()
            .post(self.gateway.url("/mcp"))
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method);
        if !name.is_empty() {
            request = request.header("mcp-name", name);
        }
        request.json(&body).send().await.unwrap().text().await.unwrap()
    }

    /// The answer to one request of MCP.
    pub(crate) async fn mcp(&self, method: &str, name: &str, params: Value) -> Value {
        let text = self.mcp_text(method, name, params).await;
        let last = text.lines().filter_map(|line| line.strip_prefix("data:")).next_back();
        serde_json::from_str(last.unwrap_or(&text)).unwrap_or_else(|_| panic!("not JSON: {text}"))
    }

    /// The result of a tool, as MCP gives it.
    pub(crate) async fn result(&self, tool: &str, input: Value) -> Value {
        let params = json!({"name": tool, "arguments": input});
        self.mcp("tools/call", tool, params).await["result"].take()
    }

    /// A tool as models see it in the list.
    pub(crate) async fn listed(&self, name: &str) -> Value {
        let mut params = json!({});
        loop {
            let page = self.mcp("tools/list", "", params).await;
            let tools = page["result"]["tools"].as_array().unwrap();
            if let Some(tool) = tools.iter().find(|tool| tool["name"] == name) {
                return tool.clone();
            }
            params = json!({"cursor": page["result"]["nextCursor"]});
            assert!(params["cursor"].is_string(), "{name} is not listed");
        }
    }
}

/// What the server says of bytes that reached it.
pub(crate) fn sum(bytes: &[u8]) -> String {
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{sum:016x}")
}

/// A PDF of two pages with so many bytes of a picture that no page shows.
pub(crate) fn pdf(padding: usize) -> Vec<u8> {
    let page = |text: &str| {
        let drawn = format!("BT /F1 18 Tf 72 700 Td ({text}) Tj ET");
        format!("<< /Length {} >>\nstream\n{drawn}\nendstream", drawn.len()).into_bytes()
    };
    let leaf = |contents: usize| {
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {contents} 0 R \
             /Resources << /Font << /F1 7 0 R >> >> >>"
        )
        .into_bytes()
    };
    let mut picture = format!("<< /Length {padding} >>\nstream\n").into_bytes();
    picture.extend(noise(padding));
    picture.extend_from_slice(b"\nendstream");
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>".to_vec(),
        leaf(5),
        leaf(6),
        page("Ada Lovelace, engineer of engines"),
        page("She wrote the first programme"),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_vec(),
        picture,
    ];
    let mut file = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in (1..).zip(&objects) {
        places.push(file.len());
        file.extend(format!("{number} 0 obj\n").into_bytes());
        file.extend(object);
        file.extend_from_slice(b"\nendobj\n");
    }
    let start = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).into_bytes());
    for place in places {
        file.extend(format!("{place:010} 00000 n \n").into_bytes());
    }
    let trailer = format!(
        "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1
    );
    file.extend(trailer.into_bytes());
    file
}

/// A picture of so many bytes, as far as its beginning tells.
pub(crate) fn picture(size: usize) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0".to_vec();
    bytes.extend(noise(size));
    bytes
}

/// Bytes that no two places of a file have in common.
pub(crate) fn noise(size: usize) -> Vec<u8> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let step = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..size).map(step).collect()
}
