//! The built-in web tools, as the config has them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use config::{Config, ProviderKeys, Switch, WEB_RESEARCH};
use egress::browser::{Browser, Options};
use egress::http::Client;
use egress::process::Runner;
use proto::Clock;
use reading::Readers;
use research::{Caches, MemoryCaches, MemorySessions, Research, Sessions, tools};
use search::router::Guards;
use strip::{Catalog, Tool};

use crate::current::Current;
use crate::settings::settings;
use crate::tool::WebTool;

/// The catalog's source of these tools.
pub const SOURCE: &str = "built-in web research";

/// What the tools work with.
pub struct Parts {
    pub catalog: Arc<Catalog>,
    pub client: Client,
    pub runner: Arc<Runner>,
    pub readers: Readers,
    pub clock: Clock,
}

/// Publishes the web tools as the config has them. Starts no process and opens no connection before the first call.
pub struct WebTools {
    parts: Parts,
    state: Mutex<State>,
}

/// What is kept when the config changes.
#[derive(Default)]
struct State {
    applied: Option<Applied>,
    browser: Option<(Option<Arc<Browser>>, BrowserChoice)>,
    caches: Option<(Arc<dyn Caches>, usize)>,
    sessions: Option<(Arc<dyn Sessions>, config::ResearchSessions)>,
    guards: Arc<Guards>,
    /// None while the tools are off.
    current: Option<Arc<Current>>,
}

#[derive(PartialEq)]
struct Applied {
    research: config::Research,
    egress: config::Egress,
    replaced: bool,
    keys: ProviderKeys,
    variables: BTreeMap<String, String>,
}

#[derive(PartialEq)]
struct BrowserChoice {
    browser: config::Browser,
    egress: config::Egress,
}

impl WebTools {
    pub fn new(parts: Parts) -> Self {
        Self { parts, state: Mutex::default() }
    }

    /// Publishes the tools, or none, if the config or the variables, those of `.env` included, differ from those before.
    pub async fn apply(
        &self,
        config: &Config,
        keys: &ProviderKeys,
        variables: &BTreeMap<String, String>,
    ) {
        let applied = Applied {
            research: config.research.clone(),
            egress: config.egress.clone(),
            replaced: config.servers.contains_key(WEB_RESEARCH),
            keys: keys.clone(),
            variables: variables.clone(),
        };
        let closed = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.applied.as_ref() == Some(&applied) {
                return;
            }
            let before = state.browser.as_ref().and_then(|(browser, _)| browser.clone());
            let offered = if applied.replaced || config.research.tools == Switch::Off {
                state.browser = None;
                state.current = None;
                Vec::new()
            } else {
                self.tools(&mut state, config, &applied)
            };
            self.parts.catalog.publish(SOURCE, offered);
            state.applied = Some(applied);
            let now = state.browser.as_ref().and_then(|(browser, _)| browser.as_ref());
            before.filter(|before| !now.is_some_and(|now| Arc::ptr_eq(before, now)))
        };
        if let Some(browser) = closed {
            browser.close().await;
        }
    }

    /// What the tools work with; none while they are off.
    pub fn research(&self) -> Option<Arc<Research>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.current.as_ref().map(|current| current.get())
    }

    fn tools(&self, state: &mut State, config: &Config, applied: &Applied) -> Vec<Arc<dyn Tool>> {
        let (settings, faults) = settings(&config.research, &applied.keys, &applied.variables);
        for fault in faults {
            tracing::warn!("{fault}");
        }
        let client = self.parts.client.clone();
        let total = settings.timeouts.total;
        let browser = self.browser(state, config, &client);
        let (readers, clock) = (self.parts.readers.clone(), self.parts.clock.clone());
        let caches = self.caches(state, config.research.cache.0);
        let sessions = self.sessions(state, &config.research.sessions);
        let guards = Arc::clone(&state.guards);
        let assemble = move |settings| research::Parts {
            client: client.clone(),
            browser: browser.clone(),
            readers: readers.clone(),
            settings,
            clock: clock.clone(),
            caches: Arc::clone(&caches),
            sessions: Arc::clone(&sessions),
            guards: Arc::clone(&guards),
        };
        let folder = config.research.lenses.clone();
        let current = Arc::new(Current::new(settings, folder, Box::new(assemble)));
        state.current = Some(Arc::clone(&current));
        let tool = |listing| Arc::new(WebTool::new(listing, Arc::clone(&current))) as Arc<dyn Tool>;
        tools::all(total).into_iter().map(tool).collect()
    }

    fn browser(&self, state: &mut State, config: &Config, client: &Client) -> Option<Arc<Browser>> {
        let choice = BrowserChoice {
            browser: config.research.browser.clone(),
            egress: config.egress.clone(),
        };
        if let Some((browser, known)) = &state.browser
            && *known == choice
        {
            return browser.clone();
        }
        let program = match &choice.browser {
            config::Browser::Auto => Some(None),
            config::Browser::Off => None,
            config::Browser::Program(path) => Some(Some(path.clone())),
        };
        let browser = program.map(|program| {
            let options = Options::new(client.clone(), Arc::clone(&self.parts.runner));
            Arc::new(Browser::new(Options { program, ..options }))
        });
        state.browser = Some((browser.clone(), choice));
        browser
    }

    fn caches(&self, state: &mut State, bytes: usize) -> Arc<dyn Caches> {
        match &state.caches {
            Some((caches, known)) if *known == bytes => Arc::clone(caches),
            _ => {
                let caches: Arc<dyn Caches> =
                    Arc::new(MemoryCaches::new(self.parts.clock.clone(), bytes));
                state.caches = Some((Arc::clone(&caches), bytes));
                caches
            }
        }
    }

    fn sessions(&self, state: &mut State, limits: &config::ResearchSessions) -> Arc<dyn Sessions> {
        match &state.sessions {
            Some((sessions, known)) if known == limits => Arc::clone(sessions),
            _ => {
                let (clock, max) = (self.parts.clock.clone(), limits.max.get() as usize);
                let sessions: Arc<dyn Sessions> =
                    Arc::new(MemorySessions::with_limits(clock, limits.ttl.0, max));
                state.sessions = Some((Arc::clone(&sessions), limits.clone()));
                sessions
            }
        }
    }

    /// Ends the browser and the readers.
    pub async fn close(&self) {
        let browser = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.browser.take().and_then(|(browser, _)| browser)
        };
        if let Some(browser) = browser {
            browser.close().await;
        }
        self.parts.readers.close();
    }
}
