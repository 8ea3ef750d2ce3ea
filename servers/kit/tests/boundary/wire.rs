//! A server on a free port, and an HTTP client small enough to send any header.

use std::net::SocketAddr;
use std::time::Duration;

use kit::Server;
use kit::http::Door;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Longer than anything a test waits for.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    ended: JoinHandle<std::io::Result<()>>,
}

pub(crate) fn door() -> Door {
    Door {
        allow_hosts: vec![],
        allow_origins: vec![],
        body_bytes: 64 << 10,
        drain: Duration::from_secs(10),
        request_times: Default::default(),
        programs: Default::default(),
    }
}

pub(crate) async fn start(server: Server) -> Running {
    start_at(server, door()).await
}

pub(crate) async fn start_at(server: Server, door: Door) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let serving = kit::http::serve(server.build().unwrap(), listener, door, async move {
        let _ = stopped.await;
    });
    Running { address, stop: Some(stop), ended: tokio::spawn(serving) }
}

impl Running {
    pub(crate) fn tell_to_stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    pub(crate) async fn ended(self) {
        tokio::time::timeout(TIMEOUT, self.ended).await.expect("the server ends").unwrap().unwrap();
    }

    /// One request of the stateless revision; the answer's JSON-RPC message.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Value {
        let reply = exchange(self.address, &modern(method, params)).await;
        reply.message()
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        answer.get("result").unwrap_or_else(|| panic!("no result in {answer}")).clone()
    }
}

pub(crate) struct Post {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// A request as 2026-07-28 wants it.
pub(crate) fn modern(method: &str, mut params: Value) -> Post {
    let mut headers = vec![
        ("MCP-Protocol-Version".to_owned(), "2026-07-28".to_owned()),
        ("Mcp-Method".to_owned(), method.to_owned()),
    ];
    if let Some(name) = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str) {
        headers.push(("Mcp-Name".to_owned(), name.to_owned()));
    }
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    if let Some(own) = params.get("_meta").and_then(Value::as_object) {
        meta.as_object_mut().unwrap().extend(own.clone());
    }
    params["_meta"] = meta;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    Post { headers, body }
}

impl Post {
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn bytes(&self, address: SocketAddr) -> String {
        let mut head = String::from("POST /mcp HTTP/1.1\r\n");
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head.push_str(&format!("Host: {address}\r\n"));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n",
        );
        head.push_str(&format!(
            "Connection: close\r\nContent-Length: {}\r\n\r\n{}",
            self.body.len(),
            self.body
        ));
        head
    }
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let mut pairs = self.head.lines().filter_map(|line| line.split_once(": "));
        pairs.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    }

    /// Every JSON-RPC message, whether the body is JSON or a stream of events.
    pub(crate) fn messages(&self) -> Vec<Value> {
        if let Ok(whole) = serde_json::from_str(&self.body) {
            return vec![whole];
        }
        self.body
            .lines()
            .filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?.trim()).ok())
            .collect()
    }

    /// The answer, which comes last.
    pub(crate) fn message(&self) -> Value {
        self.messages().pop().unwrap_or_else(|| panic!("no message in {self:?}"))
    }
}

/// Opens a connection and sends the request.
pub(crate) async fn send(address: SocketAddr, post: &Post) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // A server that refuses a body may answer and hang up before all of it is sent.
    let _ = stream.write_all(post.bytes(address).as_bytes()).await;
    stream
}

pub(crate) async fn exchange(address: SocketAddr, post: &Post) -> Reply {
    receive(send(address, post).await).await
}

pub(crate) async fn get(address: SocketAddr, path: &str) -> Reply {
    without_body(address, &format!("GET {path} HTTP/1.1\r\n")).await
}

pub(crate) async fn end_session(address: SocketAddr, id: &str) -> Reply {
    without_body(address, &format!("DELETE /mcp HTTP/1.1\r\nMcp-Session-Id: {id}\r\n")).await
}

async fn without_body(address: SocketAddr, head: &str) -> Reply {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("{head}Host: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    receive(stream).await
}

/// Reads until the server closes.
pub(crate) async fn receive(mut stream: TcpStream) -> Reply {
    let mut bytes = Vec::new();
    // A server that refuses a body may reset the connection after its answer.
    let _ = tokio::time::timeout(TIMEOUT, stream.read_to_end(&mut bytes))
        .await
        .expect("the server answers");
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) =
        text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no HTTP answer: {text:?}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if chunked { unchunk(body) } else { body.to_owned() };
    Reply { status, head: head.to_owned(), body }
}

fn unchunk(mut rest: &str) -> String {
    let mut whole = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 || after.len() < size {
            break;
        }
        whole.push_str(&after[..size]);
        rest = after[size..].strip_prefix("\r\n").unwrap_or("");
    }
    whole
}
