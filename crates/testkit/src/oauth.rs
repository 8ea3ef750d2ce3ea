//! An authorization server and an MCP server that it protects, on two ports; tests change how both behave.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Part of every secret that the authorization server issues.
pub const CANARY: &str = "canary7f3d";

/// What an endpoint does instead of answering properly.
#[derive(Clone, Debug)]
pub enum Misbehaviour {
    /// Answers with a web page.
    Html,
    /// Answers with 100 MB.
    Huge,
    /// Never answers.
    Hangs,
    /// Redirects to this base URL in a loop.
    Redirects(String),
}

/// A request to the token endpoint.
#[derive(Clone, Debug)]
pub struct TokenRequest {
    pub form: BTreeMap<String, String>,
    pub authorization: Option<String>,
}

/// How the token endpoint wants clients to authenticate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAuth {
    /// By its id alone.
    None,
    /// By a secret in a header.
    Basic,
    /// By a secret in the form.
    Post,
}

#[derive(Default)]
struct Records {
    patch: Value,
    misbehaving: BTreeMap<&'static str, Misbehaviour>,
    requests: Vec<TokenRequest>,
    paths: Vec<String>,
    /// Scopes of the valid tokens, and the user who granted each.
    tokens: BTreeMap<String, (BTreeSet<String>, String)>,
    refresh: BTreeMap<String, BTreeSet<String>>,
    codes: BTreeMap<String, (BTreeSet<String>, String)>,
    issued: u64,
    lifetime: Option<u64>,
    iss: Option<String>,
    authorizations: Vec<String>,
    resource: Option<String>,
    realm: Option<String>,
    /// Fields of the server's own metadata that are replaced.
    resource_patch: Value,
    /// Fields of token responses that are replaced; null removes one.
    token_patch: Value,
    token_as_form: bool,
    registration: Option<(u16, Value)>,
    client_auth: Option<ClientAuth>,
    /// The error for requests with `resource`: its code and description.
    resource_refusal: Option<(&'static str, &'static str)>,
    authorize_queries: Vec<BTreeMap<String, String>>,
}

/// The authorization server, and the MCP server behind it.
pub struct ProtectedServer {
    pub issuer: String,
    /// The MCP server's URL.
    pub url: String,
    records: Arc<Mutex<Records>>,
    tasks: Vec<JoinHandle<()>>,
}

#[derive(Clone)]
struct Endpoints {
    records: Arc<Mutex<Records>>,
    issuer: String,
    server: String,
}

