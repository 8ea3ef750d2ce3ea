//! An identity provider on loopback with real keys, whose keys, metadata and availability a test can change. It signs
//! tokens with other code than the library that the gateway verifies them with.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::{Form, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::signer::Signer;

/// A running identity provider.
pub struct Issuer {
    url: String,
    shared: Arc<Mutex<Shared>>,
    task: tokio::task::JoinHandle<()>,
}

struct Shared {
    url: String,
    metadata: Option<Value>,
    published: Vec<Value>,
    introspected: BTreeMap<String, Value>,
    introspected_by: Option<String>,
    down: bool,
    fetches: usize,
    introspections: usize,
    grants: BTreeMap<String, Value>,
    token_requests: Vec<BTreeMap<String, String>>,
}

type SharedState = State<Arc<Mutex<Shared>>>;

impl Issuer {
    /// Starts one on a free port that publishes these keys.
    pub async fn start(signers: &[&Signer]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let shared = Arc::new(Mutex::new(Shared {
            url: url.clone(),
            metadata: None,
            published: signers.iter().map(|signer| signer.jwk()).collect(),
            introspected: BTreeMap::new(),
            introspected_by: None,
            down: false,
            fetches: 0,
            introspections: 0,
            grants: BTreeMap::new(),
            token_requests: Vec::new(),
        }));
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(metadata))
            .route("/keys", get(keys))
            .route("/introspect", post(introspect))
            .route("/token", post(token))
            .with_state(Arc::clone(&shared));
        let task = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("the issuer runs");
        });
        Self { url, shared, task }
    }

    /// Its issuer URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Claims of a good token for this audience, changed by these; a null removes a claim.
    pub fn claims(&self, audience: &str, changes: Value) -> Value {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        let mut claims = json!({
            "iss": self.url, "aud": audience, "sub": "ann", "org": "acme", "iat": now, "exp": now + 600,
            "scope": "tools:read tools:call",
        });
        for (name, value) in changes.as_object().expect("an object") {
            claims[name] = value.clone();
        }
        claims.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
        claims
    }

    /// Publishes these keys and no others.
    pub fn publish(&self, signers: &[&Signer]) {
        self.lock().published = signers.iter().map(|signer| signer.jwk()).collect();
    }

    /// Publishes this key set unchecked.
    pub fn publish_raw(&self, keys: Vec<Value>) {
        self.lock().published = keys;
    }

    /// Replaces its metadata.
    pub fn set_metadata(&self, metadata: Value) {
        self.lock().metadata = Some(metadata);
    }

    /// Answers every request with an error while down.
    pub fn set_down(&self, down: bool) {
        self.lock().down = down;
    }

    /// Sets the introspection answer for an opaque token.
    pub fn set_introspection(&self, token: &str, answer: Value) {
        self.lock().introspected.insert(token.to_owned(), answer);
    }

    /// Sets the token endpoint's answer, valid once, for a code or a refresh token.
    pub fn set_grant(&self, proof: &str, answer: Value) {
        self.lock().grants.insert(proof.to_owned(), answer);
    }

    /// The forms that its token endpoint has received, with the header `authorization` among the fields.
    pub fn token_requests(&self) -> Vec<BTreeMap<String, String>> {
        self.lock().token_requests.clone()
    }

    /// How often its keys were fetched.
    pub fn fetches(&self) -> usize {
        self.lock().fetches
    }

    /// The number of introspections, and the `Authorization` header of the last one.
    pub fn introspections(&self) -> (usize, Option<String>) {
        let shared = self.lock();
        (shared.introspections, shared.introspected_by.clone())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Shared> {
        self.shared.lock().expect("no test panics while it holds the lock")
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn metadata(State(shared): SharedState) -> Response {
    let shared = shared.lock().expect("the state");
    let usual = json!({
        "issuer": shared.url,
        "jwks_uri": format!("{}/keys", shared.url),
        "introspection_endpoint": format!("{}/introspect", shared.url),
        "authorization_endpoint": format!("{}/authorize", shared.url),
        "token_endpoint": format!("{}/token", shared.url),
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    });
    answer(&shared, shared.metadata.clone().unwrap_or(usual))
}

async fn keys(State(shared): SharedState) -> Response {
    let mut shared = shared.lock().expect("the state");
    shared.fetches += 1;
    answer(&shared, json!({"keys": shared.published}))
}

async fn introspect(
    State(shared): SharedState,
    headers: HeaderMap,
    Form(form): Form<BTreeMap<String, String>>,
) -> Response {
    let mut shared = shared.lock().expect("the state");
    shared.introspections += 1;
    shared.introspected_by =
        headers.get("authorization").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let known = form.get("token").and_then(|token| shared.introspected.get(token)).cloned();
    answer(&shared, known.unwrap_or(json!({"active": false})))
}

async fn token(
    State(shared): SharedState,
    headers: HeaderMap,
    Form(mut form): Form<BTreeMap<String, String>>,
) -> Response {
    let mut shared = shared.lock().expect("the state");
    let proof = form.get("code").or_else(|| form.get("refresh_token")).cloned();
    if let Some(value) = headers.get("authorization").and_then(|value| value.to_str().ok()) {
        form.insert("authorization".to_owned(), value.to_owned());
    }
    shared.token_requests.push(form);
    match proof.and_then(|proof| shared.grants.remove(&proof)) {
        Some(granted) => answer(&shared, granted),
        None if shared.down => answer(&shared, Value::Null),
        None => (StatusCode::BAD_REQUEST, Json(json!({"error": "invalid_grant"}))).into_response(),
    }
}

fn answer(shared: &Shared, body: Value) -> Response {
    if shared.down {
        StatusCode::INTERNAL_SERVER_ERROR.into_response()
    } else {
        Json(body).into_response()
    }
}
