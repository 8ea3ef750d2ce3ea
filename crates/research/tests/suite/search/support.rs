//! Research over providers on loopback.

use std::sync::Arc;
use std::time::Duration;

use egress::http::{AddressPolicy, Client};
use egress::process::Runner;
use proto::{Clock, Failure};
use reading::{Bounds, Readers};
use research::sessions::{MAX_SESSIONS, TTL};
use research::tools::{WebSearch, WebSearchOutput};
use research::{Call, MemoryCaches, MemorySessions, Parts, Research, Settings};
use search::router::Guards;
use search::settings::{ProviderName, ProviderSettings, parse_routing};
use testkit::web::Providers;
use tokio_util::sync::CancellationToken;

const READER: &str = env!("CARGO_BIN_EXE_research-reader");

/// 14 November 2024, 10:00 UTC.
pub(crate) const NOW: u64 = 1_731_578_400_000;

pub(crate) struct Lab {
    pub(crate) providers: Providers,
    pub(crate) clock: Clock,
    pub(crate) research: Research,
    guards: Arc<Guards>,
    cancel: CancellationToken,
}

/// The key of a provider, which must be seen nowhere else.
pub(crate) fn key_of(provider: &str) -> String {
    format!("canary-{provider}-key")
}

impl Lab {
    /// Research with keys for these providers, which are asked in this order.
    pub(crate) async fn start(routing: &str) -> Self {
        Self::with(routing, |_| {}).await
    }

    /// Research with changed settings.
    pub(crate) async fn with(routing: &str, change: impl FnOnce(&mut Settings)) -> Self {
        Self::with_sessions(routing, TTL, change).await
    }

    /// Research with changed settings and a lifetime of sessions.
    pub(crate) async fn with_sessions(
        routing: &str,
        ttl: Duration,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let providers = Providers::start().await;
        let mut settings = Settings::default();
        settings.search.routing = parse_routing(routing).unwrap();
        for known in ProviderName::ALL {
            let name = known.as_str();
            let asked = routing.contains(name);
            let provider = ProviderSettings {
                url: Some(providers.url(name).parse().unwrap())
                    .filter(|_| asked || name != "searxng"),
                key: asked.then(|| key_of(name).into()),
                cx: (name == "google").then(|| "engine-1".to_owned()),
                ..ProviderSettings::default()
            };
            settings.search.providers.insert(*known, provider);
        }
        change(&mut settings);
        let (clock, guards) = (Clock::manual(NOW), Arc::default());
        let research = open(settings, &clock, ttl, &guards).await;
        Self { providers, clock, research, guards, cancel: CancellationToken::new() }
    }

    /// Replaces the tools, as adapters do when the settings change. Caches and sessions are new.
    pub(crate) async fn reload(&mut self, change: impl FnOnce(&mut Settings)) {
        let mut settings = self.research.settings().clone();
        change(&mut settings);
        self.research = open(settings, &self.clock, TTL, &self.guards).await;
    }

    /// A call of this tenant and subject.
    pub(crate) fn call<'a>(&'a self, tenant: &'a str, subject: &'a str) -> Call<'a> {
        Call { tenant, subject, progress: &|_| {}, cancel: &self.cancel }
    }

    /// A call of someone.
    pub(crate) fn any(&self) -> Call<'_> {
        self.call("acme", "ann")
    }

    pub(crate) async fn search(&self, query: &str) -> Result<WebSearchOutput, Failure> {
        self.research.web_search(WebSearch::new(query), &self.any()).await
    }

    /// How many requests a provider received.
    pub(crate) fn count(&self, provider: &str) -> usize {
        self.providers.requests(provider).len()
    }

    pub(crate) fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }
}

async fn open(settings: Settings, clock: &Clock, ttl: Duration, guards: &Arc<Guards>) -> Research {
    let runner = Arc::new(Runner::with_launcher(READER).await.unwrap());
    Research::new(Parts {
        client: Client::new(AddressPolicy::default()).unwrap(),
        browser: None,
        readers: Readers::with_program(runner, Bounds::default(), READER.into()),
        settings,
        clock: clock.clone(),
        caches: Arc::new(MemoryCaches::new(clock.clone(), 10_000_000)),
        sessions: Arc::new(MemorySessions::with_limits(clock.clone(), ttl, MAX_SESSIONS)),
        guards: Arc::clone(guards),
    })
}

/// Changes the settings of one provider.
pub(crate) fn provider(settings: &mut Settings, name: ProviderName) -> &mut ProviderSettings {
    settings.search.providers.get_mut(&name).unwrap()
}
