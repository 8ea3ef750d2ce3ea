//! Servers behind URLs: streamable HTTP in both eras, and HTTP+SSE, over one or several replicas.

mod channel;
mod exchange;
mod headers;
mod health;
mod listen;
mod listener;
mod opening;
mod reading;
mod replica;
mod session;
mod tokens;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use egress::http::Scope;
use server_entry::ServerConfig;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, interval, timeout};
use tokio_util::sync::CancellationToken;

use crate::backoff::Backoff;
use crate::caller::Caller;
use crate::context::ServerContext;
use crate::deps::Deps;
use crate::era::Era;
use crate::error::{AskResult, TransportError};
use crate::personal::Outdated;
use crate::questions;
use crate::random;
use crate::rpc::{Params, RpcRequest};
use crate::status::{ReplicaStatus, State, Status};
use crate::timing::Timing;
use exchange::Exchange;
use replica::{Protocol, Replica};

/// How long closing a server's sessions may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// The timeout of calls where the config has none.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// One HTTP server with all its replicas.
pub(crate) struct HttpTransport {
    replicas: Vec<Arc<Replica>>,
    exchange: Arc<Exchange>,
    timing: Timing,
    context: Arc<ServerContext>,
    /// A call that is dropped after this time counts as a failure of the replica.
    call_timeout: Duration,
    /// A replica that sends notifications of changes has become known.
    notifier_found: Notify,
    /// A replica has stopped answering.
    replica_failed: Notify,
    stop: CancellationToken,
}

impl HttpTransport {
    pub(crate) fn new(
        name: &str,
        config: &Arc<ServerConfig>,
        deps: &Deps,
        context: &Arc<ServerContext>,
    ) -> Self {
        let mut policy = deps.http.policy().clone();
        for rule in config.rules() {
            policy = policy.allowing(rule);
        }
        let client = deps.http.with_policy(policy);
        let tokens = tokens::for_server(name, config, deps);
        let scope = Scope::origins(config.all_urls());
        let common = headers::common(config);
        let exchange = Arc::new(Exchange::new(client, common, tokens, scope, context));
        let protocol = Protocol::of(config);
        let replica = |url| Arc::new(Replica::new(url, &exchange, protocol));
        Self {
            replicas: config.all_urls().map(replica).collect(),
            exchange,
            timing: deps.timing,
            context: Arc::clone(context),
            call_timeout: config.timeout.unwrap_or(DEFAULT_TIMEOUT),
            notifier_found: Notify::new(),
            replica_failed: Notify::new(),
            stop: CancellationToken::new(),
        }
    }

    /// Asks a replica, and a second one if the first does not answer and nothing can happen twice.
    pub(crate) async fn ask(&self, caller: Option<&Caller>, request: &RpcRequest<'_>) -> AskResult {
        let first = self.choose(caller, request, None)?;
        let error = match self.attempt(first, caller, request).await {
            Err(error) => error,
            answer => return answer,
        };
        let again = if self.replicas.len() > 1 {
            error.was_never_seen() || (request.repeatable && error.before_answer())
        } else {
            // The same server over another connection: an idle one may have been closed.
            request.repeatable && error.is_lost()
        };
        if !again {
            return Err(error);
        }
        let avoid = (self.replicas.len() > 1).then_some(first);
        match self.choose(caller, request, avoid) {
            Ok(second) => self.attempt(second, caller, request).await,
            Err(_) => Err(error),
        }
    }

    async fn attempt(
        &self,
        index: usize,
        caller: Option<&Caller>,
        request: &RpcRequest<'_>,
    ) -> AskResult {
        let replica = &self.replicas[index];
        let mut attempt = Attempt::begin(self, replica, request);
        let notified_before = replica.notifies_changes();
        let outcome = replica.ask(caller, request).await;
        attempt.end(outcome.as_ref().err());
        if !notified_before && replica.notifies_changes() {
            self.notifier_found.notify_one();
        }
        outcome
    }

