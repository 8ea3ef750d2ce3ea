use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use proto::{Principal, clean};
use serde_json::{Map, Value};
use strip::servers::Offering;
use strip::{Failure, Tool};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::backoff::Backoff;
use crate::broken::Broken;
use crate::config::ServerConfig;
use crate::desk::Desk;
use crate::link::{Link, News};
use crate::listing::{self, ListFault, Offer};
use crate::rpc::{Ask, Params};
use crate::status::{State, Status};
use crate::tool::UpstreamTool;
use crate::who::Who;
use crate::{Beside, Deps, Era, ToolList};

/// How long calls of a retired server may take.
const LAST_CALLS: Duration = Duration::from_secs(60);

/// How long whoever redeploys a server waits for its tools to be called at the new place.
const TAKING_OVER: Duration = Duration::from_secs(2);

const LOOK: Duration = Duration::from_millis(100);

/// What a server's tools need to be called.
pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) link: Link,
    pub(crate) news: Arc<News>,
    /// What it offers beside tools.
    pub(crate) offering: ArcSwap<Offering>,
    pub(crate) desk: Desk,
    /// For work that outlives the request that began it.
    pub(crate) myself: Weak<Self>,
    last_error: Mutex<Option<String>>,
}

impl Shared {
    /// Notes why a call got no answer, and says it to the caller in words that give nothing away.
    pub(crate) fn failed(&self, broken: Broken) -> Failure {
        if !matches!(broken, Broken::Down { .. }) {
            self.note(broken.to_string());
        }
        broken.failure(&self.name)
    }

    fn note(&self, error: String) {
        *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }
}

/// One server: connected in the background, listed, and offered to the catalog.
pub struct Upstream {
    shared: Arc<Shared>,
    deps: Deps,
    listed: Mutex<Listed>,
    /// Whether there is a list, and its tools are in the catalog.
    offered: watch::Sender<bool>,
    /// Why the config entry cannot be used.
    fault: Option<String>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// The last known list.
#[derive(Default)]
struct Listed {
    tools: Vec<Arc<UpstreamTool>>,
    faults: Vec<ListFault>,
    raw: Option<Arc<ToolList>>,
}

impl Upstream {
    pub(crate) fn start(
        name: &str,
        config: ServerConfig,
        deps: &Deps,
        before: Option<Arc<ToolList>>,
    ) -> Arc<Self> {
        let config = Arc::new(config);
        let news = Arc::new(News::new(name, &config, &deps.servers));
        let fault = config.check(name).err().map(|fault| fault.to_string());
        let link = Link::new(name, &config, deps, &news);
        let last_error = Mutex::new(fault.clone());
        let shared = Arc::new_cyclic(|myself| Shared {
            myself: Weak::clone(myself),
            name: name.to_owned(),
            config,
            link,
            news,
            offering: ArcSwap::default(),
            desk: Desk::new(deps),
            last_error,
        });
        let upstream = Arc::new(Self {
            shared,
            deps: deps.clone(),
            listed: Mutex::default(),
            offered: watch::Sender::new(false),
            fault,
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        });
        if upstream.is_used() {
            let keeper = Arc::clone(&upstream);
            upstream.tasks.spawn(async move { keeper.keep(before).await });
            let shared = Arc::clone(&upstream.shared);
            upstream.tasks.spawn(async move { shared.link.tend().await });
        }
        upstream
    }

    /// The server's name.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    pub(crate) fn config(&self) -> &ServerConfig {
        &self.shared.config
    }

    fn is_used(&self) -> bool {
        self.fault.is_none() && !self.shared.config.disabled
    }

    fn listed(&self) -> MutexGuard<'_, Listed> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last list, for whoever takes this server's place.
    pub(crate) fn last_list(&self) -> Option<Arc<ToolList>> {
        self.listed().raw.clone()
    }

    /// The last list, as if it came from a server under this config.
    pub(crate) fn list_for(&self, config: &ServerConfig) -> Option<Arc<ToolList>> {
        let list = self.last_list()?;
        Some(Arc::new(ToolList { origin: config.origin(), ..ToolList::clone(&list) }))
    }

    /// Has the tools listed again soon.
    pub(crate) fn list_again(&self) {
        self.shared.news.changed.notify_one();
    }

