//! Servers of `kind: openapi`: the operations of a document, called over HTTP, as if an MCP server offered them.

mod answer;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use ::openapi::{Document, MAX_BYTES, Operation, build_request, read_operations};
use arc_swap::ArcSwapOption;
use egress::http::{Client, Limits, Request, Rule, Scope, Target};
use http::HeaderMap;
use proto::{Code, Failure, Scrubber};
use serde_json::Value;
use server_entry::{ServerConfig, is_url};
use strip::{Job, Output};
use tokio::time::{Instant, sleep, timeout};

use crate::Deps;
use crate::error::{TransportError, shown};
use crate::message_buffer::MAX_ANSWER_BYTES;
use crate::personal::PersonalValues;
use crate::status::{ListFault, State, Status};

/// How often a file is checked for changes.
const CHECK: Duration = Duration::from_millis(500);

/// How long fetching a document may take.
const FETCH: Duration = Duration::from_secs(30);

/// More faults than this are only counted in the log.
const MAX_FAULTS: usize = 100;

/// A service that an OpenAPI document describes.
pub(crate) struct OpenApiService {
    name: String,
    config: Arc<ServerConfig>,
    client: Client,
    headers: HeaderMap,
    /// Removes the config's secrets from answers.
    secrets: Scrubber,
    api: ArcSwapOption<Api>,
    last_read: Mutex<LastRead>,
}

/// The operations of the document.
struct Api {
    base: String,
    /// May reach the base.
    client: Client,
    operations: HashMap<String, Operation>,
    faults: Vec<ListFault>,
    title: Option<String>,
}

#[derive(Default)]
struct LastRead {
    /// When the file was last written, and how long it was.
    stamp: Option<(SystemTime, u64)>,
    error: Option<String>,
}

impl OpenApiService {
    pub(crate) fn new(name: &str, config: &Arc<ServerConfig>, deps: &Deps) -> Self {
        Self {
            name: name.to_owned(),
            config: Arc::clone(config),
            client: deps.http.clone(),
            headers: config.header_map(),
            secrets: Scrubber::new(config.secrets()),
            api: ArcSwapOption::empty(),
            last_read: Mutex::default(),
        }
    }

    fn document(&self) -> &str {
        self.config.document.as_deref().unwrap_or_default()
    }

    /// Reads the document again, and returns its operations as tools.
    pub(crate) async fn list(&self) -> Result<Vec<Arc<Value>>, TransportError> {
        let read = self.read().await;
        let mut last_read = self.last_read.lock().unwrap_or_else(PoisonError::into_inner);
        last_read.error = read.as_ref().err().map(ToString::to_string);
        read
    }

    async fn read(&self) -> Result<Vec<Arc<Value>>, TransportError> {
        let unusable = |why: String| TransportError::malformed(why);
        let bytes = self.fetch().await?;
        let (config, location) = (Arc::clone(&self.config), self.document().to_owned());
        let parsed = tokio::task::spawn_blocking(move || parse(&config, &location, &bytes));
        let parsed =
            parsed.await.map_err(|_| unusable("the document cannot be read".to_owned()))?;
        let parsed = parsed.map_err(|why| unusable(format!("{}: {why}", self.document())))?;
        let mut policy = self.client.policy().clone();
        let trusted = self.config.base_url.is_some() || !is_url(self.document());
        for url in trusted.then_some(&parsed.base).into_iter().map(String::as_str).chain(
            // The config names the document's host, too.
            Some(self.document()).filter(|location| is_url(location)),
        ) {
            policy = policy.allowing(Rule::for_url(url).map_err(|why| unusable(why.to_string()))?);
        }
        // The document is read again and again: a fault is logged once.
        let known = self.api.load();
        let is_known =
            |fault: &ListFault| known.as_ref().is_some_and(|api| api.faults.contains(fault));
        for fault in parsed.faults.iter().filter(|fault| !is_known(fault)) {
            tracing::warn!(server = self.name, tool = fault.tool, "not offered: {}", fault.reason);
        }
        self.api.store(Some(Arc::new(Api {
            base: parsed.base,
            client: self.client.with_policy(policy),
            operations: parsed.operations,
            faults: parsed.faults,
            title: parsed.title,
        })));
        Ok(parsed.listed)
    }

