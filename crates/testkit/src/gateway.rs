use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use reqwest::header::HeaderMap;
use serde_json::Value;
use tempfile::{NamedTempFile, TempDir};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use crate::{ReservedPort, postgres, powerstrip_binary};

/// The settings that a gateway under test is started with.
pub struct GatewayBuilder {
    home: TempDir,
    scratch: TempDir,
    listen: String,
    config: String,
    environment: Vec<(String, String)>,
}

/// A real `powerstrip serve` process on a free port, killed on drop.
pub struct Gateway {
    child: Child,
    home: TempDir,
    scratch: TempDir,
    /// The process writes its log here directly, so a line that is logged before an answer can be read after it. Not in
    /// the gateway's folder, which the gateway watches for changes.
    log: NamedTempFile,
    address: String,
    environment: Vec<(String, String)>,
    client: reqwest::Client,
}

/// One HTTP answer, read whole.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
}

impl GatewayBuilder {
    /// Adds a line or more to `powerstrip.yaml`.
    pub fn config(mut self, yaml: &str) -> Self {
        self.config.push_str(yaml);
        self.config.push('\n');
        self
    }

    /// Writes a file below the gateway's folder (`tools/x.tool.yaml`, `prompts/…`) before it starts.
    pub fn file(self, path: &str, text: &str) -> Self {
        write(&self.home.path().join(path), text);
        self
    }

    /// A folder for files of the test that the gateway does not watch; removed with the gateway.
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Sets an environment variable of the gateway.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Listens on this port, also after a restart.
    pub fn at(mut self, port: &ReservedPort) -> Self {
        self.listen = port.address();
        self
    }

    /// Starts the gateway and waits until it answers.
    pub async fn start(self) -> Gateway {
        let folder = self.home.path();
        std::fs::create_dir_all(folder.join("tools")).expect("a tools folder");
        let config = format!("listen: {}\n{}", self.listen, postgres::configured(self.config));
        write(&folder.join("powerstrip.yaml"), &config);
        Gateway::launch(self.home, self.scratch, self.environment).await
    }
}

impl Gateway {
    async fn launch(home: TempDir, scratch: TempDir, environment: Vec<(String, String)>) -> Self {
        let log = NamedTempFile::new().expect("a file for the log");
        let mut child = Command::new(powerstrip_binary())
            .args(["serve", "--config", "powerstrip.yaml"])
            .current_dir(home.path())
            .envs(environment.clone())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.reopen().expect("the log can be written"))
            .kill_on_drop(true)
            .spawn()
            .expect("the gateway starts");
        let address = timeout(Duration::from_secs(60), listening(&mut child, log.path()))
            .await
            .expect("the gateway says where it listens")
            .unwrap_or_else(|log| panic!("the gateway ended early:\n{log}"));
        Self { child, home, scratch, log, address, environment, client: reqwest::Client::new() }
    }
}

/// Polls the log until it names the address.
async fn listening(child: &mut Child, log: &Path) -> Result<String, String> {
    loop {
        // Checked before the log is read, so that the last lines of an ended process are seen.
        let ended = child.try_wait().expect("it can be waited for").is_some();
        let log = std::fs::read(log).expect("the log can be read");
        let log = String::from_utf8_lossy(&log).into_owned();
        // Earlier lines may name other addresses, and the last line may be incomplete.
        let whole = log.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let address = whole.lines().find_map(|line| {
            let (_, rest) = line.strip_prefix("powerstrip ")?.split_once(" on http://")?;
            rest.split(['/', ' ']).next()
        });
        match address {
            Some(address) => return Ok(address.to_owned()),
            None if ended => return Err(log),
            None => sleep(Duration::from_millis(5)).await,
        }
    }
}

impl Gateway {
    /// A gateway with its own empty tools folder and default settings.
    pub async fn start() -> Self {
        Self::with().start().await
    }

