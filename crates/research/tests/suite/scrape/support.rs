//! A scraper whose network is the fixtures on loopback.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use egress::browser::{Browser, Options};
use egress::http::{AddressPolicy, Client, OwnListeners, Resolve, ResolveFuture};
use egress::process::Runner;
use proto::{Clock, Failure};
use reading::{Bounds, Readers};
use research::tools::{ScrapePage, ScrapePageOutput};
use research::{Call, MemoryCaches, MemorySessions, Parts, Progress, Research, Settings};
use testkit::web::Site;
use tokio_util::sync::CancellationToken;

const PROGRAM: &str = env!("CARGO_BIN_EXE_research-reader");

/// 16 November 2026, noon.
pub(crate) const NOW: u64 = 1_794_830_400_000;

/// Every name is at `127.0.0.1`, except those with a script: each lookup takes the next address, the last one stays.
#[derive(Default)]
pub(crate) struct Names {
    scripts: HashMap<&'static str, Vec<&'static str>>,
    asked: Mutex<HashMap<String, usize>>,
}

impl Names {
    pub(crate) fn script(mut self, name: &'static str, answers: &[&'static str]) -> Self {
        self.scripts.insert(name, answers.to_vec());
        self
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> ResolveFuture<'a> {
        let mut asked = self.asked.lock().unwrap();
        let count = asked.entry(name.to_owned()).or_default();
        let script = self.scripts.get(name);
        let address =
            script.map_or("127.0.0.1", |answers| answers[(*count).min(answers.len() - 1)]);
        *count += 1;
        let address: IpAddr = address.parse().unwrap();
        Box::pin(async move { Ok(vec![address]) })
    }
}

/// A scraper with a site.
pub(crate) struct Lab {
    pub(crate) research: Research,
    pub(crate) site: Site,
    pub(crate) clock: Clock,
    pub(crate) browser: Option<Arc<Browser>>,
}

pub(crate) struct LabOptions {
    pub(crate) settings: Settings,
    pub(crate) names: Names,
    /// Ports of loopback that are open, besides the site's.
    pub(crate) ports: Vec<u16>,
    pub(crate) browser: bool,
}

impl Default for LabOptions {
    fn default() -> Self {
        Self { settings: settings(&[]), names: Names::default(), ports: Vec::new(), browser: false }
    }
}

/// Settings with timeouts in milliseconds.
pub(crate) fn settings(timeouts: &[(&str, u64)]) -> Settings {
    let mut settings = Settings::default();
    for (name, milliseconds) in timeouts {
        settings.timeouts.set(name, Duration::from_millis(*milliseconds)).unwrap();
    }
    settings
}

impl Lab {
    pub(crate) async fn start() -> Self {
        Self::with(LabOptions::default()).await
    }

    pub(crate) async fn with(options: LabOptions) -> Self {
        Self::with_site(Site::start().await, options).await
    }

    /// With a browser; prints a notice and returns `None` where no Chromium is installed.
    pub(crate) async fn with_browser(options: LabOptions) -> Option<Self> {
        let runner = Runner::with_launcher(PROGRAM).await.unwrap();
        if egress::browser::find(&runner, None).await.is_none() {
            testkit::skip_without("Chromium");
            return None;
        }
        Some(Self::with(LabOptions { browser: true, ..options }).await)
    }

    pub(crate) async fn with_site(site: Site, options: LabOptions) -> Self {
        let mut ports = options.ports;
        ports.push(site.port());
        let rules = ports.iter().map(|port| format!("127.0.0.1:{port}").parse().unwrap()).collect();
        let policy = AddressPolicy::new(rules, OwnListeners::default());
        let resolver: Arc<dyn Resolve> = Arc::new(options.names);
        let client = Client::builder(policy).resolver(resolver).build().unwrap();
        let runner = Arc::new(Runner::with_launcher(PROGRAM).await.unwrap());
        let browser = options
            .browser
            .then(|| Arc::new(Browser::new(Options::new(client.clone(), Arc::clone(&runner)))));
        let clock = Clock::manual(NOW);
        let research = Research::new(Parts {
            client,
            browser: browser.clone(),
            readers: Readers::with_program(runner, Bounds::default(), PROGRAM.into()),
            settings: options.settings,
            clock: clock.clone(),
            caches: Arc::new(MemoryCaches::new(clock.clone(), 64_000_000)),
            sessions: Arc::new(MemorySessions::new(clock.clone())),
            guards: Arc::default(),
        });
        Self { research, site, clock, browser }
    }

    /// Reads a path of the site.
    pub(crate) async fn scrape(&self, path: &str) -> Result<ScrapePageOutput, Failure> {
        self.scrape_url(self.site.url(path)).await
    }

    pub(crate) async fn scrape_url(
        &self,
        url: impl Into<String>,
    ) -> Result<ScrapePageOutput, Failure> {
        self.scrape_as("acme", ScrapePage::new(url)).await
    }

    pub(crate) async fn scrape_as(
        &self,
        tenant: &str,
        input: ScrapePage,
    ) -> Result<ScrapePageOutput, Failure> {
        let cancel = CancellationToken::new();
        let call = Call { tenant, subject: "ann", progress: &|_: Progress| {}, cancel: &cancel };
        self.research.scrape_page(input, &call).await
    }

    /// Requests for a path of the site.
    pub(crate) fn hits(&self, path: &str) -> usize {
        self.site.requests(path).len()
    }
}
