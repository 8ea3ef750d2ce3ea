//! A site of 50 pages on loopback: articles, copies, slow and broken pages, pages that attack their reader.

mod answers;
mod bodies;
mod pages;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use pages::SitePage;

/// One request as the site received it.
#[derive(Clone, Debug)]
pub struct SiteRequest {
    /// Path and query.
    pub target: String,
    pub headers: HeaderMap,
}

impl SiteRequest {
    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

#[derive(Default)]
struct Record {
    requests: Mutex<Vec<SiteRequest>>,
    /// Requests that are being answered, by host, and the most there were at one time.
    open: Mutex<HashMap<String, (usize, usize)>>,
}

/// The running site. All its names must resolve to `127.0.0.1`.
pub struct Site {
    address: SocketAddr,
    record: Arc<Record>,
    task: JoinHandle<()>,
}

impl Site {
    /// Starts it on a free port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let record = Arc::new(Record::default());
        let router = Router::new().fallback(answer).with_state(Arc::clone(&record));
        let task = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("the site runs");
        });
        Self { address, record, task }
    }

    /// Its 50 pages.
    pub fn pages() -> Vec<SitePage> {
        pages::all()
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The URL of a path under a name that resolves to the site.
    pub fn url_at(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port())
    }

    /// The requests so far whose path begins so.
    pub fn requests(&self, path: &str) -> Vec<SiteRequest> {
        let requests = self.record.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.iter().filter(|request| request.target.starts_with(path)).cloned().collect()
    }

    /// The most requests that were answered at one time under a name, and under all names with an empty one.
    pub fn most_at_once(&self, host: &str) -> usize {
        let open = self.record.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.get(host).map_or(0, |(_, most)| *most)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(record): State<Arc<Record>>, request: Request) -> Response {
    let target = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
    let headers = request.headers().clone();
    let host = headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host).to_owned();
    record
        .requests
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(SiteRequest { target: target.clone(), headers: headers.clone() });
    let _open = Open::new(&record, [host, String::new()]);
    answers::answer(&target, &headers).await
}

/// Counts a request as open for as long as it is answered.
struct Open<'a> {
    record: &'a Record,
    names: [String; 2],
}

impl<'a> Open<'a> {
    fn new(record: &'a Record, names: [String; 2]) -> Self {
        let mut open = record.open.lock().unwrap_or_else(PoisonError::into_inner);
        for name in &names {
            let (now, most) = open.entry(name.clone()).or_default();
            *now += 1;
            *most = (*most).max(*now);
        }
        drop(open);
        Self { record, names }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let mut open = self.record.open.lock().unwrap_or_else(PoisonError::into_inner);
        for name in &self.names {
            if let Some((now, _)) = open.get_mut(name) {
                *now -= 1;
            }
        }
    }
}