    /// The link by which somebody logs in to the server; none if they can use it as they are.
    pub async fn login(&self, principal: &Arc<Principal>) -> Result<Option<Arc<str>>, Failure> {
        let shared = &self.shared;
        let who = (!shared.config.is_shared()).then(|| Who::new(principal, None));
        let params = Map::new();
        let ask = Ask::plain("tools/list", Params::Map(&params));
        match shared.link.ask(who.as_ref(), &ask).await {
            Ok(_) => Ok(None),
            Err(Broken::Login(Some(link))) => Ok(Some(link)),
            Err(broken) => Err(shared.failed(broken)),
        }
    }

    /// How the server is.
    pub fn status(&self) -> Status {
        let shared = &self.shared;
        let mut status = Status {
            name: shared.name.clone(),
            transport: if shared.config.command.is_some() { "stdio" } else { "http" },
            state: State::Starting,
            era: None,
            server: None,
            capabilities: None,
            tools: 0,
            list_age: None,
            faults: Vec::new(),
            last_error: None,
            retry_in: None,
            stderr_tail: None,
            replicas: Vec::new(),
            sessions: 0,
            restarts: 0,
            odd_messages: 0,
            prefix: shared.config.prefix,
        };
        if self.is_used() {
            shared.link.describe(&mut status);
        } else {
            status.state = if self.fault.is_some() { State::Faulty } else { State::Disabled };
        }
        let listed = self.listed();
        status.tools = listed.tools.len();
        status.faults.extend_from_slice(&listed.faults);
        if let Some(list) = &listed.raw {
            let now = self.deps.clock.unix_ms();
            status.list_age = Some(Duration::from_millis(now.saturating_sub(list.listed_at)));
            status.era = status.era.or(list.era);
        }
        let noted = shared.last_error.lock().unwrap_or_else(PoisonError::into_inner);
        let last_error = status.last_error.or_else(|| noted.clone());
        // A server's own words may be in it.
        status.last_error = last_error.map(|error| clean::line(&error));
        status.scrub(&shared.news.scrubber);
        status
    }

