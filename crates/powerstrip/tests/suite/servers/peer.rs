//! MCP clients of both eras that receive notifications and questions while they wait.

use serde_json::{Value, json};
use testkit::{Gateway, initialize_message, legacy_request, mcp_request_with};

/// All messages of one request.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) answer: Value,
    pub(crate) before: Vec<Value>,
}

impl Received {
    /// The parameters of the notifications of one kind before the answer.
    pub(crate) fn notices<'a>(&'a self, method: &'a str) -> impl Iterator<Item = &'a Value> {
        self.before
            .iter()
            .filter(move |message| message["method"].as_str() == Some(method))
            .map(|message| &message["params"])
    }
}

/// A client of MCP 2026-07-28.
pub(crate) struct Peer {
    url: String,
    pub(crate) capabilities: Value,
}

impl Peer {
    pub(crate) fn modern(gateway: &Gateway) -> Self {
        Self { url: gateway.url("/mcp"), capabilities: json!({}) }
    }

    pub(crate) async fn call(&mut self, tool: &str, input: Value, meta: Value) -> Received {
        let params = json!({"name": tool, "arguments": input, "_meta": meta});
        self.ask("tools/call", params).await
    }

    /// Starts a call; its messages are read from the stream.
    pub(crate) async fn begin(&mut self, tool: &str, input: Value, meta: Value) -> Stream {
        let params = json!({"name": tool, "arguments": input, "_meta": meta});
        Stream::new(self.send("tools/call", params).await)
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Received {
        let response = self.send(method, params).await;
        let text = response.text().await.expect("the answer can be read");
        let mut before = messages(&text);
        let answer = before.pop().unwrap_or_else(|| panic!("no answer: {text}"));
        Received { answer, before }
    }

    /// Listens for changes.
    pub(crate) async fn listen(&mut self, filter: Value) -> Stream {
        let params = json!({"notifications": filter});
        let mut stream = Stream::new(self.send("subscriptions/listen", params).await);
        stream.next("notifications/subscriptions/acknowledged").await;
        stream
    }

    async fn send(&mut self, method: &str, params: Value) -> reqwest::Response {
        let post = reqwest::Client::new().post(&self.url);
        let request = mcp_request_with(post, method, params, self.capabilities.clone());
        request.send().await.expect("an answer")
    }
}

/// The messages of a body, which is JSON or a stream of events.
fn messages(text: &str) -> Vec<Value> {
    if let Ok(message) = serde_json::from_str(text) {
        return vec![message];
    }
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect()
}

/// A stream of messages.
pub(crate) struct Stream {
    response: reqwest::Response,
    text: String,
    read: usize,
}

impl Stream {
    fn new(response: reqwest::Response) -> Self {
        assert!(response.status().is_success(), "{response:?}");
        Self { response, text: String::new(), read: 0 }
    }

    /// The next message of a kind; others are skipped.
    pub(crate) async fn next(&mut self, method: &str) -> Value {
        self.first(method, |message| message["method"] == method).await
    }

    /// The next message of any of these kinds.
    pub(crate) async fn next_of(&mut self, methods: &[&str]) -> Value {
        let is_it = |message: &Value| methods.iter().any(|method| message["method"] == *method);
        self.first("notice", is_it).await
    }

    /// The answer to the request that opened the stream.
    pub(crate) async fn answer(&mut self) -> Value {
        self.first("answer", |message| message.get("method").is_none()).await
    }

    async fn first(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let whole = self.text.rsplit_once('\n').map_or("", |(whole, _)| whole);
            let all = messages(whole);
            if let Some(at) = all.iter().skip(self.read).position(&is_it) {
                self.read += at + 1;
                return all[self.read - 1].clone();
            }
            let chunk = self.response.chunk().await.expect("the stream goes on");
            let chunk = chunk.unwrap_or_else(|| panic!("no {what} in {}", self.text));
            self.text.push_str(&String::from_utf8_lossy(&chunk));
        }
    }
}

/// The newest revision of MCP with sessions.
pub(crate) const LEGACY: &str = "2025-11-25";

/// A client of MCP 2025-11-25 with a session.
pub(crate) struct LegacyPeer {
    url: String,
    session: String,
    client: reqwest::Client,
}

impl LegacyPeer {
    pub(crate) async fn open(gateway: &Gateway, capabilities: Value) -> Self {
        let (url, client) = (gateway.url("/mcp"), reqwest::Client::new());
        let greeting = initialize_message(LEGACY, capabilities);
        let mut peer = Self { url, session: String::new(), client };
        let response = peer.post(&greeting).await;
        let id = response.headers()["mcp-session-id"].to_str().expect("an id").to_owned();
        peer.session = id;
        response.text().await.expect("a greeting");
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert!(peer.post(&ready).await.status().is_success());
        peer
    }

    /// Opens the stream of notifications.
    pub(crate) async fn listen(&self) -> Stream {
        let request = self
            .client
            .get(&self.url)
            .header("accept", "text/event-stream")
            .header("mcp-session-id", &self.session)
            .header("mcp-protocol-version", LEGACY);
        Stream::new(request.send().await.expect("a stream"))
    }

    async fn post(&self, message: &Value) -> reqwest::Response {
        let request = legacy_request(self.client.post(&self.url), LEGACY, &self.session, message);
        request.send().await.expect("an answer")
    }

    /// Sends a request; `reply` receives the messages before the answer.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: Value,
        mut reply: impl FnMut(&Value) -> Option<Value>,
    ) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut response = self.post(&request).await;
        let mut text = String::new();
        let mut read = 0;
        while let Some(chunk) = response.chunk().await.expect("the stream goes on") {
            text.push_str(&String::from_utf8_lossy(&chunk));
            let Some((whole, _)) = text.rsplit_once('\n') else { continue };
            let all = messages(whole);
            for message in &all[read..] {
                if message.get("method").is_none() {
                    return message.clone();
                }
                if let Some(result) = reply(message) {
                    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
                    assert!(self.post(&answer).await.status().is_success());
                }
            }
            read = all.len();
        }
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("no answer: {text}"))
    }

    /// Calls a tool and answers its questions; returns their number and the answer.
    pub(crate) async fn call(
        &self,
        tool: &str,
        input: Value,
        reply: impl Fn(&Value) -> Value,
    ) -> (usize, Value) {
        let mut asked = 0;
        let params = json!({"name": tool, "arguments": input});
        let answer = self
            .request("tools/call", params, |message| {
                message.get("id").is_some().then(|| {
                    asked += 1;
                    reply(message)
                })
            })
            .await;
        (asked, answer)
    }
}
