use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use auth::{Access, AccessOptions, ApiKeys, LocalAccess, ScopeNames};
use bytes::Bytes;
use doors::{BodyReader, HttpDoor, Options};
use egress::http::{AddressPolicy, Client, OwnListeners};
use files::{FileParts, Files};
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use http_server::ServerLimits;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use proto::{Annotations, Caps, Clock, Code, Descriptor, Failure, Limits, RequestedLimits};
use serde_json::{Value, json};
use store::{Cache, CommitQueue, Database};
use strip::catalog::{LimitBounds, NameStyle, Pins, WireNames};
use strip::{Job, Output, Parts, RateRules, Settings, Strip, Tool};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

type Work = dyn Fn(Job) -> BoxFuture<'static, Result<Output, Failure>> + Send + Sync;

/// A tool that runs a closure.
pub(crate) struct ClosureTool {
    descriptor: Descriptor,
    work: Box<Work>,
}

#[async_trait]
impl Tool for ClosureTool {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    async fn run(&self, call: &Job) -> Result<Output, Failure> {
        (self.work)(call.clone()).await
    }
}

impl ClosureTool {
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Descriptor)) -> Self {
        change(&mut self.descriptor);
        self
    }
}

pub(crate) fn tool<F>(id: &str, work: impl Fn(Job) -> F + Send + Sync + 'static) -> ClosureTool
where
    F: Future<Output = Result<Output, Failure>> + Send + 'static,
{
    ClosureTool {
        descriptor: Descriptor {
            unprefixed: false,
            id: id.parse().unwrap(),
            version: "1.0.0".parse().unwrap(),
            title: None,
            description: "a tool for tests".to_owned(),
            input_schema: json!({"type": "object"}),
            output_schema: None,
            deterministic: false,
            limits: RequestedLimits::default(),
            caps: Caps::default(),
            annotations: Annotations::default(),
            implementation: None,
            meta: None,
            extra: serde_json::Map::new(),
            files: None,
        },
        work: Box::new(move |call| Box::pin(work(call))),
    }
}

pub(crate) fn echo(id: &str) -> ClosureTool {
    tool(id, |call| async move { Ok(Output::new((*call.input).clone())) })
        .with(|descriptor| descriptor.annotations.read_only_hint = Some(true))
}

/// Observes the start and the cancellation of a slow call.
pub(crate) struct Gate {
    pub(crate) begun: mpsc::UnboundedReceiver<()>,
    pub(crate) cancelled: mpsc::UnboundedReceiver<()>,
    pub(crate) open: Arc<Semaphore>,
}

/// Notifies its receiver if it is dropped before `finished`.
struct DropNotice(Option<mpsc::UnboundedSender<()>>);

impl DropNotice {
    fn finished(mut self) {
        self.0 = None;
    }
}

impl Drop for DropNotice {
    fn drop(&mut self) {
        if let Some(sender) = self.0.take() {
            let _ = sender.send(());
        }
    }
}

fn slow() -> (ClosureTool, Gate) {
    let (begin, begun) = mpsc::unbounded_channel();
    let (cancel, cancelled) = mpsc::unbounded_channel();
    let open = Arc::new(Semaphore::new(0));
    let gate = Gate { begun, cancelled, open: Arc::clone(&open) };
    let tool = tool("test.slow", move |call| {
        let (begin, open) = (begin.clone(), Arc::clone(&open));
        let abandoned = DropNotice(Some(cancel.clone()));
        async move {
            begin.send(()).unwrap();
            open.acquire().await.unwrap().forget();
            abandoned.finished();
            Ok(Output::new(json!({"slow": *call.input})))
        }
    });
    (tool, gate)
}

/// The tools of every test.
fn tools() -> (Vec<ClosureTool>, Gate) {
    let (slow, gate) = slow();
    let fail = tool("test.fail", |_| async {
        Err(Failure::new(Code::Unavailable, "the far side is down").details(json!({"peer": "x"})))
    });
    let whoami = tool("test.whoami", |call| async move {
        let call = call.request();
        Ok(Output::new(json!({"tenant": call.principal.tenant, "subject": call.principal.subject,
            "door": call.door.as_str()})))
    });
    let list = tool("test.list", |_| async { Ok(Output::new(json!([1, 2, 3]))) }).with(|d| {
        d.output_schema = Some(json!({"type": "array", "items": {"$ref": "#/$defs/n"},
            "$defs": {"n": {"type": "integer"}}}));
    });
    let strict = echo("test.strict").with(|d| {
        d.input_schema = json!({"type": "object", "required": ["n"],
            "properties": {"n": {"type": "integer"}}});
    });
    let missing = tool("test.missing", |_| async {
        Err(Failure::new(Code::NotFound, "no such thing in the archive"))
    });
    let key = tool("test.key", |call| async move {
        let call = call.request();
        Ok(Output::new(json!({"key": call.idempotency_key, "verify": call.verify,
            "timeout": call.timeout.map(|p| p.as_millis())})))
    });
    let tools = vec![
        echo("test.echo"),
        echo("test.echo").with(|d| d.version = "2.1.0".parse().unwrap()),
        echo("srv:odd/name"),
        echo("web.search.query"),
        fail,
        whoami,
        list,
        strict,
        missing,
        key,
        tool("test.panic", |_| async { panic!("on purpose") }),
        slow,
    ];
    (tools, gate)
}

/// How long a test waits; long enough for a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

/// The drain time: longer than any test waits.
const DRAIN: Duration = Duration::from_secs(120);

/// A gateway on a free port.
pub(crate) struct Gateway {
    pub(crate) address: SocketAddr,
    pub(crate) strip: Arc<Strip>,
    pub(crate) gate: Gate,
    pub(crate) shutdown: CancellationToken,
    pub(crate) served: JoinHandle<std::io::Result<()>>,
    _folder: TempDir,
}

pub(crate) fn settings() -> Settings {
    let max = Limits {
        timeout: Duration::from_secs(120),
        max_input_bytes: 1 << 20,
        max_output_bytes: 1 << 20,
    };
    Settings {
        limits: LimitBounds { default: Limits::default(), server_input: 1 << 20, max },
        idempotency: Duration::from_secs(600),
        rate: RateRules::default(),
        name_style: NameStyle::Wire,
        schemas: strip::catalog::SchemaForm::AsIs,
        files: strip::files::Strategies::default(),
        inline: files::InlineLimits::default(),
    }
}

pub(crate) async fn strip(settings: Settings) -> (Arc<Strip>, Gate, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    let clock = Clock::default();
    let files = FileParts::in_folder(folder.path(), database.clone(), clock.clone()).unwrap();
    let parts = Parts {
        commits: CommitQueue::start(database.clone()),
        database,
        cache: Cache::memory(1 << 20, clock.clone()),
        clock,
        names: WireNames::default(),
        pins: Pins::default(),
        files: Files::new(files),
    };
    let strip = Strip::new(settings, parts);
    let (tools, gate) = tools();
    strip.catalog().publish("tests", shared(tools));
    assert_eq!(strip.catalog().snapshot().faults(), []);
    (strip, gate, folder)
}

pub(crate) fn shared(tools: Vec<ClosureTool>) -> Vec<Arc<dyn Tool>> {
    tools.into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect()
}

/// A reader that gives each body this much time.
pub(crate) fn bodies_within(timeout: Duration) -> Arc<BodyReader> {
    Arc::new(BodyReader::default().with_timeout(timeout))
}

pub(crate) async fn gateway() -> Gateway {
    gateway_with(settings(), Options::default(), ServerLimits::default()).await
}

pub(crate) async fn gateway_with(
    settings: Settings,
    options: Options,
    limits: ServerLimits,
) -> Gateway {
    gateway_draining(settings, options, limits, DRAIN).await
}

pub(crate) async fn gateway_draining(
    settings: Settings,
    options: Options,
    limits: ServerLimits,
    drain: Duration,
) -> Gateway {
    serve(LocalAccess::default().into(), settings, options, limits, drain).await
}

/// A gateway for callers with a key.
pub(crate) async fn guarded_gateway() -> (Gateway, Arc<ApiKeys>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let (database, clock) = (Database::open(folder.path()).await.unwrap(), Clock::default());
    let keys = Arc::new(ApiKeys::open(database, clock.clone()).await.unwrap());
    let options = AccessOptions {
        public_url: "https://gw.example".to_owned(),
        issuer: None,
        api_keys: true,
        scopes: ScopeNames::default(),
    };
    let client = Client::new(AddressPolicy::new(Vec::new(), OwnListeners::default())).unwrap();
    let access = Access::guarded(options, Arc::clone(&keys), &client, clock);
    let limits = ServerLimits::default();
    let gateway = serve(access, settings(), Options::default(), limits, DRAIN).await;
    (gateway, keys, folder)
}

async fn serve(
    access: Access,
    settings: Settings,
    mut options: Options,
    limits: ServerLimits,
    drain: Duration,
) -> Gateway {
    let (strip, gate, folder) = strip(settings).await;
    let shutdown = CancellationToken::new();
    options.shutdown = shutdown.clone();
    options.operations = Arc::new(strip::operations::table(&strip));
    let door = HttpDoor::new(Arc::clone(&strip), access, options);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let served = tokio::spawn(http_server::serve_with(
        listener,
        Arc::new(door),
        shutdown.clone(),
        drain,
        limits,
    ));
    Gateway { address, strip, gate, shutdown, served, _folder: folder }
}

pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The messages of an event stream, or the one of a JSON body.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let kind = self.headers["content-type"].to_str().unwrap();
        if kind.starts_with("application/json") {
            return vec![self.json()];
        }
        events(&String::from_utf8_lossy(&self.body))
    }

    pub(crate) fn code(&self) -> Value {
        self.json()["errors"][0]["code"].clone()
    }
}