    /// Picks two replicas at random and takes the less busy one. A caller stays with the replica that has its session.
    fn choose(
        &self,
        caller: Option<&Caller>,
        request: &RpcRequest<'_>,
        avoid: Option<usize>,
    ) -> Result<usize, TransportError> {
        let now = Instant::now();
        if let [only] = &self.replicas[..] {
            return if request.own || only.health().admits(now) { Ok(0) } else { Err(self.down()) };
        }
        let open =
            |index: &usize| Some(*index) != avoid && self.replicas[*index].health().admits(now);
        let candidates: Vec<usize> = (0..self.replicas.len()).filter(open).collect();
        let home = caller.and_then(|caller| {
            candidates.iter().copied().find(|index| self.replicas[*index].has_session_of(caller))
        });
        if let Some(home) = home {
            return Ok(home);
        }
        match &candidates[..] {
            // The gateway's own requests find out whether a server is back.
            [] if request.own && avoid.is_none() => Ok(random::below(self.replicas.len())),
            [] => Err(self.down()),
            [only] => Ok(*only),
            several => {
                let one = random::below(several.len());
                let other = (one + 1 + random::below(several.len() - 1)) % several.len();
                let load =
                    |at: usize| self.replicas[several[at]].outstanding.load(Ordering::Relaxed);
                Ok(several[if load(other) < load(one) { other } else { one }])
            }
        }
    }

    /// Whether a caller has sessions of its own: the modern era has none.
    pub(crate) fn has_sessions_for(&self, caller: &Caller) -> bool {
        let info =
            self.replicas.iter().find_map(|replica| replica.info().map(|info| (replica, info)));
        info.is_some_and(|(replica, info)| {
            info.era == Era::Legacy || replica.may_speak_legacy(&info) && caller.is_asked_directly()
        })
    }

    /// Asks in the session that a caller has, and opens none.
    pub(crate) async fn ask_own(&self, caller: &Caller, request: &RpcRequest<'_>) -> AskResult {
        match self.replicas.iter().find(|replica| replica.has_session_of(caller)) {
            Some(replica) => replica.ask_legacy(Some(caller), request).await,
            None => Err(TransportError::Expired),
        }
    }

    /// Keeps the session of a caller, subscribed to the resources that are watched there, until there are none.
    pub(crate) async fn keep(
        &self,
        caller: &Caller,
        watched: watch::Receiver<BTreeSet<String>>,
    ) -> Result<(), TransportError> {
        let request = RpcRequest::plain("resources/subscribe", Params::None);
        let replica = &self.replicas[self.choose(Some(caller), &request, None)?];
        listen::keep(replica, caller, watched).await
    }

    fn down(&self) -> TransportError {
        let why = self.last_error().unwrap_or_default().into();
        TransportError::Down { why, until: self.retry_at() }
    }

    fn last_error(&self) -> Option<String> {
        self.replicas.iter().find_map(|replica| replica.last_error())
    }

    fn retry_at(&self) -> Option<Instant> {
        self.replicas.iter().filter_map(|replica| replica.health().opens_at()).min()
    }

    pub(crate) fn era(&self) -> Option<Era> {
        self.replicas.iter().find_map(|replica| replica.info()).map(|info| info.era)
    }

    pub(crate) async fn list_due(&self, wait: Duration) {
        let _ = timeout(wait, self.replica_failed.notified()).await;
    }

    pub(crate) async fn maintain(&self) {
        let work = async {
            tokio::join!(
                self.follow_changes(),
                self.check_health(),
                self.close_idle_sessions(),
                self.list_after_logins(),
            )
        };
        self.stop.run_until_cancelled(work).await;
    }

    /// Whether the lists may show what only one of several people can see.
    pub(crate) fn lists_with_personal_token(&self) -> bool {
        self.exchange.tokens().is_some_and(|tokens| tokens.uses_one_of_many())
    }

    /// Lists the tools again after each login, which may be the first.
    async fn list_after_logins(&self) {
        let Some(tokens) = self.exchange.tokens() else { return };
        loop {
            tokens.next_login().await;
            self.context.changed.notify_one();
        }
    }

    /// Follows notifications for as long as a replica sends them.
    async fn follow_changes(&self) {
        let mut backoff = Backoff::new(self.timing.backoff, self.timing.relist);
        loop {
            let Some(replica) = self.replicas.iter().find(|replica| replica.notifies_changes())
            else {
                self.notifier_found.notified().await;
                continue;
            };
            let mut opened = false;
            let ended = listen::follow(replica, &self.context.watched, || opened = true).await;
            tracing::debug!(?ended, opened, "the stream of notifications ended");
            if opened {
                // Changes after the end of the stream were not announced.
                self.context.changed.notify_one();
                backoff.reset();
            }
            tokio::time::sleep(backoff.next()).await;
        }
    }

    /// Notices a dead replica before a call is lost on it, and a recovered one before it is needed.
    async fn check_health(&self) {
        if self.replicas.len() < 2 {
            // A single server is listed at intervals, which shows whether it is there.
            return;
        }
        let mut ticks = interval(self.timing.health);
        loop {
            ticks.tick().await;
            let checks = self.replicas.iter().map(|replica| async {
                let pinged = timeout(self.timing.health_timeout, replica.ping()).await;
                let pinged =
                    pinged.unwrap_or(Err(TransportError::TimedOut(self.timing.health_timeout)));
                self.record(replica, pinged.err().as_ref(), true);
            });
            futures_util::future::join_all(checks).await;
        }
    }

