//! A gateway elsewhere, reached over HTTP through the guarded client, with that one host within reach.

use std::time::Duration;

use anyhow::{Context as _, bail};
use bytes::Bytes;
use egress::http::{AddressPolicy, Client, Limits, OwnListeners, Request, Response, Rule, Scope};
use environment::Environment;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use proto::sse::{Events, PlainData};
use proto::{Discovery, Envelope, PromptRef};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use url::Url;

use crate::invocation::Invocation;

/// Answers of a gateway are bounded by its own limits; this only keeps another server from filling our memory.
const MAX_BODY: u64 = 64 << 20;

/// The variable that holds a token or a key for gateways that ask for one; a flag would show it to every process.
const TOKEN: &str = "POWERSTRIP_TOKEN";

/// The revision of MCP in which a request needs no session.
const MODERN: &str = "2026-07-28";

/// A gateway at a URL.
#[derive(Clone)]
pub struct Remote {
    client: Client,
    base: String,
    credential: Option<HeaderValue>,
}

impl Remote {
    /// The gateway at this URL; nothing is sent yet.
    pub fn new(url: &Url, environment: &Environment) -> anyhow::Result<Self> {
        let base = url
            .as_str()
            .trim_end_matches('/')
            .trim_end_matches("/mcp")
            .trim_end_matches('/')
            .to_owned();
        let rule = Rule::for_url(&base).with_context(|| format!("--url {url}"))?;
        let policy = AddressPolicy::new(vec![rule], OwnListeners::default());
        let credential = environment.secret(TOKEN).map(|token| {
            let mut value = HeaderValue::from_str(&format!("Bearer {token}"))?;
            value.set_sensitive(true);
            Ok::<_, http::header::InvalidHeaderValue>(value)
        });
        let credential = credential.transpose().with_context(|| TOKEN.to_owned())?;
        Ok(Self { client: Client::new(policy)?, base, credential })
    }

    /// The gateway at this URL, entered by an agent's door if one is named.
    pub fn at(url: &Url, agent: Option<&str>, environment: &Environment) -> anyhow::Result<Self> {
        let mut remote = Self::new(url, environment)?;
        if let Some(agent) = agent {
            remote.base = format!("{}/agents/{agent}", remote.base);
        }
        Ok(remote)
    }

    /// The client, for exchanges that stream.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Adds what the gateway knows us by.
    pub fn introduce(&self, headers: &mut HeaderMap) {
        if let Some(credential) = &self.credential {
            headers.insert(AUTHORIZATION, credential.clone());
        }
    }

    /// The URL of a path on the gateway.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// What the gateway offers.
    pub async fn discovery(&self) -> anyhow::Result<Discovery> {
        self.get("/mcp/discover").await
    }

    /// A prompt's body and spec.
    pub async fn prompt(&self, prompt: &PromptRef) -> anyhow::Result<Value> {
        let major = match prompt.major {
            Some(major) => major,
            None => self.newest(prompt).await?,
        };
        self.get(&format!("/mcp/prompt/{}/{}/{major}", prompt.domain, prompt.name)).await
    }

    async fn newest(&self, prompt: &PromptRef) -> anyhow::Result<u64> {
        let id = format!("{}/{}", prompt.domain, prompt.name);
        let same =
            |listed: &PromptRef| listed.domain == prompt.domain && listed.name == prompt.name;
        let prompts = self.discovery().await?.prompts;
        let listed =
            prompts.into_iter().find(|listed| listed.id.parse().is_ok_and(|listed| same(&listed)));
        let newest =
            listed.and_then(|listed| listed.versions.iter().map(|version| version.major).max());
        newest.with_context(|| format!("there is no prompt `{id}`"))
    }

