use std::net::SocketAddr;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use testkit::web::{Behaviour, ProviderResult, Providers, Site};
use testkit::{Gateway, GatewayBuilder, on_postgres};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Providers whose APIs a test replaces.
pub(crate) const PROVIDERS: [&str; 6] =
    ["searxng", "duckduckgo", "crossref", "arxiv", "pubmed", "semantic_scholar"];

/// A small web: providers that find pages of a site.
pub(crate) struct Web {
    pub(crate) providers: Providers,
    pub(crate) site: Site,
}

impl Web {
    pub(crate) async fn start() -> Self {
        let web = Self { providers: Providers::start().await, site: Site::start().await };
        let found = ["/articles/1", "/articles/2", "/articles/3"].map(|path| {
            let snippet = format!("A page about {path}.");
            ProviderResult::page(&format!("Tides at {path}"), &web.site.url(path), &snippet)
        });
        web.providers.set("searxng", Behaviour::Results(found.into()));
        web
    }

    /// The section `research`, without a browser, and what it needs besides.
    pub(crate) fn config(&self, more: &str) -> String {
        let mut config = format!(
            "egress: {{allow: [127.0.0.1]}}\nresearch:\n  browser: off\n{more}  search:\n    providers:\n"
        );
        for name in PROVIDERS {
            config += &format!("      {name}: {{url: {}}}\n", self.providers.url(name));
        }
        config
    }

    /// The settings as environment variables, for the server.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let urls = PROVIDERS.map(|name| {
            let variable = format!("POWERSTRIP_RESEARCH_URL_{}", name.to_uppercase());
            (variable, self.providers.url(name))
        });
        let others =
            [("POWERSTRIP_RESEARCH_ALLOW", "127.0.0.1"), ("POWERSTRIP_RESEARCH_BROWSER", "off")];
        urls.into_iter()
            .chain(others.map(|(name, value)| (name.to_owned(), value.to_owned())))
            .collect()
    }

    pub(crate) fn gateway(&self) -> GatewayBuilder {
        Gateway::with().config(&self.config(""))
    }

    /// One call of each tool.
    pub(crate) fn calls(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("web_search", json!({"query": "ocean tides"})),
            ("scrape_page", json!({"url": self.site.url("/articles/1")})),
            ("search_and_scrape", json!({"query": "ocean tides", "num_results": 2})),
            ("image_search", json!({"query": "ocean tides"})),
            ("news_search", json!({"query": "ocean tides"})),
            ("academic_search", json!({"query": "ocean tides", "source": "arxiv"})),
            ("patent_search", json!({"query": "tidal turbine"})),
            (
                "sequential_search",
                json!({"searchStep": "How do tides work?", "stepNumber": 1, "nextStepNeeded": true}),
            ),
        ]
    }
}

/// An answer without what differs from call to call.
pub(crate) fn steady(mut data: Value) -> Value {
    if let Some(summary) = data.get_mut("summary") {
        summary["processingTimeMs"] = json!(0);
    }
    for key in ["sessionId", "startedAt"] {
        if let Some(value) = data.get_mut(key) {
            *value = json!("");
        }
    }
    for step in data["steps"].as_array_mut().into_iter().flatten() {
        step["timestamp"] = json!("");
    }
    data
}

/// What a site of a test answers.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: String,
    pub(crate) delay: Duration,
}

impl Answer {
    /// A web page with these paragraphs.
    pub(crate) fn page(title: &str, paragraphs: &[&str]) -> Self {
        let text: String = paragraphs.iter().map(|text| format!("<p>{text}</p>\n")).collect();
        let body = format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title></head><body><main>\
             <article><h1>{title}</h1>\n{text}</article></main></body></html>"
        );
        Self { status: 200, content_type: "text/html; charset=utf-8", body, delay: Duration::ZERO }
    }

    pub(crate) fn text(body: &str) -> Self {
        let body = body.to_owned();
        Self { status: 200, content_type: "text/plain", body, delay: Duration::ZERO }
    }

    pub(crate) fn status(status: u16) -> Self {
        Self { status, ..Self::text("an error") }
    }

    pub(crate) fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }
}