    async fn close_idle_sessions(&self) {
        let mut ticks = interval((self.timing.idle / 2).max(Duration::from_millis(10)));
        loop {
            ticks.tick().await;
            for replica in &self.replicas {
                replica.close_idle(self.timing.idle).await;
            }
        }
    }

    /// Records how a request ended. A call may fail because of its input; a failed request of the gateway itself means
    /// that the server cannot be used.
    fn record(&self, replica: &Replica, error: Option<&TransportError>, own: bool) {
        match error {
            Some(error) if error.is_unhealthy() => {
                replica.note_error(Some(error));
                if replica.health().record_failure(Instant::now()) {
                    self.replica_failed.notify_one();
                }
            }
            other => {
                replica.note_error(other.filter(|_| own));
                replica.health().record_answer();
            }
        }
    }

    /// Closes the sessions that use secrets that are out of date.
    pub(crate) async fn end_outdated(&self, outdated: &Outdated<'_>) {
        let closing = self.replicas.iter().map(|replica| replica.close_outdated(outdated));
        let _ = timeout(CLOSE_TIMEOUT, futures_util::future::join_all(closing)).await;
    }

    pub(crate) fn abandon(&self) {
        self.stop.cancel();
    }

    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        let closing = self.replicas.iter().map(|replica| replica.close_all());
        let _ = timeout(CLOSE_TIMEOUT, futures_util::future::join_all(closing)).await;
    }

    pub(crate) fn describe(&self, status: &mut Status) {
        let now = Instant::now();
        let is_sse = |replica: &Arc<Replica>| replica.is_sse.load(Ordering::Relaxed);
        status.transport = if self.replicas.iter().all(is_sse) { "sse" } else { "http" };
        status.replicas = self.replicas.iter().map(|replica| replica.status()).collect();
        status.sessions = self.replicas.iter().map(|replica| replica.sessions()).sum();
        status.odd_messages = self.exchange.unexpected_messages.load(Ordering::Relaxed);
        let info = self.replicas.iter().find_map(|replica| replica.info());
        let admitted = self.replicas.iter().any(|replica| replica.health().admits(now));
        let failed = status.replicas.iter().all(|replica| replica.last_error.is_some());
        let partly = |replica: &ReplicaStatus| replica.last_error.is_some() || !replica.admitted;
        status.state = match info {
            _ if !admitted || failed => State::Down,
            None => State::Starting,
            Some(_) if status.replicas.iter().any(partly) => State::Degraded,
            Some(_) => State::Ready,
        };
        if let Some(info) = info {
            status.era = Some(info.era);
            status.server.clone_from(&info.server);
            status.capabilities.clone_from(&info.capabilities);
        }
        if matches!(status.state, State::Down | State::Degraded) {
            status.last_error = self.last_error();
            status.retry_in = self.retry_at().map(|at| at.saturating_duration_since(now));
        }
    }
}

/// One request in progress at one replica.
struct Attempt<'a> {
    transport: &'a HttpTransport,
    replica: &'a Replica,
    began: Instant,
    own: bool,
    /// The server may have waited for a person, which does not count against it.
    may_ask: bool,
    ended: bool,
}

impl<'a> Attempt<'a> {
    fn begin(transport: &'a HttpTransport, replica: &'a Replica, request: &RpcRequest<'_>) -> Self {
        let began = Instant::now();
        replica.outstanding.fetch_add(1, Ordering::Relaxed);
        replica.health().record_start(began);
        let may_ask = request.client.is_some_and(|client| questions::can_any(&**client));
        Self { transport, replica, began, own: request.own, may_ask, ended: false }
    }

    fn end(&mut self, error: Option<&TransportError>) {
        self.ended = true;
        self.transport.record(self.replica, error, self.own);
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.replica.outstanding.fetch_sub(1, Ordering::Relaxed);
        if self.ended {
            return;
        }
        // Dropped close to the deadline, the server hangs; dropped earlier, the caller cancelled. The gateway drops its own
        // requests only when they hang.
        let waited = self.began.elapsed();
        if self.own || !self.may_ask && waited >= self.transport.call_timeout.mul_f32(0.9) {
            self.transport.record(self.replica, Some(&TransportError::TimedOut(waited)), self.own);
        } else {
            self.replica.health().record_unknown();
        }
    }
}