pub(crate) fn events(text: &str) -> Vec<Value> {
    text.lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .filter_map(|data| serde_json::from_str(data.trim()).ok())
        .collect()
}

#[expect(clippy::disallowed_methods, reason = "a test is its own client")]
pub(crate) async fn connect(address: SocketAddr) -> std::io::Result<TcpStream> {
    TcpStream::connect(address).await
}

/// Sends a request on a new connection and returns the head of the response.
pub(crate) async fn open(
    address: SocketAddr,
    request: Request<Full<Bytes>>,
) -> hyper::Result<http::Response<Incoming>> {
    let stream = connect(address).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    sender.send_request(request).await
}

pub(crate) async fn send(address: SocketAddr, request: Request<Full<Bytes>>) -> Reply {
    let (parts, body) = open(address, request).await.unwrap().into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Reply { status: parts.status, headers: parts.headers, body }
}

impl Gateway {
    /// The rows of the audit trail, oldest first, once there are `count`.
    pub(crate) async fn audit_rows(&self, count: usize) -> Vec<store::AuditRow> {
        let database = Database::open(self._folder.path()).await.unwrap();
        let begun = std::time::Instant::now();
        loop {
            let mut rows = database.audit_rows(store::AuditFilter::default()).await.unwrap();
            if rows.len() >= count || begun.elapsed() > TIMEOUT {
                rows.reverse();
                return rows;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> http::request::Builder {
        Request::builder().method(method).uri(path).header("host", self.address.to_string())
    }

    pub(crate) async fn open(
        &self,
        request: Request<Full<Bytes>>,
    ) -> hyper::Result<http::Response<Incoming>> {
        open(self.address, request).await
    }

    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Reply {
        send(self.address, request).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(self.request(Method::GET, path).body(Full::default()).unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, body: impl Into<Bytes>) -> Reply {
        let request = self.request(Method::POST, path).header("content-type", "application/json");
        self.send(request.body(Full::new(body.into())).unwrap()).await
    }

    pub(crate) async fn call(&self, tool: &str, input: Value) -> Reply {
        self.post(&format!("/mcp/tool/{tool}"), input.to_string()).await
    }

    pub(crate) fn mcp(
        &self,
        headers: &HashMap<&str, String>,
        body: &Value,
    ) -> Request<Full<Bytes>> {
        let mut request = self
            .request(Method::POST, "/mcp")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        request.body(Full::new(Bytes::from(body.to_string()))).unwrap()
    }
}

/// A request of 2026-07-28 and its required headers.
pub(crate) fn modern(
    id: Value,
    method: &str,
    mut params: Value,
) -> (HashMap<&'static str, String>, Value) {
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    let mut headers = HashMap::from([
        ("mcp-protocol-version", "2026-07-28".to_owned()),
        ("mcp-method", method.to_owned()),
    ]);
    if let Some(name) = params["name"].as_str() {
        headers.insert("mcp-name", name.to_owned());
    }
    (headers, json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

/// Reads an event stream until a message matches.
pub(crate) async fn next_event(body: &mut Incoming, fits: impl Fn(&Value) -> bool) -> Value {
    let mut text = String::new();
    let reading = async {
        loop {
            let frame = body.frame().await.expect("the stream is open").unwrap();
            if let Ok(data) = frame.into_data() {
                text.push_str(std::str::from_utf8(&data).unwrap());
            }
            if let Some(event) = events(&text).into_iter().find(|event| fits(event)) {
                return event;
            }
        }
    };
    tokio::time::timeout(TIMEOUT, reading).await.expect("an event in time")
}

/// Adds the prompt `research/outline` to the strip.
pub(crate) fn put_prompt(strip: &Strip) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let packs = folder.path().join("packs/research");
    std::fs::create_dir_all(&packs).unwrap();
    std::fs::write(packs.join("outline.v1.md"), "Outline {{ topic }} {{ tone }}.").unwrap();
    let spec = json!({"description": "Outline a report.", "title": "Outline", "inputSchema": {
        "type": "object", "required": ["topic", "tone"], "properties": {
            "topic": {"type": "string", "description": "What about"},
            "tone": {"enum": ["dry", "warm"]}}}});
    // JSON is YAML too.
    std::fs::write(packs.join("outline.spec.yaml"), spec.to_string()).unwrap();
    prompts::pin(folder.path()).unwrap();
    let (prompts, findings) = prompts::Snapshot::load(folder.path());
    assert_eq!(prompts.prompts().len(), 1, "{findings:?}");
    strip.prompts().replace(prompts);
    folder
}
