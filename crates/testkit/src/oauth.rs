//! An authorization server and an MCP server that it protects, each on a port of its own; tests bend them as they like.

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

/// Stands in every secret that the authorization server gives out.
pub const CANARY: &str = "canary7f3d";

/// What an endpoint does instead of its work.
#[derive(Clone, Debug)]
pub enum Oddity {
    /// Answers with a web page.
    Html,
    /// Answers with 100 MB.
    Huge,
    /// Never answers.
    Hangs,
    /// Leads to this place, and that to itself.
    Redirects(String),
}

/// A request to the token endpoint.
#[derive(Clone, Debug)]
pub struct TokenRequest {
    pub form: BTreeMap<String, String>,
    pub authorization: Option<String>,
}

#[derive(Default)]
struct Book {
    patch: Value,
    odd: BTreeMap<&'static str, Oddity>,
    requests: Vec<TokenRequest>,
    paths: Vec<String>,
    /// Scopes of the tokens that are good now, and who agreed to them.
    tokens: BTreeMap<String, (BTreeSet<String>, String)>,
    refresh: BTreeMap<String, BTreeSet<String>>,
    codes: BTreeMap<String, (BTreeSet<String>, String)>,
    given: u64,
    life: Option<u64>,
    iss: Option<String>,
    shown: Vec<String>,
    resource: Option<String>,
    realm: Option<String>,
}

/// The authorization server, and the MCP server behind it.
pub struct Protected {
    pub issuer: String,
    /// The MCP server's URL.
    pub url: String,
    book: Arc<Mutex<Book>>,
    tasks: Vec<JoinHandle<()>>,
}

#[derive(Clone)]
struct Desk {
    book: Arc<Mutex<Book>>,
    issuer: String,
    server: String,
}