/// A request for a page.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    pub(crate) path: String,
    /// The requests for pages that were under way when it came, with itself.
    pub(crate) at_once: usize,
}

/// Answers a path; the number says how many other paths were asked for before it.
type Pages = Box<dyn Fn(&str, usize) -> Answer + Send + Sync>;

struct SiteState {
    pages: Pages,
    visits: Mutex<Vec<Visit>>,
    under_way: Mutex<usize>,
}

/// A site whose pages a test makes up. It has every name below `localhost`.
pub(crate) struct MadeUpSite {
    address: SocketAddr,
    state: Arc<SiteState>,
    task: JoinHandle<()>,
}

impl MadeUpSite {
    pub(crate) async fn start(
        pages: impl Fn(&str, usize) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(SiteState {
            pages: Box::new(pages),
            visits: Mutex::default(),
            under_way: Mutex::default(),
        });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&state));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, state, task }
    }

    /// The URL of a path at a host below `localhost`.
    pub(crate) fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}.localhost:{}{path}", self.address.port())
    }

    /// The requests so far, without those for `robots.txt`.
    pub(crate) fn visits(&self) -> Vec<Visit> {
        self.state.visits.lock().unwrap().clone()
    }
}

impl Drop for MadeUpSite {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(state): State<Arc<SiteState>>, request: Request) -> Response {
    let path = request.uri().path();
    if path == "/robots.txt" {
        return respond((state.pages)(path, 0)).await;
    }
    let _under_way = UnderWay::enter(&state.under_way);
    let before = {
        let mut visits = state.visits.lock().unwrap();
        let at_once = *state.under_way.lock().unwrap();
        visits.push(Visit { path: path.to_owned(), at_once });
        let mut paths: Vec<&str> = Vec::new();
        for visit in visits.iter() {
            if !paths.contains(&visit.path.as_str()) {
                paths.push(&visit.path);
            }
        }
        paths.iter().position(|known| *known == path).unwrap()
    };
    respond((state.pages)(path, before)).await
}

async fn respond(answer: Answer) -> Response {
    tokio::time::sleep(answer.delay).await;
    let status = StatusCode::from_u16(answer.status).unwrap();
    (status, [(header::CONTENT_TYPE, answer.content_type)], answer.body).into_response()
}

/// Counts a request as under way, also if its client gives up.
struct UnderWay<'a>(&'a Mutex<usize>);

impl<'a> UnderWay<'a> {
    fn enter(count: &'a Mutex<usize>) -> Self {
        *count.lock().unwrap() += 1;
        Self(count)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        *self.0.lock().unwrap() -= 1;
    }
}

/// Executes one statement and prints the rows that it returns.
const SQLITE: &str = "
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
for row in database.execute(sys.argv[2]):
    print('|'.join(str(value) for value in row))
";

/// Executes one statement in the database of the gateway in a folder; returns its rows.
pub(crate) fn sql(folder: &std::path::Path, statement: &str) -> String {
    let mut command = if on_postgres() {
        let config = std::fs::read_to_string(folder.join("powerstrip.yaml")).unwrap();
        let url = config.lines().find_map(|line| line.trim().strip_prefix("database: ")).unwrap();
        let mut psql = Command::new("psql");
        psql.args([url, "-qAtc", statement]);
        psql
    } else {
        let mut python = Command::new("python3");
        python.args(["-c", SQLITE]).arg(folder.join(".powerstrip/powerstrip.db")).arg(statement);
        python
    };
    let output = command.output().unwrap();
    assert!(output.status.success(), "{statement}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The text of a finished research's report.
pub(crate) async fn report(gateway: &Gateway, data: &Value) -> String {
    let artifacts = data["artifacts"].as_array().unwrap();
    let report = artifacts.iter().find(|artifact| artifact["kind"] == "report").unwrap();
    let path = format!("/v1/files/{}/content", report["file_id"].as_str().unwrap());
    reqwest::get(gateway.url(&path)).await.unwrap().text().await.unwrap()
}
