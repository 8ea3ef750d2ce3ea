//! Document servers behind a gateway, one over stdio and one over HTTP, and documents for them.

use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::{
    Gateway, ServerProcess, eventually, mcp_call, mcp_request, mcp_tools, noise, sibling_program,
};
use tokio::process::Command;

/// Limits that allow large documents.
const LIMITS: [&str; 4] = ["--max-body-bytes", "67108864", "--max-output-bytes", "67108864"];

/// The log level of all our crates.
const LOG: &str =
    "info,powerstrip=trace,strip=trace,upstream=trace,doors=trace,egress=trace,store=trace";

fn program() -> PathBuf {
    sibling_program("powerstrip-documents")
}

/// Starts the documents server over HTTP.
pub(crate) async fn documents_server() -> ServerProcess {
    let mut command = Command::new(program());
    ServerProcess::start(command.args(["--listen", "127.0.0.1:0"]).args(LIMITS)).await
}

/// A gateway with the server `near`, over stdio, and the server `far`, over HTTP.
pub(crate) struct Setup {
    pub(crate) gateway: Gateway,
    _far: ServerProcess,
}

impl Setup {
    pub(crate) async fn open() -> Self {
        Self::with("", "").await
    }

    /// With further keys in the config and in each server's entry.
    pub(crate) async fn with(config: &str, entry: &str) -> Self {
        let far = documents_server().await;
        let servers = format!(
            "servers:\n  near:\n    command: '{}'\n    args: {}\n{entry}  far:\n    url: '{}'\n{entry}",
            program().display(),
            json!(LIMITS),
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

    /// Calls a tool; returns the envelope.
    pub(crate) async fn call(&self, tool: &str, input: Value) -> Value {
        self.gateway.call(tool, &input).await.body
    }

    /// Calls a tool that must succeed; returns its data.
    pub(crate) async fn data(&self, tool: &str, input: Value) -> Value {
        let mut answer = self.call(tool, input).await;
        assert_eq!(answer["ok"], true, "{tool}: {answer}");
        answer["data"].take()
    }

    /// Calls a tool that must fail; returns the code and the message.
    pub(crate) async fn refusal(&self, tool: &str, input: Value) -> (String, String) {
        let answer = self.call(tool, input).await;
        assert_eq!(answer["ok"], false, "{tool}: {answer}");
        let text = |key: &str| answer["errors"][0][key].as_str().unwrap_or_default().to_owned();
        (text("code"), text("message"))
    }

    /// Stores a file; returns its id.
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

    /// Sends an MCP request; returns the whole body as text, notifications included.
    pub(crate) async fn mcp_text(&self, method: &str, params: Value) -> String {
        let post = reqwest::Client::new().post(self.gateway.url("/mcp"));
        mcp_request(post, method, params).send().await.unwrap().text().await.unwrap()
    }

    /// Sends an MCP request; returns the answer.
    pub(crate) async fn mcp(&self, method: &str, params: Value) -> Value {
        testkit::mcp(&self.gateway.url("/mcp"), method, params).await
    }

    /// Calls a tool by MCP; returns its result.
    pub(crate) async fn result(&self, tool: &str, input: Value) -> Value {
        mcp_call(&self.gateway.url("/mcp"), tool, input).await
    }

    /// Calls a tool by MCP; returns its result.
    pub(crate) async fn result_owned(&self, tool: String, input: Value) -> Value {
        self.result(&tool, input).await
    }

    /// A tool as models see it in the list.
    pub(crate) async fn listed(&self, name: &str) -> Value {
        let tools = mcp_tools(&self.gateway.url("/mcp")).await;
        let tool = tools.into_iter().find(|tool| tool["name"] == name);
        tool.unwrap_or_else(|| panic!("{name} is not listed"))
    }
}

/// The digest that the documents server returns for bytes (64-bit FNV-1a).
pub(crate) fn digest(bytes: &[u8]) -> String {
    let digest = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| {
        (digest ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{digest:016x}")
}

/// A PDF of two pages, with an unused picture of `padding` bytes.
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
    let mut offsets = Vec::new();
    for (number, object) in (1..).zip(&objects) {
        offsets.push(file.len());
        file.extend(format!("{number} 0 obj\n").into_bytes());
        file.extend(object);
        file.extend_from_slice(b"\nendobj\n");
    }
    let start = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).into_bytes());
    for offset in offsets {
        file.extend(format!("{offset:010} 00000 n \n").into_bytes());
    }
    let trailer = format!(
        "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1
    );
    file.extend(trailer.into_bytes());
    file
}

/// `size` bytes after the header of a PNG picture.
pub(crate) fn picture(size: usize) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0".to_vec();
    bytes.extend(noise(size));
    bytes
}
