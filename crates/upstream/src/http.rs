//! Servers behind URLs: streamable HTTP in both eras, over one or several replicas.

mod ears;
mod exchange;
mod headers;
mod health;
mod listen;
mod replica;
mod session;
mod tokens;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use egress::http::Scope;
use tokio::sync::Notify;
use tokio::time::{Instant, interval, timeout};
use tokio_util::sync::CancellationToken;

use crate::broken::Broken;
use crate::config::ServerConfig;
use crate::link::News;
use crate::questions;
use crate::rpc::{Answer, Ask};
use crate::status::{State, Status};
use crate::who::Who;
use crate::{Deps, Era, Timing, chance};
use exchange::Exchange;
use replica::Replica;

/// How long the goodbyes to a server's sessions may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// How long a call takes that nobody gave a time.
const USUAL_PATIENCE: Duration = Duration::from_secs(30);

/// One HTTP server with all its replicas.
pub(crate) struct HttpLink {
    replicas: Vec<Arc<Replica>>,
    exchange: Arc<Exchange>,
    timing: Timing,
    news: Arc<News>,
    /// A call that was given up after this time speaks against the replica.
    patience: Duration,
    /// A replica that tells of changes has just become known.
    met: Notify,
    /// A replica has just stopped answering.
    trouble: Notify,
    stop: CancellationToken,
}

impl HttpLink {
    pub(crate) fn new(
        name: &str,
        config: &Arc<ServerConfig>,
        deps: &Deps,
        news: &Arc<News>,
    ) -> Self {
        let mut policy = deps.http.policy().clone();
        for rule in config.rules() {
            policy = policy.allowing(rule);
        }
        let client = deps.http.with_policy(policy);
        let tokens = tokens::of(name, config, deps);
        let scope = Scope::origins(config.all_urls());
        let common = headers::common(config);
        let exchange = Arc::new(Exchange::new(client, common, tokens, scope, news));
        Self {
            replicas: config.all_urls().map(|url| Arc::new(Replica::new(url, &exchange))).collect(),
            exchange,
            timing: deps.timing,
            news: Arc::clone(news),
            patience: config.timeout.unwrap_or(USUAL_PATIENCE),
            met: Notify::new(),
            trouble: Notify::new(),
            stop: CancellationToken::new(),
        }
    }

    /// Asks a replica; where nothing can have happened twice, a second one if the first does not answer.
    pub(crate) async fn ask(&self, who: Option<&Who>, ask: &Ask<'_>) -> Result<Answer, Broken> {
        let first = self.choose(who, ask, None)?;
        let broken = match self.attempt(first, who, ask).await {
            Err(broken) => broken,
            answer => return answer,
        };
        let again = if self.replicas.len() > 1 {
            broken.never_seen() || (ask.repeatable && broken.before_answer())
        } else {
            // The same server over another connection: the old one may have died of age.
            ask.repeatable && matches!(broken, Broken::Lost(_))
        };
        if !again {
            return Err(broken);
        }
        let avoid = (self.replicas.len() > 1).then_some(first);
        match self.choose(who, ask, avoid) {
            Ok(second) => self.attempt(second, who, ask).await,
            Err(_) => Err(broken),
        }
    }

    async fn attempt(
        &self,
        index: usize,
        who: Option<&Who>,
        ask: &Ask<'_>,
    ) -> Result<Answer, Broken> {
        let replica = &self.replicas[index];
        let mut attempt = Attempt::begin(self, replica, ask);
        let tells = || replica.facts().is_some_and(|facts| facts.tells_changes);
        let told = tells();
        let outcome = replica.ask(who, ask).await;
        attempt.end(outcome.as_ref().err());
        if !told && tells() {
            self.met.notify_one();
        }
        outcome
    }

    /// Two at random, the one with less to do. A caller stays where its session is.
    fn choose(
        &self,
        who: Option<&Who>,
        ask: &Ask<'_>,
        avoid: Option<usize>,
    ) -> Result<usize, Broken> {
        let now = Instant::now();
        if let [only] = &self.replicas[..] {
            return if ask.own || only.health().admits(now) { Ok(0) } else { Err(self.down()) };
        }
        let open =
            |index: &usize| Some(*index) != avoid && self.replicas[*index].health().admits(now);
        let candidates: Vec<usize> = (0..self.replicas.len()).filter(open).collect();
        let home = who.and_then(|who| {
            candidates.iter().copied().find(|index| self.replicas[*index].knows(who))
        });
        if let Some(home) = home {
            return Ok(home);
        }
        match &candidates[..] {
            // The gateway's own questions find out whether a server is back.
            [] if ask.own && avoid.is_none() => Ok(chance::below(self.replicas.len())),
            [] => Err(self.down()),
            [only] => Ok(*only),
            several => {
                let one = chance::below(several.len());
                let other = (one + 1 + chance::below(several.len() - 1)) % several.len();
                let load =
                    |at: usize| self.replicas[several[at]].outstanding.load(Ordering::Relaxed);
                Ok(several[if load(other) < load(one) { other } else { one }])
            }
        }
    }