    /// Lists the tools again and again: when the server says so, when it comes back, and every now and then.
    async fn keep(&self, before: Option<Arc<ToolList>>) {
        self.restore(before).await;
        let mut backoff = Backoff::new(self.deps.timing.backoff, self.deps.timing.backoff_max);
        let mut wait = Duration::ZERO;
        // A server that says without pause that its list has changed is still asked with pauses.
        let mut pauses = interval(self.deps.timing.backoff);
        pauses.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let known = self.listed().raw.is_some();
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = self.shared.link.due(known, wait) => {}
                () = self.shared.news.changed.notified() => {}
            }
            let patience = self.deps.timing.list;
            let fetching = async {
                pauses.tick().await;
                let tools = timeout(patience, listing::fetch(&self.shared.link)).await;
                let tools = tools.unwrap_or(Err(Broken::TimedOut(patience)))?;
                Ok::<_, Broken>((tools, self.beside().await))
            };
            let Some(fetched) = self.stop.run_until_cancelled(fetching).await else { return };
            match fetched {
                Ok((tools, beside)) => {
                    self.take(tools, beside).await;
                    backoff.reset();
                    wait = self.deps.timing.relist;
                }
                Err(broken) => {
                    tracing::debug!(server = self.name(), %broken, "the tools cannot be listed");
                    self.shared.note(broken.to_string());
                    wait = backoff.next();
                }
            }
        }
    }

    /// Asks for what the server offers beside tools; what it does not tell in time stays as it was.
    async fn beside(&self) -> Beside {
        let before = self.listed().raw.as_ref().map(|list| list.beside.clone()).unwrap_or_default();
        let stated = self.status().capabilities.unwrap_or_default();
        let fetching = listing::fetch_beside(&self.shared.link, &stated, &before);
        let beside = timeout(self.deps.timing.list, fetching).await.unwrap_or(before);
        if self.shared.link.is_listed_as_somebody() {
            // What one person's token shows is not for everybody to see.
            return Beside { capabilities: beside.capabilities, ..Beside::default() };
        }
        let Beside { prompts, resources, templates, claims, .. } = &beside;
        let claims = claims.renew(prompts, resources, templates, self.deps.clock.unix_ms());
        Beside { claims, ..beside }
    }

    /// Offers what was listed by an earlier gateway, or by the same server under an earlier config.
    async fn restore(&self, before: Option<Arc<ToolList>>) {
        let stored = match before {
            Some(list) => Some(list),
            None => self.deps.lists.load(self.name()).await.map(Arc::new),
        };
        if let Some(list) = stored.filter(|list| list.origin == self.shared.config.origin()) {
            self.shared.link.expect(list.era);
            self.offer(list).await;
        }
    }

    async fn take(&self, tools: Vec<Arc<Value>>, beside: Beside) {
        let mut status = self.status();
        let era: Option<Era> = status.era.take();
        let list = Arc::new(ToolList {
            tools,
            listed_at: self.deps.clock.unix_ms(),
            era,
            origin: self.shared.config.origin(),
            beside,
        });
        let same = self.listed().raw.as_ref().is_some_and(|known| known.tools == list.tools);
        if same {
            self.offer_beside(&list.beside);
            self.listed().raw = Some(Arc::clone(&list));
        } else {
            self.offer(Arc::clone(&list)).await;
        }
        self.deps.lists.save(self.name(), &list).await;
    }

    /// Puts what there is beside tools where doors find it.
    fn offer_beside(&self, beside: &Beside) {
        let offering = Offering {
            prompts: beside.prompts.clone(),
            resources: beside.resources.clone(),
            templates: beside.templates.clone(),
            capabilities: beside.capabilities.clone(),
            claims: beside.claims.clone(),
            prefix: self.shared.config.prefix,
            announced: self.shared.config.is_announced(),
        };
        if **self.shared.offering.load() != offering {
            self.shared.offering.store(Arc::new(offering));
            self.deps.servers.publish(Arc::clone(&self.shared) as Arc<dyn strip::servers::Server>);
        }
    }

    /// Puts a list into the catalog. Many schemas take their time, which is not the runtime's to lose.
    async fn offer(&self, list: Arc<ToolList>) {
        let (shared, raw) = (Arc::clone(&self.shared), Arc::clone(&list));
        let before = self.listed().tools.clone();
        let made = tokio::task::spawn_blocking(move || {
            Offer::of(&raw.tools, &shared.config, &shared, &before)
        });
        let Ok(Offer { tools, faults }) = made.await else { return };
        for fault in &faults {
            tracing::warn!(
                server = self.name(),
                tool = fault.tool,
                "not offered: {}",
                fault.reason
            );
        }
        // First: whoever sees the tools finds the rest too.
        self.offer_beside(&list.beside);
        let offered = tools.iter().map(|tool| Arc::clone(tool) as Arc<dyn Tool>).collect();
        let (shared, publish) = (Arc::clone(&self.shared), Arc::clone(&self.deps.publish));
        // A failure to publish is a panic of the catalog's own, which it has told already.
        let _ = tokio::task::spawn_blocking(move || publish(&shared.name, offered)).await;
        // Last: whoever sees that there is a list finds its tools in the catalog.
        *self.listed() = Listed { tools, faults, raw: Some(list) };
        self.offered.send_replace(true);
    }

    /// Waits, within bounds, until its tools are in the catalog.
    pub(crate) async fn takes_over(&self) {
        let mut offered = self.offered.subscribe();
        // A server that takes longer takes over a little later.
        let _ = timeout(TAKING_OVER, offered.wait_for(|offered| *offered)).await;
    }

    /// Begins to end everything, without waiting for it.
    pub(crate) fn abandon(&self) {
        self.stop.cancel();
        self.shared.desk.parked.clear();
        self.shared.link.abandon();
    }

    /// Puts nothing into the catalog from now on, while calls still go through.
    pub(crate) async fn retire(&self) {
        self.abandon();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Ends the sessions of a retired server once nobody waits for an answer any more, or has waited for too long.
    pub(crate) async fn leave(&self) {
        let busy = || self.status().replicas.iter().any(|replica| replica.outstanding > 0);
        let deadline = Instant::now() + LAST_CALLS;
        while busy() && Instant::now() < deadline {
            sleep(LOOK).await;
        }
        self.shared.link.stop().await;
    }

    /// Ends everything that was started for the server. Its tools stay in the catalog until somebody takes them out.
    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        self.shared.desk.parked.clear();
        self.shared.link.stop().await;
        self.tasks.close();
        self.tasks.wait().await;
    }
}