impl Endpoints {
    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ProtectedServer {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl ProtectedServer {
    /// Starts both.
    pub async fn start() -> Self {
        let at = async || TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let (issuing, serving) = (at().await, at().await);
        let url = |listener: &TcpListener| {
            format!("http://{}", listener.local_addr().expect("an address"))
        };
        let (issuer, server) = (url(&issuing), url(&serving));
        let records: Arc<Mutex<Records>> = Arc::default();
        let endpoints = Endpoints {
            records: Arc::clone(&records),
            issuer: issuer.clone(),
            server: server.clone(),
        };
        let issues = Router::new().fallback(issue).with_state(endpoints.clone());
        let serves = Router::new().fallback(serve).with_state(endpoints);
        let run = |listener, router| {
            tokio::spawn(async move { axum::serve(listener, router).await.expect("it runs") })
        };
        let tasks = vec![run(issuing, issues), run(serving, serves)];
        Self { issuer, url: format!("{server}/mcp"), records, tasks }
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces fields of the authorization server's metadata.
    pub fn patch_metadata(&self, patch: Value) {
        self.records().patch = patch;
    }

    /// Replaces fields of the server's own metadata (RFC 9728).
    pub fn patch_resource_metadata(&self, patch: Value) {
        self.records().resource_patch = patch;
    }

    /// Replaces fields of token responses; null removes one.
    pub fn patch_token(&self, patch: Value) {
        self.records().token_patch = patch;
    }

    /// Writes token responses as a form instead of JSON.
    pub fn answer_tokens_as_form(&self) {
        self.records().token_as_form = true;
    }

    /// Sets the answer to registrations.
    pub fn set_registration(&self, status: u16, answer: Value) {
        self.records().registration = Some((status, answer));
    }

    /// Refuses clients that authenticate in another way.
    pub fn require_client_auth(&self, method: ClientAuth) {
        self.records().client_auth = Some(method);
    }

    /// Refuses requests with `resource`, with this code and description.
    pub fn refuse_resource(&self, code: &'static str, description: &'static str) {
        self.records().resource_refusal = Some((code, description));
    }

    /// The queries of authorization requests.
    pub fn authorize_queries(&self) -> Vec<BTreeMap<String, String>> {
        self.records().authorize_queries.clone()
    }

    /// Makes the endpoint `metadata`, `resource` or `token` misbehave.
    pub fn misbehave(&self, endpoint: &'static str, misbehaviour: Misbehaviour) {
        self.records().misbehaving.insert(endpoint, misbehaviour);
    }

    /// Sets the lifetime of tokens in seconds.
    pub fn set_token_lifetime(&self, seconds: u64) {
        self.records().lifetime = Some(seconds);
    }

    /// Sets the `iss` that logins are answered with.
    pub fn set_iss(&self, iss: &str) {
        self.records().iss = Some(iss.to_owned());
    }

    /// Sets the `resource` of the server's metadata, and the metadata URL in its challenge.
    pub fn resource(&self, resource: Option<&str>, metadata_url: Option<&str>) {
        self.records().resource = resource.map(str::to_owned);
        self.records().realm = metadata_url.map(str::to_owned);
    }

    /// Revokes all access and refresh tokens.
    pub fn revoke(&self) {
        let mut records = self.records();
        records.tokens.clear();
        records.refresh.clear();
    }

    /// The requests to the token endpoint.
    pub fn requests(&self) -> Vec<TokenRequest> {
        self.records().requests.clone()
    }

    /// The paths requested from the authorization server.
    pub fn paths(&self) -> Vec<String> {
        self.records().paths.clone()
    }

    /// Every `Authorization` header that the MCP server has received.
    pub fn authorizations(&self) -> Vec<String> {
        self.records().authorizations.clone()
    }
}

fn fields(query: &str) -> BTreeMap<String, String> {
    let url = reqwest::Url::parse(&format!("http://x/?{query}")).expect("a query");
    url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

fn words(text: Option<&String>) -> BTreeSet<String> {
    text.into_iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect()
}

fn answer(status: u16, body: &Value) -> Response {
    let builder = Response::builder().status(status).header("content-type", "application/json");
    builder.body(Body::from(body.to_string())).expect("a response")
}

async fn misbehave(misbehaviour: Misbehaviour, path: &str) -> Response {
    let builder = Response::builder();
    let response = match misbehaviour {
        Misbehaviour::Html => {
            builder.header("content-type", "text/html").body("<h1>Hi</h1>".into())
        }
        Misbehaviour::Huge => builder.body(Body::from(vec![b' '; 100 << 20])),
        Misbehaviour::Hangs => {
            tokio::time::sleep(Duration::from_secs(3_600)).await;
            builder.body(Body::empty())
        }
        Misbehaviour::Redirects(base) => {
            builder.status(302).header("location", format!("{base}{path}")).body(Body::empty())
        }
    };
    response.expect("a response")
}

/// The authorization server.
async fn issue(State(endpoints): State<Endpoints>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    endpoints.records().paths.push(path.clone());
    let endpoint = match &*path {
        "/token" => "token",
        path if path.starts_with("/.well-known/") => "metadata",
        _ => "other",
    };
    let misbehaving = endpoints.records().misbehaving.get(endpoint).cloned();
    if let Some(misbehaviour) = misbehaving {
        return misbehave(misbehaviour, &path).await;
    }
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap_or_default();
    match &*path {
        "/.well-known/oauth-authorization-server" => metadata(&endpoints),
        "/token" => token(&endpoints, &parts.headers, &body),
        "/authorize" => authorize(&endpoints, &parts.uri),
        "/register" => {
            let usual =
                json!({"client_id": "registered", "client_secret": format!("{CANARY}-registered")});
            let (status, body) = endpoints.records().registration.clone().unwrap_or((201, usual));
            answer(status, &body)
        }
        _ => answer(404, &json!({})),
    }
}

fn metadata(endpoints: &Endpoints) -> Response {
    let issuer = &endpoints.issuer;
    let mut metadata = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "registration_endpoint": format!("{issuer}/register"),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
        "authorization_response_iss_parameter_supported": true,
    });
    patch(&mut metadata, &endpoints.records().patch);
    answer(200, &metadata)
}

/// Replaces fields of a document; null removes one.
fn patch(document: &mut Value, changes: &Value) {
    for (key, value) in changes.as_object().into_iter().flatten() {
        match (value, document.as_object_mut()) {
            (Value::Null, Some(fields)) => drop(fields.remove(key)),
            _ => document[key] = value.clone(),
        }
    }
}

fn token(endpoints: &Endpoints, headers: &HeaderMap, body: &Bytes) -> Response {
    let form = fields(&String::from_utf8_lossy(body));
    let authorization = headers.get("authorization").and_then(|value| value.to_str().ok());
    let mut records = endpoints.records();
    let request =
        TokenRequest { form: form.clone(), authorization: authorization.map(str::to_owned) };
    records.requests.push(request);
    let refused = |error: &str| answer(400, &json!({"error": error, "error_description": "no"}));
    let used = match (authorization, form.get("client_secret")) {
        (Some(_), _) => ClientAuth::Basic,
        (None, Some(_)) => ClientAuth::Post,
        (None, None) => ClientAuth::None,
    };
    if records.client_auth.is_some_and(|required| required != used) {
        return refused("invalid_client");
    }
    if let Some((error, said)) = records.resource_refusal
        && form.contains_key("resource")
    {
        return answer(400, &json!({"error": error, "error_description": said}));
    }
    let (scopes, user) = match form.get("grant_type").map(String::as_str) {
        Some("authorization_code") => match records.codes.remove(&form["code"]) {
            Some(granted) if form.contains_key("code_verifier") => granted,
            _ => return refused("invalid_grant"),
        },
        // Rotated: each can be used once.
        Some("refresh_token") => match records.refresh.remove(&form["refresh_token"]) {
            Some(scopes) => (scopes, "refreshed".to_owned()),
            None => return refused("invalid_grant"),
        },
        Some(grant) => (words(form.get("scope")), grant.to_owned()),
        None => return refused("invalid_request"),
    };
    records.issued += 1;
    let (number, lifetime) = (records.issued, records.lifetime.unwrap_or(3_600));
    let (access, refresh) =
        (format!("{CANARY}-access-{number}"), format!("{CANARY}-refresh-{number}"));
    records.tokens.insert(access.clone(), (scopes.clone(), user));
    let list: Vec<_> = scopes.iter().cloned().collect();
    let mut granted = json!({
        "access_token": access, "token_type": "bearer", "expires_in": lifetime, "scope": list.join(" "),
    });
    if form.get("grant_type").is_some_and(|grant| grant != "client_credentials") {
        records.refresh.insert(refresh.clone(), scopes);
        granted["refresh_token"] = json!(refresh);
    }
    patch(&mut granted, &records.token_patch);
    if !records.token_as_form {
        return answer(200, &granted);
    }
    let mut form = reqwest::Url::parse("http://form/").expect("a URL");
    for (name, value) in granted.as_object().into_iter().flatten() {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        form.query_pairs_mut().append_pair(name, &text);
    }
    let body = form.query().unwrap_or_default().to_owned();
    let kind = "application/x-www-form-urlencoded";
    Response::builder().header("content-type", kind).body(body.into()).expect("a response")
}

/// Grants every request at once, as the user that `login_hint` names.
fn authorize(endpoints: &Endpoints, uri: &Uri) -> Response {
    let params = fields(uri.query().unwrap_or_default());
    assert_eq!(params["code_challenge_method"], "S256");
    assert!(params["code_challenge"].len() >= 43, "{params:?}");
    let mut records = endpoints.records();
    records.authorize_queries.push(params.clone());
    records.issued += 1;
    let mut back = reqwest::Url::parse(&params["redirect_uri"]).expect("a redirect URI");
    let iss = records.iss.clone().unwrap_or_else(|| endpoints.issuer.clone());
    back.query_pairs_mut().append_pair("state", &params["state"]).append_pair("iss", &iss);
    if let Some((error, said)) = records.resource_refusal
        && params.contains_key("resource")
    {
        let mut query = back.query_pairs_mut();
        query.append_pair("error", error).append_pair("error_description", said);
    } else {
        let code = format!("{CANARY}-code-{}", records.issued);
        let user = params.get("login_hint").cloned().unwrap_or_default();
        records.codes.insert(code.clone(), (words(params.get("scope")), user));
        back.query_pairs_mut().append_pair("code", &code);
    }
    let builder = Response::builder().status(302).header("location", back.as_str());
    builder.body(Body::empty()).expect("a response")
}

/// The MCP server: `whoami` needs a token, `admin` a token with the scope `admin`.
async fn serve(State(endpoints): State<Endpoints>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    if parts.uri.path().starts_with("/.well-known/") {
        let misbehaving = endpoints.records().misbehaving.get("resource").cloned();
        if let Some(misbehaviour) = misbehaving {
            return misbehave(misbehaviour, parts.uri.path()).await;
        }
        let resource = endpoints.records().resource.clone();
        let resource = resource.unwrap_or_else(|| format!("{}/mcp", endpoints.server));
        let mut metadata = json!({
            "resource": resource, "authorization_servers": [endpoints.issuer], "scopes_supported": ["read"],
        });
        patch(&mut metadata, &endpoints.records().resource_patch);
        return answer(200, &metadata);
    }
    if parts.uri.path() != "/mcp" {
        return answer(404, &json!({}));
    }
    let authorization = parts.headers.get("authorization").and_then(|value| value.to_str().ok());
    endpoints.records().authorizations.extend(authorization.map(str::to_owned));
    let bearer = authorization.and_then(|value| value.strip_prefix("Bearer "));
    let known = bearer.and_then(|token| endpoints.records().tokens.get(token).cloned());
    let Some((scopes, user)) = known else {
        return challenge(&endpoints, 401, "error=\"invalid_token\"");
    };
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap_or_default();
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let result = match request["method"].as_str().unwrap_or_default() {
        "server/discover" => {
            json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "prompts": {}, "resources": {}}})
        }
        // Each user sees one item that belongs to them alone.
        "tools/list" => {
            let tools = [tool("whoami"), tool("admin"), tool(&format!("of_{user}"))];
            json!({"resultType": "complete", "tools": tools})
        }
        "prompts/list" => {
            json!({"resultType": "complete", "prompts": [{"name": format!("of_{user}")}]})
        }
        "resources/list" => {
            let resource = json!({"name": user, "uri": format!("crm://of_{user}")});
            json!({"resultType": "complete", "resources": [resource]})
        }
        "tools/call" if request["params"]["name"] == "admin" && !scopes.contains("admin") => {
            return challenge(&endpoints, 403, "error=\"insufficient_scope\", scope=\"admin\"");
        }
        "tools/call" => {
            json!({"content": [{"type": "text", "text": user}], "structuredContent": {"who": user, "scopes": scopes}})
        }
        other => {
            let error = json!({"code": -32601, "message": other});
            return answer(404, &json!({"jsonrpc": "2.0", "id": request["id"], "error": error}));
        }
    };
    answer(200, &json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
}

fn challenge(endpoints: &Endpoints, status: u16, why: &str) -> Response {
    let own = format!("{}/.well-known/oauth-protected-resource/mcp", endpoints.server);
    let metadata_url = endpoints.records().realm.clone().unwrap_or(own);
    let status = StatusCode::from_u16(status).expect("a status");
    let value = format!("Basic realm=\"x\", Bearer {why}, resource_metadata=\"{metadata_url}\"");
    let builder = Response::builder().status(status).header("www-authenticate", value);
    builder.body(Body::empty()).expect("a response")
}