    async fn fetch(&self) -> Result<Vec<u8>, TransportError> {
        let location = self.document();
        if !is_url(location) {
            let stamp = stamp(location).await;
            self.last_read.lock().unwrap_or_else(PoisonError::into_inner).stamp = stamp;
            if stamp.is_some_and(|(_, length)| length > MAX_BYTES as u64) {
                return Err(TransportError::TooLarge(MAX_BYTES as u64));
            }
            let path = PathBuf::from(location);
            let read = move || userfiles::read(&path, MAX_BYTES as u64);
            let read = tokio::task::spawn_blocking(read).await;
            return read
                .unwrap_or_else(|stopped| Err(stopped.into()))
                .map_err(|why| TransportError::Unreachable(format!("{location}: {why}").into()));
        }
        let rule = Rule::for_url(location)
            .map_err(|why| TransportError::Forbidden(why.to_string().into()))?;
        let client = self.client.with_policy(self.client.policy().clone().allowing(rule));
        let mut request = Request::get(location);
        // The headers are for the service: a document on another host is fetched without them.
        if self.config.base_url.as_deref().is_none_or(|base| same_origin(base, location)) {
            request.headers = self.headers.clone();
        }
        let limits =
            Limits { deadline: Some(FETCH), max_body_bytes: MAX_BYTES as u64, ..Limits::default() };
        let response = client.send(request, &limits, &Scope::everything()).await?;
        if !response.status.is_success() {
            let status = response.status.as_u16();
            return Err(TransportError::Status { status, retry_after: None });
        }
        let mut document = response.body.to_vec();
        self.secrets.bytes(&mut document);
        Ok(document)
    }

    /// Calls an operation.
    pub(crate) async fn call(
        &self,
        name: &str,
        job: &Job,
        personal: Option<&PersonalValues>,
    ) -> Result<Output, Failure> {
        if self.api.load().is_none() {
            // The list was stored by an earlier gateway, the document was not.
            self.list().await.map_err(|error| error.not_sent().failure(&self.name))?;
        }
        let api = self.api.load_full();
        let found = api.as_ref().and_then(|api| Some((api, api.operations.get(name)?)));
        let Some((api, operation)) = found else {
            let message = format!("the document of server `{}` no longer has `{name}`", self.name);
            return Err(Failure::new(Code::Unavailable, message));
        };
        let key = job.request().idempotency_key.as_deref();
        let mut headers = self.headers.clone();
        if let Some(personal) = personal {
            personal.add_headers(&mut headers);
        }
        let request = build_request(operation, &api.base, &headers, &job.input, key)?;
        // The stack enforces the deadline by dropping this future.
        let limits =
            Limits { deadline: None, max_body_bytes: MAX_ANSWER_BYTES as u64, ..Limits::default() };
        let answer = api.client.send(request, &limits, &Scope::everything()).await;
        let mut answer = answer.map_err(|error| TransportError::from(error).failure(&self.name))?;
        let secrets = personal.map_or(&self.secrets, |values| values.scrubber());
        if !secrets.is_empty() {
            let mut body = answer.body.to_vec();
            secrets.bytes(&mut body);
            answer.body = body.into();
        }
        answer::read(&self.name, &answer, self.config.clean_results)
    }

    /// Waits until the document should be read again: at the latest after `wait`, sooner when its file changes.
    pub(crate) async fn list_due(&self, wait: Duration) {
        let location = self.document();
        if is_url(location) {
            return sleep(wait).await;
        }
        let changes = async {
            loop {
                sleep(CHECK).await;
                let now = stamp(location).await;
                if now != self.last_read.lock().unwrap_or_else(PoisonError::into_inner).stamp {
                    return;
                }
            }
        };
        let _ = timeout(wait, changes).await;
    }