    /// A prompt, filled in.
    pub async fn render(&self, prompt: &PromptRef, arguments: &Value) -> anyhow::Result<Value> {
        let message = modern_request(
            "prompts/get",
            json!({"name": prompt.to_string(), "arguments": arguments}),
        );
        let mut headers = json_headers();
        for (name, value) in [
            ("mcp-protocol-version", MODERN),
            ("mcp-method", "prompts/get"),
            ("mcp-name", &prompt.to_string()),
        ] {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value)?);
        }
        let response =
            self.send(Method::POST, "/mcp", headers, message.to_string().into(), None).await?;
        let mut answer = read_answer(&response)?;
        if let Some(error) = answer.get("error") {
            bail!("{}", error["message"].as_str().unwrap_or("the prompt was refused"));
        }
        Ok(answer["result"].take())
    }

    /// Calls a tool.
    pub async fn invoke(&self, invocation: &Invocation) -> anyhow::Result<Envelope> {
        let mut headers = json_headers();
        if let Some(key) = &invocation.idempotency_key {
            headers.insert(
                "idempotency-key",
                HeaderValue::from_str(key).context("--idempotency-key")?,
            );
        }
        if invocation.verify {
            headers.insert("powerstrip-verify", HeaderValue::from_static("true"));
        }
        if let Some(timeout) = invocation.timeout {
            headers.insert(
                "powerstrip-timeout-ms",
                HeaderValue::from(u64::try_from(timeout.as_millis())?),
            );
        }
        if let Some(run) = &invocation.run {
            headers.insert("powerstrip-run", HeaderValue::from_str(run).context("--run")?);
        }
        let path = tool_path(&invocation.tool);
        let body = Bytes::from(invocation.input.to_string());
        let response = self.send(Method::POST, &path, headers, body, None).await?;
        parsed(&response)
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        self.request(Method::GET, path, None).await
    }

    /// Asks a route for JSON; another status than success is an error with the gateway's message.
    pub async fn request<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<T> {
        let deadline = Some(Duration::from_secs(30));
        let (headers, body) = match body {
            Some(body) => (json_headers(), body.to_string().into()),
            None => (HeaderMap::new(), Bytes::new()),
        };
        let response = self.send(method, path, headers, body, deadline).await?;
        if !response.status.is_success() {
            let envelope: Result<Envelope, _> = serde_json::from_slice(&response.body);
            let error = envelope.ok().and_then(|envelope| envelope.errors.into_iter().next());
            match error {
                Some(error) => bail!("{}: {}", error.code, error.message),
                None => bail!("{} answered {} to {path}", self.base, response.status),
            }
        }
        parsed(&response)
    }

    /// One whole exchange.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        mut headers: HeaderMap,
        body: Bytes,
        deadline: Option<Duration>,
    ) -> anyhow::Result<Response> {
        self.introduce(&mut headers);
        let request = Request { method, url: self.url(path), headers, body: body.into() };
        let limits =
            Limits { deadline, max_body_bytes: MAX_BODY, max_redirects: 0, ..Limits::default() };
        let sent = self.client.send(request, &limits, &Scope::everything()).await;
        sent.with_context(|| {
            format!("{} cannot be reached; does `powerstrip serve` run there?", self.base)
        })
    }
}

/// The path of a tool's route; an id may hold characters that a path may not.
fn tool_path(tool: &str) -> String {
    let mut path = String::from("/mcp/tool/");
    for byte in tool.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b':' | b'@' => {
                path.push(char::from(byte))
            }
            other => path.push_str(&format!("%{other:02X}")),
        }
    }
    path
}

/// A request of MCP that needs no session.
pub fn modern_request(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

pub(crate) fn json_headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    headers
}

/// The answer to the one request of an exchange, as JSON or as an event of a stream, which may begin with notifications.
fn read_answer(response: &Response) -> anyhow::Result<Value> {
    if !is_event_stream(&response.headers) {
        return parsed(response);
    }
    let mut events = Events::<PlainData<{ MAX_BODY as usize }>>::default();
    let mut answer = None;
    events.feed(&response.body, |_, data| {
        answer = answer_in(&data);
        answer.is_none()
    })?;
    answer.with_context(|| format!("{} sent events without an answer", response.final_url))
}

/// A message that answers a request; none if it is a request or notification.
pub(crate) fn answer_in(message: &[u8]) -> Option<Value> {
    let message: Value = serde_json::from_slice(message).ok()?;
    (message.get("result").is_some() || message.get("error").is_some()).then_some(message)
}

pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

fn parsed<T: DeserializeOwned>(response: &Response) -> anyhow::Result<T> {
    serde_json::from_slice(&response.body).with_context(|| {
        let start: String = String::from_utf8_lossy(&response.body).chars().take(200).collect();
        format!(
            "{} does not answer like a gateway (status {}): {start}",
            response.final_url, response.status
        )
    })
}

/// Reads the URL of a gateway from the command line.
pub fn parse_url(text: &str) -> Result<Url, String> {
    let advice = "write where the gateway listens, such as `http://127.0.0.1:7777`";
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        Ok(_) => Err(format!("it does not begin with http:// or https://; {advice}")),
        Err(error) => Err(format!("{error}; {advice}")),
    }
}

#[cfg(test)]
mod tests;