    /// A builder with default settings.
    pub fn with() -> GatewayBuilder {
        GatewayBuilder {
            home: tempfile::tempdir().expect("a temporary folder"),
            scratch: tempfile::tempdir().expect("a temporary folder"),
            // The system chooses a port.
            listen: "127.0.0.1:0".to_owned(),
            config: String::new(),
            environment: Vec::new(),
        }
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The URL of a path on this gateway.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The folder that holds its config, tools, prompts and data.
    pub fn folder(&self) -> &Path {
        self.home.path()
    }

    /// The folder for files of the test.
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// The operator's token.
    pub fn admin_token(&self) -> String {
        self.token("admin.token")
    }

    /// The token by which servers register themselves.
    pub fn registration_token(&self) -> String {
        self.token("registration-token")
    }

    fn token(&self, file: &str) -> String {
        let text = std::fs::read_to_string(self.folder().join(".powerstrip").join(file));
        text.expect("the token is in the data folder").trim().to_owned()
    }

    /// Its log so far.
    pub fn log(&self) -> String {
        let log = std::fs::read(self.log.path()).expect("the log can be read");
        String::from_utf8_lossy(&log).into_owned()
    }

    /// Writes a file below its folder while it runs, atomically, as editors do.
    pub fn write(&self, path: &str, text: &str) {
        write(&self.folder().join(path), text);
    }

    /// Removes a file below its folder.
    pub fn remove(&self, path: &str) {
        std::fs::remove_file(self.folder().join(path)).expect("the file is there");
    }

    /// The gateway's process id.
    pub fn pid(&self) -> u32 {
        self.child.id().expect("the gateway runs")
    }

    /// GETs a path.
    pub async fn get(&self, path: &str) -> Response {
        send(self.client.get(self.url(path))).await
    }

    /// Calls a tool through the HTTP envelope door.
    pub async fn call(&self, tool: &str, input: &Value) -> Response {
        self.call_with(tool, input, &[]).await
    }

    /// Calls a tool through the HTTP envelope door with headers.
    pub async fn call_with(&self, tool: &str, input: &Value, headers: &[(&str, &str)]) -> Response {
        let mut request = self.client.post(self.url(&format!("/mcp/tool/{tool}"))).json(input);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        send(request).await
    }

    /// POSTs to a path with this `Content-Length` and no body; returns the JSON of the answer. A client that sent the body
    /// could find the connection closed before it has read the answer.
    pub async fn post_without_body(&self, path: &str, length: usize) -> Value {
        let mut stream = TcpStream::connect(&self.address).await.expect("the gateway listens");
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n",
            self.address
        );
        stream.write_all(head.as_bytes()).await.expect("the gateway reads");
        let mut answer = Vec::new();
        // The connection may be reset; what was received before counts.
        let _ = timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await;
        let answer = String::from_utf8_lossy(&answer);
        let (_, body) = answer.split_once("\r\n\r\n").expect("a whole answer");
        serde_json::from_str(body).expect("JSON")
    }

    /// Stops it and starts it again in the same folder, on another port unless it has a reserved one.
    pub async fn restart(mut self) -> Self {
        self.end().await;
        Self::launch(self.home, self.scratch, self.environment).await
    }

    /// Stops it, calls `between` with the time that the stop took, and starts it again.
    pub async fn restart_after(mut self, between: impl FnOnce(Duration)) -> Self {
        let stopping = Instant::now();
        self.end().await;
        between(stopping.elapsed());
        Self::launch(self.home, self.scratch, self.environment).await
    }

    /// Stops it as an operator would, and returns its exit code.
    pub async fn stop(mut self) -> Option<i32> {
        self.end().await
    }

    async fn end(&mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_raw(self.pid().cast_signed()).expect("a process id");
        rustix::process::kill_process(pid, rustix::process::Signal::TERM)
            .expect("it can be signalled");
        let status = timeout(Duration::from_secs(60), self.child.wait()).await;
        status.expect("it stops on SIGTERM").expect("it can be waited for").code()
    }
}

/// Sends a request and reads the answer. The body of an event stream is its last event.
pub async fn send(request: reqwest::RequestBuilder) -> Response {
    let response = request.send().await.expect("the gateway answers");
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = response.text().await.expect("the answer can be read");
    let kind = headers.get("content-type").map_or(&b""[..], |kind| kind.as_bytes());
    let mut events = text.lines().rev().filter_map(|line| line.strip_prefix("data:"));
    let event = events.find(|data| kind.starts_with(b"text/event-stream") && data.len() > 2);
    let body = serde_json::from_str(event.unwrap_or(&text)).unwrap_or(Value::String(text));
    Response { status, headers, body }
}

fn write(path: &Path, text: &str) {
    let folder = path.parent().expect("a file lies in a folder");
    std::fs::create_dir_all(folder).expect("the folder can be made");
    let draft = path.with_extension("draft");
    std::fs::write(&draft, text).expect("the file can be written");
    std::fs::rename(&draft, path).expect("the file can be put in place");
}
