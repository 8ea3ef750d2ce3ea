//! Search providers on loopback: each answers in its own shape, and every request is recorded.

mod exchange;
mod pages;
mod scholarly;
mod shapes;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::Response;
use reqwest::Url;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use exchange::{ProviderRequest, ProviderResult};

/// How a provider answers.
#[derive(Clone, Debug)]
pub enum Behaviour {
    /// With these results.
    Results(Vec<ProviderResult>),
    /// As it does when it finds nothing.
    Empty,
    /// As it does for a wrong key.
    InvalidKey,
    /// 429, with this Retry-After; DuckDuckGo's 202.
    Limited(Option<&'static str>),
    /// With this status.
    Status(u16),
    /// With half of a body, then the end of the connection.
    Cut,
    /// With a web page where JSON or XML is expected.
    Html,
    /// With this body.
    Body(String),
    /// With a redirect to this address.
    Redirect(String),
    /// After this time, with nothing.
    Slow(Duration),
    /// In turn, one request each; the last one stays.
    InTurn(Vec<Behaviour>),
}

/// The running providers.
pub struct Providers {
    address: SocketAddr,
    record: Arc<Record>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Record {
    behaviours: Mutex<HashMap<String, Behaviour>>,
    requests: Mutex<Vec<(String, ProviderRequest)>>,
}

impl Providers {
    /// Starts them on a free port; each answers with two results.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let record = Arc::new(Record::default());
        let router = Router::new().fallback(answer).with_state(Arc::clone(&record));
        let task = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("the providers run");
        });
        Self { address, record, task }
    }

    /// The base URL of a provider's API.
    pub fn url(&self, provider: &str) -> String {
        format!("http://{}/{provider}", self.address)
    }

    /// Changes how a provider answers.
    pub fn set(&self, provider: &str, behaviour: Behaviour) {
        lock(&self.record.behaviours).insert(provider.to_owned(), behaviour);
    }

    /// The requests that a provider received.
    pub fn requests(&self, provider: &str) -> Vec<ProviderRequest> {
        let requests = lock(&self.record.requests);
        let of_provider = requests.iter().filter(|(name, _)| name == provider);
        of_provider.map(|(_, request)| request.clone()).collect()
    }

    /// The last request that a provider received.
    pub fn last(&self, provider: &str) -> ProviderRequest {
        self.requests(provider).pop().unwrap_or_else(|| panic!("{provider} received a request"))
    }
}

impl Drop for Providers {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a provider finds unless a test says otherwise.
fn usual_results(provider: &str) -> Vec<ProviderResult> {
    let result = |number: u32| ProviderResult {
        title: format!("Result {number} of {provider}"),
        url: format!("https://{provider}.example.org/{number}"),
        snippet: format!("What {provider} says about page {number}."),
        image: Some((format!("https://{provider}.example.org/{number}.png"), 640, 480)),
        authors: vec!["Jane Doe".to_owned(), "John Roe".to_owned()],
        doi: Some(format!("10.5555/{provider}.{number}")),
        year: Some(2020),
        ..ProviderResult::default()
    };
    vec![result(1), result(2)]
}

async fn answer(State(record): State<Arc<Record>>, request: Request) -> Response<Body> {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1_000_000).await.unwrap_or_default();
    let body = String::from_utf8_lossy(&body).into_owned();
    let path = head.uri.path().trim_start_matches('/').to_owned();
    let (provider, path) = path.split_once('/').unwrap_or((&path, ""));
    let request = ProviderRequest {
        method: head.method.to_string(),
        path: format!("/{path}"),
        parameters: parameters(head.uri.query().unwrap_or_default(), &body),
        headers: head.headers,
        body,
    };
    lock(&record.requests).push((provider.to_owned(), request.clone()));
    let behaviour = record.next_behaviour(provider);
    behave(provider, &request, behaviour).await
}

impl Record {
    fn next_behaviour(&self, provider: &str) -> Behaviour {
        match lock(&self.behaviours).get_mut(provider) {
            None => Behaviour::Results(usual_results(provider)),
            Some(Behaviour::InTurn(turns)) if turns.len() > 1 => turns.remove(0),
            Some(Behaviour::InTurn(turns)) => turns.first().cloned().unwrap_or(Behaviour::Empty),
            Some(behaviour) => behaviour.clone(),
        }
    }
}

/// Of the query, and of a body that is a form.
fn parameters(query: &str, body: &str) -> Vec<(String, String)> {
    let form = if body.starts_with('{') { "" } else { body };
    let url = Url::parse(&format!("http://x/?{query}&{form}")).expect("a query is part of a URL");
    url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

async fn behave(provider: &str, request: &ProviderRequest, behaviour: Behaviour) -> Response<Body> {
    let shaped = |results: &[ProviderResult]| match provider {
        "duckduckgo" => pages::results(results),
        "crossref" | "arxiv" | "pubmed" | "semantic_scholar" | "openalex" => {
            scholarly::answer(provider, request, results)
        }
        _ => shapes::answer(provider, &request.path, results),
    };
    match behaviour {
        Behaviour::Results(results) => reply(200, shaped(&results)),
        Behaviour::Empty | Behaviour::InTurn(_) => reply(200, shaped(&[])),
        Behaviour::InvalidKey => {
            let (status, body) = shapes::invalid_key(provider);
            reply(status, body.to_owned())
        }
        Behaviour::Limited(_) if provider == "duckduckgo" => reply(202, pages::challenge()),
        Behaviour::Limited(retry_after) => {
            let mut response = reply(429, "{\"error\": \"too many requests\"}".to_owned());
            if let Some(value) = retry_after {
                response.headers_mut().insert("retry-after", value.parse().expect("a header"));
            }
            response
        }
        Behaviour::Status(status) => reply(status, "{\"error\": \"out of order\"}".to_owned()),
        Behaviour::Cut => cut(shaped(&usual_results(provider))),
        Behaviour::Html => reply(200, "<!doctype html><title>Sign in</title>".to_owned()),
        Behaviour::Body(body) => reply(200, body),
        Behaviour::Redirect(location) => {
            let mut response = reply(302, String::new());
            response.headers_mut().insert("location", location.parse().expect("a header"));
            response
        }
        Behaviour::Slow(time) => {
            tokio::time::sleep(time).await;
            reply(200, shaped(&[]))
        }
    }
}

fn reply(status: u16, body: String) -> Response<Body> {
    Response::builder().status(status).body(Body::from(body)).expect("an answer")
}

/// Promises the whole body and sends half of it.
fn cut(body: String) -> Response<Body> {
    let half = Bytes::from(body.as_bytes()[..body.len() / 2].to_vec());
    let broken = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
    let pieces = futures_util::stream::iter([Ok(half), Err(broken)]);
    Response::builder().body(Body::from_stream(pieces)).expect("an answer")
}
