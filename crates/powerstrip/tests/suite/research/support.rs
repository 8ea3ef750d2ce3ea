use serde_json::{Value, json};
use testkit::web::{Behaviour, ProviderResult, Providers, Site};
use testkit::{Gateway, GatewayBuilder};

/// Providers whose APIs a test replaces.
const PROVIDERS: [&str; 6] =
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

    /// The same as variables, for the server.
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