    pub(crate) fn describe(&self, status: &mut Status) {
        status.transport = "openapi";
        let last_read = self.last_read.lock().unwrap_or_else(PoisonError::into_inner);
        status.last_error.clone_from(&last_read.error);
        let api = self.api.load();
        status.state = match (&*api, &last_read.error) {
            (Some(_), _) => State::Ready,
            (None, Some(_)) => State::Down,
            (None, None) => State::Starting,
        };
        if let Some(api) = &*api {
            status.faults.clone_from(&api.faults);
            status.server = api.title.clone().map(|title| serde_json::json!({"name": title}));
        }
    }
}

fn same_origin(one: &str, other: &str) -> bool {
    match (Target::parse(one), Target::parse(other)) {
        (Ok(one), Ok(other)) => one.same_origin(&other),
        _ => false,
    }
}

async fn stamp(location: &str) -> Option<(SystemTime, u64)> {
    let metadata = tokio::fs::metadata(Path::new(location)).await.ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// The parsed contents of a document.
struct ParsedDocument {
    base: String,
    listed: Vec<Arc<Value>>,
    operations: HashMap<String, Operation>,
    faults: Vec<ListFault>,
    title: Option<String>,
}

fn parse(config: &ServerConfig, location: &str, bytes: &[u8]) -> Result<ParsedDocument, String> {
    let began = Instant::now();
    let document = Document::parse(bytes).map_err(|fault| fault.to_string())?;
    let base = base(config, location, &document)?;
    let fixed = config.headers.keys().chain(config.personal.headers.keys());
    let fixed: HashSet<String> = fixed.map(|name| name.to_ascii_lowercase()).collect();
    let (offered, faults) =
        read_operations(&document, &fixed).map_err(|fault| fault.to_string())?;
    let faults = faults
        .into_iter()
        .take(MAX_FAULTS)
        .map(|(tool, fault)| ListFault::new(&tool, &fault.to_string()))
        .collect();
    let mut operations = HashMap::new();
    let mut listed = Vec::with_capacity(offered.len());
    for one in offered {
        listed.push(Arc::new(one.listed));
        // The first operation of a name is offered.
        operations.entry(one.name).or_insert(one.operation);
    }
    tracing::debug!(tools = listed.len(), took = ?began.elapsed(), "an OpenAPI document was read");
    let title = document.part("info")["title"].as_str().map(shown);
    Ok(ParsedDocument { base, listed, operations, faults, title })
}

/// The base URL of the service: from the config, or else from the document.
fn base(config: &ServerConfig, location: &str, document: &Document) -> Result<String, String> {
    let whole = |url: &str| -> Result<String, String> {
        let target = Target::parse(url).map_err(|why| format!("`{}`: {why}", shown(url)))?;
        let mut url = target.url().clone();
        url.set_query(None);
        url.set_fragment(None);
        Ok(url.as_str().trim_end_matches('/').to_owned())
    };
    if let Some(base) = &config.base_url {
        return whole(base);
    }
    let server = &document.part("servers")[0];
    let mut url = server["url"].as_str().unwrap_or("/").to_owned();
    for (name, variable) in server["variables"].as_object().into_iter().flatten() {
        let default = variable["default"].as_str().unwrap_or_default();
        url = url.replace(&format!("{{{name}}}"), default);
    }
    if url.contains(['{', '}']) {
        return Err("#/servers/0/url: it has a variable without a default; set `base_url`".into());
    }
    if !is_url(location) {
        return if is_url(&url) {
            whole(&url)
        } else {
            Err("#/servers/0/url: it names no host; set `base_url`".into())
        };
    }
    let target = Target::parse(location).map_err(|why| why.to_string())?;
    let joined = target.url().join(&url).map_err(|why| format!("#/servers/0/url: {why}"))?;
    // The author of the document must not choose the host that receives the credentials.
    if !same_origin(joined.as_str(), location) {
        return Err(
            "#/servers/0/url: it names another host than the document's; set `base_url`".into()
        );
    }
    whole(joined.as_str())
}