impl Desk {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Protected {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Protected {
    /// Starts both.
    pub async fn start() -> Self {
        let at = async || TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let (issuing, serving) = (at().await, at().await);
        let url = |listener: &TcpListener| {
            format!("http://{}", listener.local_addr().expect("an address"))
        };
        let (issuer, server) = (url(&issuing), url(&serving));
        let book: Arc<Mutex<Book>> = Arc::default();
        let desk = Desk { book: Arc::clone(&book), issuer: issuer.clone(), server: server.clone() };
        let issues = Router::new().fallback(issue).with_state(desk.clone());
        let serves = Router::new().fallback(serve).with_state(desk);
        let run = |listener, router| {
            tokio::spawn(async move { axum::serve(listener, router).await.expect("it runs") })
        };
        let tasks = vec![run(issuing, issues), run(serving, serves)];
        Self { issuer, url: format!("{server}/mcp"), book, tasks }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces fields of the authorization server's metadata.
    pub fn bend(&self, patch: Value) {
        self.book().patch = patch;
    }

    /// Makes `metadata`, `resource` or `token` odd.
    pub fn odd(&self, endpoint: &'static str, oddity: Oddity) {
        self.book().odd.insert(endpoint, oddity);
    }

    /// Sets how many seconds tokens live.
    pub fn life(&self, seconds: u64) {
        self.book().life = Some(seconds);
    }

    /// Sets the `iss` that logins are answered with.
    pub fn iss(&self, iss: &str) {
        self.book().iss = Some(iss.to_owned());
    }

    /// Sets the `resource` of the server's metadata, and where its challenge says that this is.
    pub fn resource(&self, resource: Option<&str>, metadata_url: Option<&str>) {
        self.book().resource = resource.map(str::to_owned);
        self.book().realm = metadata_url.map(str::to_owned);
    }

    /// Makes every token that was given out worthless, and what would renew it.
    pub fn revoke(&self) {
        let mut book = self.book();
        book.tokens.clear();
        book.refresh.clear();
    }

    /// What the token endpoint was asked.
    pub fn requests(&self) -> Vec<TokenRequest> {
        self.book().requests.clone()
    }

    /// The paths that the authorization server was asked for.
    pub fn paths(&self) -> Vec<String> {
        self.book().paths.clone()
    }

    /// Every `Authorization` that the MCP server was shown.
    pub fn shown(&self) -> Vec<String> {
        self.book().shown.clone()
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

async fn oddly(oddity: Oddity, path: &str) -> Response {
    let builder = Response::builder();
    let response = match oddity {
        Oddity::Html => builder.header("content-type", "text/html").body("<h1>Hi</h1>".into()),
        Oddity::Huge => builder.body(Body::from(vec![b' '; 100 << 20])),
        Oddity::Hangs => {
            tokio::time::sleep(Duration::from_secs(3_600)).await;
            builder.body(Body::empty())
        }
        Oddity::Redirects(place) => {
            builder.status(302).header("location", format!("{place}{path}")).body(Body::empty())
        }
    };
    response.expect("a response")
}

/// The authorization server.
async fn issue(State(desk): State<Desk>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    desk.book().paths.push(path.clone());
    let endpoint = match &*path {
        "/token" => "token",
        path if path.starts_with("/.well-known/") => "metadata",
        _ => "other",
    };
    let odd = desk.book().odd.get(endpoint).cloned();
    if let Some(oddity) = odd {
        return oddly(oddity, &path).await;
    }
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap_or_default();
    match &*path {
        "/.well-known/oauth-authorization-server" => metadata(&desk),
        "/token" => token(&desk, &parts.headers, &body),
        "/authorize" => authorize(&desk, &parts.uri),
        "/register" => answer(
            201,
            &json!({"client_id": "registered", "client_secret": format!("{CANARY}-registered")}),
        ),
        _ => answer(404, &json!({})),
    }
}

fn metadata(desk: &Desk) -> Response {
    let issuer = &desk.issuer;
    let mut metadata = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "registration_endpoint": format!("{issuer}/register"),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
        "authorization_response_iss_parameter_supported": true,
    });
    if let Some(patch) = desk.book().patch.as_object() {
        for (key, value) in patch {
            metadata[key] = value.clone();
        }
    }
    answer(200, &metadata)
}

fn token(desk: &Desk, headers: &HeaderMap, body: &Bytes) -> Response {
    let form = fields(&String::from_utf8_lossy(body));
    let authorization = headers.get("authorization").and_then(|value| value.to_str().ok());
    let mut book = desk.book();
    let request =
        TokenRequest { form: form.clone(), authorization: authorization.map(str::to_owned) };
    book.requests.push(request);
    let refused = |error: &str| answer(400, &json!({"error": error, "error_description": "no"}));
    let (scopes, who) = match form.get("grant_type").map(String::as_str) {
        Some("authorization_code") => match book.codes.remove(&form["code"]) {
            Some(granted) if form.contains_key("code_verifier") => granted,
            _ => return refused("invalid_grant"),
        },
        // Rotated: each counts once.
        Some("refresh_token") => match book.refresh.remove(&form["refresh_token"]) {
            Some(scopes) => (scopes, "refreshed".to_owned()),
            None => return refused("invalid_grant"),
        },
        Some(grant) => (words(form.get("scope")), grant.to_owned()),
        None => return refused("invalid_request"),
    };
    book.given += 1;
    let (number, life) = (book.given, book.life.unwrap_or(3_600));
    let (access, refresh) =
        (format!("{CANARY}-access-{number}"), format!("{CANARY}-refresh-{number}"));
    book.tokens.insert(access.clone(), (scopes.clone(), who));
    let list: Vec<_> = scopes.iter().cloned().collect();
    let mut granted = json!({
        "access_token": access, "token_type": "bearer", "expires_in": life, "scope": list.join(" "),
    });
    if form.get("grant_type").is_some_and(|grant| grant != "client_credentials") {
        book.refresh.insert(refresh.clone(), scopes);
        granted["refresh_token"] = json!(refresh);
    }
    answer(200, &granted)
}

/// Agrees to everything at once, in the name that `login_hint` gives.
fn authorize(desk: &Desk, uri: &Uri) -> Response {
    let wish = fields(uri.query().unwrap_or_default());
    assert_eq!(wish["code_challenge_method"], "S256");
    assert!(wish["code_challenge"].len() >= 43, "{wish:?}");
    let mut book = desk.book();
    book.given += 1;
    let code = format!("{CANARY}-code-{}", book.given);
    let who = wish.get("login_hint").cloned().unwrap_or_default();
    book.codes.insert(code.clone(), (words(wish.get("scope")), who));
    let mut back = reqwest::Url::parse(&wish["redirect_uri"]).expect("a place to go back to");
    let iss = book.iss.clone().unwrap_or_else(|| desk.issuer.clone());
    back.query_pairs_mut()
        .append_pair("code", &code)
        .append_pair("state", &wish["state"])
        .append_pair("iss", &iss);
    let builder = Response::builder().status(302).header("location", back.as_str());
    builder.body(Body::empty()).expect("a response")
}

/// The MCP server: `whoami` for anybody with a token, `admin` for those whose token has the scope `admin`.
async fn serve(State(desk): State<Desk>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    if parts.uri.path().starts_with("/.well-known/") {
        let odd = desk.book().odd.get("resource").cloned();
        if let Some(oddity) = odd {
            return oddly(oddity, parts.uri.path()).await;
        }
        let resource = desk.book().resource.clone();
        let resource = resource.unwrap_or_else(|| format!("{}/mcp", desk.server));
        return answer(
            200,
            &json!({"resource": resource, "authorization_servers": [desk.issuer], "scopes_supported": ["read"]}),
        );
    }
    let authorization = parts.headers.get("authorization").and_then(|value| value.to_str().ok());
    desk.book().shown.extend(authorization.map(str::to_owned));
    let bearer = authorization.and_then(|value| value.strip_prefix("Bearer "));
    let known = bearer.and_then(|token| desk.book().tokens.get(token).cloned());
    let Some((scopes, who)) = known else {
        return challenge(&desk, 401, "error=\"invalid_token\"");
    };
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap_or_default();
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let result = match asked["method"].as_str().unwrap_or_default() {
        "server/discover" => {
            json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "prompts": {}, "resources": {}}})
        }
        // Each person is shown something that nobody else is.
        "tools/list" => {
            let tools = [tool("whoami"), tool("admin"), tool(&format!("of_{who}"))];
            json!({"resultType": "complete", "tools": tools})
        }
        "prompts/list" => {
            json!({"resultType": "complete", "prompts": [{"name": format!("of_{who}")}]})
        }
        "resources/list" => {
            let resource = json!({"name": who, "uri": format!("crm://of_{who}")});
            json!({"resultType": "complete", "resources": [resource]})
        }
        "tools/call" if asked["params"]["name"] == "admin" && !scopes.contains("admin") => {
            return challenge(&desk, 403, "error=\"insufficient_scope\", scope=\"admin\"");
        }
        "tools/call" => {
            json!({"content": [{"type": "text", "text": who}], "structuredContent": {"who": who, "scopes": scopes}})
        }
        other => {
            let error = json!({"code": -32601, "message": other});
            return answer(404, &json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}));
        }
    };
    answer(200, &json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
}

fn challenge(desk: &Desk, status: u16, why: &str) -> Response {
    let own = format!("{}/.well-known/oauth-protected-resource/mcp", desk.server);
    let place = desk.book().realm.clone().unwrap_or(own);
    let status = StatusCode::from_u16(status).expect("a status");
    let value = format!("Basic realm=\"x\", Bearer {why}, resource_metadata=\"{place}\"");
    let builder = Response::builder().status(status).header("www-authenticate", value);
    builder.body(Body::empty()).expect("a response")
}
