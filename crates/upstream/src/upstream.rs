mod own_lists;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use auth::client::Holder;
use operations::servers::ServerLogs;
use proto::{Failure, Principal, clean};
use serde_json::{Map, Value};
use server_entry::{InvalidKey, PersonalSecret, ServerConfig};
use strip::Tool;
use strip::servers::Offering;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::allowance::Allowance;
use crate::backoff::Backoff;
use crate::caller::Caller;
use crate::deps::{Deps, OtherOfferings, ToolList};
use crate::error::{TransportError, without_places};
use crate::instances::Announced;
use crate::journal::Journal;
use crate::listing::{self, Offer};
use crate::rpc::{Params, RpcRequest};
use crate::server::Server;
use crate::status::{ListFault, State, Status};
use crate::tool::UpstreamTool;

/// How long calls of a retired server may take.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(60);

/// How often a retired server is checked for calls in progress.
const DRAIN_POLL: Duration = Duration::from_millis(100);

/// How often a server that is being started is checked by calls that wait for it.
const START_POLL: Duration = Duration::from_millis(50);

/// How long a registration waits for the tools of a moved server to be offered from its new URL.
const MOVE_TIMEOUT: Duration = Duration::from_secs(2);

/// One server: connected in the background, listed, and offered to the catalog.
pub struct Upstream {
    server: Arc<Server>,
    deps: Deps,
    listed: Mutex<Listed>,
    /// Whether there is a list, and its tools are in the catalog.
    offered: watch::Sender<bool>,
    /// Why the config entry cannot be used.
    faults: Vec<InvalidKey>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// The state that a server takes over from the one that it replaces.
#[derive(Default)]
pub(crate) struct Before {
    pub(crate) list: Option<Arc<ToolList>>,
    pub(crate) journal: Option<Arc<Journal>>,
}

/// Why the tools could not be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListError {
    /// A person has to sign in.
    SignIn,
    Other,
}

/// The last known list.
#[derive(Default)]
struct Listed {
    tools: Vec<Arc<UpstreamTool>>,
    faults: Vec<ListFault>,
    raw: Option<Arc<ToolList>>,
    /// Set if the last attempt to list failed.
    error: Option<ListError>,
}

impl Upstream {
    pub(crate) fn start(
        name: &str,
        config: ServerConfig,
        deps: &Deps,
        before: Before,
    ) -> Arc<Self> {
        let faults = config.faults(name);
        let Before { list, journal } = before;
        let journal = journal.unwrap_or_else(|| Arc::new(Journal::new(name, deps.clock.clone())));
        let server = Arc::new(Server::new(name, config, deps, journal));
        let upstream = Arc::new(Self {
            server,
            deps: deps.clone(),
            listed: Mutex::default(),
            offered: watch::Sender::new(false),
            faults,
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        });
        if let Some(why) = upstream.why_unusable() {
            upstream.server.context.journal.note_error(why);
        }
        if upstream.is_used() {
            let lister = Arc::clone(&upstream);
            upstream.tasks.spawn(async move { lister.keep_listing(list).await });
            let server = Arc::clone(&upstream.server);
            upstream.tasks.spawn(async move { server.transport.maintain().await });
            upstream.tasks.spawn(Arc::clone(&upstream).keep_own_lists());
        }
        upstream
    }

    /// The server's name.
    pub fn name(&self) -> &str {
        &self.server.name
    }

    pub(crate) fn config(&self) -> &ServerConfig {
        &self.server.config
    }

    fn is_used(&self) -> bool {
        let config = &self.server.config;
        self.faults.is_empty() && !config.disabled && config.missing.is_empty()
    }