    fn down(&self) -> Broken {
        let until = self.replicas.iter().filter_map(|replica| replica.health().opens_at()).min();
        let why = self.replicas.iter().find_map(|replica| replica.last_error());
        Broken::Down { why: why.unwrap_or_default().into(), until }
    }

    pub(crate) fn era(&self) -> Option<Era> {
        self.replicas.iter().find_map(|replica| replica.facts()).map(|facts| facts.era)
    }

    pub(crate) async fn due(&self, wait: Duration) {
        let _ = timeout(wait, self.trouble.notified()).await;
    }

    pub(crate) async fn tend(&self) {
        let tending =
            async { tokio::join!(self.listen(), self.check(), self.sweep(), self.greet_logins()) };
        self.stop.run_until_cancelled(tending).await;
    }

    /// Looks after replicas, so that a dead one is noticed before a call is lost on it, and a living one again after.
    async fn check(&self) {
        if self.replicas.len() < 2 {
            // A single server is listed again and again; that tells enough.
            return;
        }
        let mut ticks = interval(self.timing.health);
        loop {
            ticks.tick().await;
            let checks = self.replicas.iter().map(|replica| async {
                let pinged = timeout(self.timing.health_patience, replica.ping()).await;
                let pinged = pinged.unwrap_or(Err(Broken::TimedOut(self.timing.health_patience)));
                self.judge(replica, pinged.err().as_ref(), true);
            });
            futures_util::future::join_all(checks).await;
        }
    }

    async fn sweep(&self) {
        let mut ticks = interval((self.timing.idle / 2).max(Duration::from_millis(10)));
        loop {
            ticks.tick().await;
            for replica in &self.replicas {
                replica.sweep(self.timing.idle).await;
            }
        }
    }

    /// Learns from how a request ended. A call may go wrong for reasons of its own; if the gateway's own questions do,
    /// the server cannot be used.
    fn judge(&self, replica: &Replica, broken: Option<&Broken>, own: bool) {
        match broken {
            Some(broken) if broken.is_sick() => {
                replica.note_error(Some(broken));
                if replica.health().sick(Instant::now()) {
                    self.trouble.notify_one();
                }
            }
            other => {
                replica.note_error(other.filter(|_| own));
                replica.health().well();
            }
        }
    }

    pub(crate) fn abandon(&self) {
        self.stop.cancel();
    }

    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        let leaving = self.replicas.iter().map(|replica| replica.leave());
        let _ = timeout(FAREWELL, futures_util::future::join_all(leaving)).await;
    }

    pub(crate) fn describe(&self, status: &mut Status) {
        let now = Instant::now();
        status.transport = "http";
        status.replicas = self.replicas.iter().map(|replica| replica.status()).collect();
        status.sessions = self.replicas.iter().map(|replica| replica.sessions()).sum();
        status.odd_messages = self.exchange.odd.load(Ordering::Relaxed);
        let met = self.replicas.iter().filter_map(|replica| replica.facts()).next();
        let admitted = self.replicas.iter().any(|replica| replica.health().admits(now));
        let broken = status.replicas.iter().all(|replica| replica.last_error.is_some());
        status.state = match met {
            _ if !admitted || broken => State::Down,
            None => State::Starting,
            Some(_) => State::Ready,
        };
        if let Some(facts) = met {
            status.era = Some(facts.era);
            status.server.clone_from(&facts.server);
            status.capabilities.clone_from(&facts.capabilities);
        }
        if status.state == State::Down {
            status.last_error = self.replicas.iter().find_map(|replica| replica.last_error());
            status.retry_in = self
                .replicas
                .iter()
                .filter_map(|replica| replica.health().opens_at())
                .min()
                .map(|at| at.saturating_duration_since(now));
        }
    }
}

/// One request under way to one replica.
struct Attempt<'a> {
    link: &'a HttpLink,
    replica: &'a Replica,
    began: Instant,
    own: bool,
    /// The server may have waited for a person, which does not speak against it.
    may_ask: bool,
    ended: bool,
}

impl<'a> Attempt<'a> {
    fn begin(link: &'a HttpLink, replica: &'a Replica, ask: &Ask<'_>) -> Self {
        let began = Instant::now();
        replica.outstanding.fetch_add(1, Ordering::Relaxed);
        replica.health().begun(began);
        let may_ask = ask.client.is_some_and(|client| questions::can_any(&**client));
        Self { link, replica, began, own: ask.own, may_ask, ended: false }
    }

    fn end(&mut self, broken: Option<&Broken>) {
        self.ended = true;
        self.link.judge(self.replica, broken, self.own);
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.replica.outstanding.fetch_sub(1, Ordering::Relaxed);
        if self.ended {
            return;
        }
        // Given up at about the deadline, it hangs; given up earlier, the caller only changed its mind. The gateway
        // gives up for no other reason.
        let waited = self.began.elapsed();
        if self.own || !self.may_ask && waited >= self.link.patience.mul_f32(0.9) {
            self.link.judge(self.replica, Some(&Broken::TimedOut(waited)), self.own);
        } else {
            self.replica.health().unsure();
        }
    }
}