    fn listed(&self) -> MutexGuard<'_, Listed> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last_list(&self) -> Option<Arc<ToolList>> {
        self.listed().raw.clone()
    }

    /// The last list and the journal, for the server that replaces this one.
    pub(crate) fn inheritance(&self) -> Before {
        Before { list: self.last_list(), journal: Some(Arc::clone(&self.server.context.journal)) }
    }

    /// Adds a line to the server's log.
    pub(crate) fn note(&self, line: &str) {
        self.server.context.journal.note(None, line.to_owned());
    }

    /// Lines of the server's log after a number.
    pub fn log_lines(&self, after: Option<u64>, limit: usize) -> ServerLogs {
        self.server.context.journal.lines(after, limit)
    }

    /// The last list, with the origin of this config.
    pub(crate) fn list_for(&self, config: &ServerConfig) -> Option<Arc<ToolList>> {
        let list = self.last_list()?;
        Some(Arc::new(ToolList { origin: config.origin(), ..ToolList::clone(&list) }))
    }

    /// Schedules a new listing of the tools.
    pub(crate) fn request_listing(&self) {
        self.server.context.changed.notify_one();
    }

    /// The link by which a person logs in to the server; none if no login is needed.
    pub async fn login(&self, principal: &Arc<Principal>) -> Result<Option<Arc<str>>, Failure> {
        let server = &self.server;
        let personal = server.personal_values(principal).await?;
        let caller = (!server.config.is_shared())
            .then(|| Caller::new(principal, None).with_personal(personal));
        let params = Map::new();
        let request = RpcRequest::plain("tools/list", Params::Map(&params));
        match server.transport.ask(caller.as_ref(), &request).await {
            Ok(_) => Ok(None),
            Err(TransportError::Login(Some(link))) => Ok(Some(link)),
            Err(error) => {
                // Only the operator logs in here, and needs to know the cause.
                let why =
                    server.context.scrubber.text(&clean::line(&error.to_string())).into_owned();
                let mut failure = server.fail(error);
                failure.message = format!("{}: {why}", failure.message);
                Err(failure)
            }
        }
    }

    /// The server's current state.
    pub fn status(&self) -> Status {
        let server = &self.server;
        let mut status = if self.is_used() {
            server.status()
        } else {
            let (state, reason) = if server.config.disabled {
                (State::Disabled, Some("`disabled: true` in the config".to_owned()))
            } else if self.faults.is_empty() {
                (State::NeedsSecret, self.why_unusable())
            } else {
                (State::Invalid, self.why_unusable())
            };
            Status { state, reason, ..server.describe() }
        };
        let journal = &server.context.journal;
        status.restarts = journal.failures();
        let listed = self.listed();
        status.state = match (status.state, listed.error) {
            (State::Ready | State::Down | State::Starting, Some(ListError::SignIn)) => {
                status.reason = Some(format!("sign in with `powerstrip login {}`", server.name));
                State::NeedsSignIn
            }
            (State::Ready, Some(ListError::Other)) => State::Degraded,
            // None of its tools can be called yet.
            (State::Ready, None) if listed.raw.is_none() => State::Starting,
            (state, _) => state,
        };
        status.tools = listed.tools.len();
        status.faults.extend_from_slice(&listed.faults);
        if let Some(list) = &listed.raw {
            let now = self.deps.clock.unix_ms();
            status.list_age = Some(Duration::from_millis(now.saturating_sub(list.listed_at)));
            status.era = status.era.or(list.era);
        }
        let noted = journal.last_error();
        status.last_error_unix_ms = noted.as_ref().map(|error| error.at_unix_ms);
        let last_error = status.last_error.or(noted.map(|error| error.message));
        // The message may quote the server.
        status.last_error = last_error.map(|error| clean::line(&error));
        if status.state.is_broken() && status.reason.is_none() {
            status.reason.clone_from(&status.last_error);
        }
        status.scrub(&server.context.scrubber);
        status
    }

    /// Why its entry cannot be used, for the operator.
    fn why_unusable(&self) -> Option<String> {
        if self.faults.is_empty() {
            return Some(self.server.config.missing.join("; ")).filter(|why| !why.is_empty());
        }
        let faults: Vec<_> = self.faults.iter().map(ToString::to_string).collect();
        Some(format!(
            "its entry in the config file is wrong: {}; edit it, or remove it with `powerstrip remove {}`",
            faults.join("; "),
            self.name()
        ))
    }

    /// The faults of its entry for callers, without the path of the file.
    pub(crate) fn faults_for_callers(&self) -> String {
        let shown = |fault: &InvalidKey| {
            let message = without_places(&fault.message);
            InvalidKey { place: None, key: fault.key.clone(), message }.to_string()
        };
        self.faults.iter().map(shown).collect::<Vec<_>>().join("; ")
    }

    /// Waits until its tools are in the catalog, as long as it is being started and nothing has failed.
    pub(crate) async fn wait_for_first_list(&self, limit: Duration) {
        let mut offered = self.offered.subscribe();
        let is_starting = || {
            let status = self.status();
            let begins = matches!(status.state, State::Starting | State::Stopped);
            begins && status.list_age.is_none() && status.last_error.is_none()
        };
        let waiting = async {
            while is_starting() {
                let _ = timeout(START_POLL, offered.wait_for(|offered| *offered)).await;
            }
        };
        let _ = timeout(limit, waiting).await;
    }

    /// Lists the tools when the server announces a change, when it comes back, and at intervals.
    async fn keep_listing(&self, before: Option<Arc<ToolList>>) {
        self.restore(before).await;
        let mut backoff = Backoff::new(self.deps.timing.backoff, self.deps.timing.backoff_max);
        let mut wait = Duration::ZERO;
        // Limits the rate for a server that announces changes without pause.
        let mut pauses = interval(self.deps.timing.backoff);
        pauses.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // Limits the rate of announcements without a change.
        let mut unchanged_allowed = Allowance::new(Instant::now());
        let mut not_before = Instant::now();
        loop {
            let known = self.listed().raw.is_some();
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = self.server.transport.list_due(known, wait) => {}
                () = self.server.context.changed.notified() => {}
            }
            let limit = self.deps.timing.list;
            let fetching = async {
                sleep_until(not_before).await;
                pauses.tick().await;
                let announced = self.server.context.take_announced();
                let tools = timeout(limit, listing::fetch(&self.server.transport, None)).await;
                let tools = tools.unwrap_or(Err(TransportError::TimedOut(limit)))?;
                let other = self.list_other(&tools).await;
                Ok::<_, TransportError>((announced, tools, other))
            };
            let Some(fetched) = self.stop.run_until_cancelled(fetching).await else { return };
            match fetched {
                Ok((announced, tools, other)) => {
                    let unchanged = announced.without(self.accept(tools, other).await);
                    self.pass_on(None, unchanged);
                    if unchanged.any() {
                        let now = Instant::now();
                        not_before = now + unchanged_allowed.take(now);
                    }
                    self.listed().error = None;
                    let is_process = self.server.config.command.is_some();
                    let quiet = if is_process { self.deps.timing.stable } else { Duration::ZERO };
                    self.server.context.journal.is_up(quiet);
                    backoff.reset();
                    wait = self.deps.timing.relist;
                }
                Err(error) => {
                    tracing::debug!(server = self.name(), %error, "the tools cannot be listed");
                    self.note_unlisted(&error);
                    wait = backoff.next();
                }
            }
        }
    }

    fn note_unlisted(&self, error: &TransportError) {
        let journal = &self.server.context.journal;
        let sign_in = matches!(error, TransportError::Login(_));
        self.listed().error = Some(if sign_in { ListError::SignIn } else { ListError::Other });
        match error {
            // The supervisor of its process has noted why.
            TransportError::Down { .. } => {}
            _ => journal.is_down(&self.describe_listing_error(error)),
        }
    }

    /// Why the tools cannot be listed. No person's secret is used for it, which may be the reason.
    fn describe_listing_error(&self, error: &TransportError) -> String {
        let config = &self.server.config;
        let given = |key: &String| config.env.contains_key(key) || config.headers.contains_key(key);
        let personal = config.personal.env.iter().chain(&config.personal.headers);
        match personal.into_iter().find(|(key, _)| !given(key)) {
            Some((_, PersonalSecret { secret, .. })) => format!(
                "{error}; if it lists its tools only with a secret, store one for that with `powerstrip secret set {secret}`"
            ),
            None => error.to_string(),
        }
    }

    /// Ends the processes and sessions that use earlier secrets of this person, or secrets of any.
    pub(crate) async fn end_sessions_of(&self, person: Option<&Holder>) {
        if !self.server.config.personal.is_empty() {
            let outdated = self.server.context.personal.outdated(person).await;
            self.server.transport.end_outdated(&outdated).await;
        }
    }

    /// Lists what the server offers in addition to tools; what does not arrive in time stays as it was.
    async fn list_other(&self, tools: &[Arc<Value>]) -> OtherOfferings {
        let before = self.listed().raw.as_ref().map(|list| list.other.clone()).unwrap_or_default();
        let stated = self.status().capabilities.unwrap_or_default();
        let fetching =
            listing::fetch_other(self.name(), &self.server.transport, None, &stated, &before);
        let other = timeout(self.deps.timing.list, fetching).await.unwrap_or(before);
        if self.server.transport.lists_with_personal_token() {
            // Other callers must not see what one person's token shows.
            return OtherOfferings {
                capabilities: other.capabilities,
                ..OtherOfferings::default()
            };
        }
        let OtherOfferings { prompts, resources, templates, claims, .. } = &other;
        let (apps, now) = (listing::apps(tools), self.deps.offered_at());
        let claims = claims.renew(prompts, resources, templates, &apps, now);
        OtherOfferings { claims, ..other }
    }

    /// Offers what was listed by an earlier gateway, or by the same server under an earlier config.
    async fn restore(&self, before: Option<Arc<ToolList>>) {
        let stored = match before {
            Some(list) => Some(list),
            None => self.deps.lists.load(self.name()).await.map(Arc::new),
        };
        if let Some(list) = stored.filter(|list| list.origin == self.server.config.origin()) {
            self.server.transport.expect(list.era);
            self.offer(list).await;
        }
    }

    /// Offers a new list, and returns what has changed in it.
    async fn accept(&self, tools: Vec<Arc<Value>>, other: OtherOfferings) -> Announced {
        let list = Arc::new(ToolList {
            tools,
            listed_at: self.deps.clock.unix_ms(),
            era: self.status().era,
            origin: self.server.config.origin(),
            other,
        });
        let known = self.last_list();
        let changed = known.as_ref().map_or(Announced::ALL, |known| known.changes(&list));
        if !changed.tools {
            self.offer_other(&list);
            self.listed().raw = Some(Arc::clone(&list));
        } else {
            self.offer(Arc::clone(&list)).await;
        }
        self.deps.lists.save(self.name(), &list).await;
        changed
    }

    /// Publishes what the server offers in addition to tools.
    fn offer_other(&self, list: &ToolList) {
        let other = &list.other;
        let offering = Offering {
            prompts: other.prompts.clone(),
            resources: other.resources.clone(),
            templates: other.templates.clone(),
            apps: listing::apps(&list.tools),
            capabilities: other.capabilities.clone(),
            claims: other.claims.clone(),
            prefix: self.server.config.prefix,
            announced: self.server.config.is_announced(),
        };
        if **self.server.offering.load() != offering {
            self.server.offering.store(Arc::new(offering));
            self.deps.servers.publish(Arc::clone(&self.server) as Arc<dyn strip::servers::Server>);
        }
    }

    /// Puts a list into the catalog. Compiling many schemas takes long, so it runs on a blocking thread.
    async fn offer(&self, list: Arc<ToolList>) {
        let (server, raw) = (Arc::clone(&self.server), Arc::clone(&list));
        let before = self.listed().tools.clone();
        let made = tokio::task::spawn_blocking(move || Offer::of(&raw.tools, &server, &before));
        let Ok(Offer { tools, faults }) = made.await else { return };
        for fault in &faults {
            tracing::warn!(
                server = self.name(),
                tool = fault.tool,
                "not offered: {}",
                fault.reason
            );
        }
        // Published before the tools, so that a client that sees the tools finds the rest too.
        self.offer_other(&list);
        let offered = tools.iter().map(|tool| Arc::clone(tool) as Arc<dyn Tool>).collect();
        let (server, publish) = (Arc::clone(&self.server), Arc::clone(&self.deps.publish));
        // The only error is a panic of the catalog, which the panic hook has reported.
        let _ = tokio::task::spawn_blocking(move || publish(&server.name, offered)).await;
        // Set last: where there is a list, its tools are in the catalog.
        *self.listed() = Listed { tools, faults, raw: Some(list), error: None };
        self.offered.send_replace(true);
    }

    /// Waits until its tools are in the catalog, for a limited time.
    pub(crate) async fn wait_until_offered(&self) {
        let mut offered = self.offered.subscribe();
        let _ = timeout(MOVE_TIMEOUT, offered.wait_for(|offered| *offered)).await;
    }

    /// Begins to end everything, without waiting for it.
    pub(crate) fn abandon(&self) {
        self.stop.cancel();
        self.server.suspended.clear();
        self.server.transport.abandon();
    }

    /// Stops publishing to the catalog; calls still go through.
    pub(crate) async fn retire(&self) {
        self.abandon();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Ends the sessions of a retired server once its last call has ended, or after a timeout.
    pub(crate) async fn drain(&self) {
        let busy = || self.status().replicas.iter().any(|replica| replica.outstanding > 0);
        let deadline = Instant::now() + DRAIN_TIMEOUT;
        while busy() && Instant::now() < deadline {
            sleep(DRAIN_POLL).await;
        }
        self.server.transport.stop().await;
    }

    /// Ends everything that was started for the server. Its tools stay in the catalog.
    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        self.server.suspended.clear();
        self.server.transport.stop().await;
        self.tasks.close();
        self.tasks.wait().await;
    }
}
