//! One URL of a server: its era, its health, and the legacy sessions that callers have there.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use egress::http::{Body, SendFault};
use futures_util::{StreamExt as _, TryStreamExt as _};
use http::{Method, StatusCode};
use strip::files::Piece;
use tokio::time::Instant;

use super::exchange::{Exchange, Posted, Rejected, Way};
use super::headers;
use super::health::Health;
use super::session::{Session, SessionSlot};
use crate::broken::Broken;
use crate::era::{self, Era, Facts, Probed};
use crate::rpc::{self, Answer, Ask, Params};
use crate::share::Share;
use crate::status::ReplicaStatus;
use crate::who::Who;

/// How many legacy sessions are held at one replica.
const SHARE: Share = Share { all: 4_096, of_caller: 256, reserved: 512 };

/// How long the goodbye to a session that made room for another may take.
const FAREWELL: Duration = Duration::from_secs(5);

pub(super) struct Replica {
    pub(super) url: String,
    pub(super) exchange: Arc<Exchange>,
    pub(super) outstanding: AtomicUsize,
    health: Mutex<Health>,
    facts: ArcSwapOption<Facts>,
    /// Held while the era is found out, so that many callers ask once.
    probing: tokio::sync::Mutex<()>,
    gateway: Arc<SessionSlot>,
    sessions: Mutex<HashMap<Who, Arc<SessionSlot>>>,
    next: AtomicU64,
    last_error: Mutex<Option<String>>,
}

impl Replica {
    pub(super) fn new(url: &str, exchange: &Arc<Exchange>) -> Self {
        Self {
            url: url.to_owned(),
            exchange: Arc::clone(exchange),
            outstanding: AtomicUsize::new(0),
            health: Mutex::default(),
            facts: ArcSwapOption::empty(),
            probing: tokio::sync::Mutex::new(()),
            gateway: Arc::default(),
            sessions: Mutex::default(),
            next: AtomicU64::new(1),
            last_error: Mutex::default(),
        }
    }

    pub(super) fn facts(&self) -> Option<Arc<Facts>> {
        self.facts.load_full()
    }

    pub(super) fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a caller has a session here, which it should stay with.
    pub(super) fn knows(&self, who: &Who) -> bool {
        self.table().contains_key(who)
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Who, Arc<SessionSlot>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks in the server's era. A session that has expired is opened again, and an era that no longer fits is found
    /// out again; the request is then sent once more, for it was not looked at.
    pub(super) async fn ask(&self, who: Option<&Who>, ask: &Ask<'_>) -> Result<Answer, Broken> {
        let (mut reopened, mut reprobed) = (false, false);
        loop {
            let outcome = match self.era(who).await? {
                Era::Modern => self.ask_modern(who, ask).await,
                Era::Legacy => self.ask_legacy(who, ask).await,
            };
            match outcome {
                Err(Broken::Expired) if !reopened => reopened = true,
                Err(Broken::WrongEra(_)) if !reprobed => {
                    self.facts.store(None);
                    reprobed = true;
                }
                outcome => return outcome,
            }
        }
    }

    /// Whether the server is there: anything that it answers will do, also a refusal.
    pub(super) async fn ping(&self) -> Result<(), Broken> {
        let outcome = match self.era(None).await {
            Ok(Era::Modern) => {
                self.ask_modern(None, &Ask::plain("server/discover", Params::None)).await
            }
            Ok(Era::Legacy) => self.ask_legacy(None, &Ask::plain("ping", Params::None)).await,
            Err(broken) => Err(broken),
        };
        match outcome {
            Err(broken) if broken.is_sick() => Err(broken),
            _ => Ok(()),
        }
    }

    async fn era(&self, who: Option<&Who>) -> Result<Era, Broken> {
        if let Some(facts) = &*self.facts.load() {
            return Ok(facts.era);
        }
        // Boxed, as is all that few calls need: every call would carry the room for it.
        Box::pin(self.find_era(who)).await
    }

    async fn find_era(&self, who: Option<&Who>) -> Result<Era, Broken> {
        let _one = self.probing.lock().await;
        if let Some(facts) = &*self.facts.load() {
            return Ok(facts.era);
        }
        let facts = self.probe(who).await?;
        let era = facts.era;
        self.facts.store(Some(Arc::new(facts)));
        Ok(era)
    }

    /// Asks the modern way and reads what a refusal says.
    async fn probe(&self, who: Option<&Who>) -> Result<Facts, Broken> {
        let discover = Ask::plain("server/discover", Params::None);
        let probed = match self.post_modern(who, &discover).await? {
            Posted::Answer { answer: Ok(result), .. } => Probed::of_result(&result.raw),
            Posted::Answer { answer: Err(error), .. } => Probed::of_error(&error),
            Posted::Rejected(rejected) => match (rejected.status.as_u16(), &rejected.error) {
                (401 | 403 | 429 | 500.., None) => return Err(broken(&rejected)),
                (_, Some(error)) => Probed::of_error(error),
                (_, None) => Probed::Legacy,
            },
        };
        Ok(match probed {
            Probed::Modern(facts) => facts,
            Probed::Legacy => Facts::UNMET,
        })
    }

    async fn post_modern(&self, who: Option<&Who>, ask: &Ask<'_>) -> Result<Posted, Broken> {
        let id = self.next_id();
        let mut headers = self.exchange.common();
        headers::modern(&mut headers, ask);
        let way = Way { url: self.url.clone(), headers, who: who.cloned() };
        self.exchange.post(&way, id, encode(ask, id, Era::Modern)?, ask.client).await
    }

    async fn ask_modern(&self, who: Option<&Who>, ask: &Ask<'_>) -> Result<Answer, Broken> {
        let rejected = match self.post_modern(who, ask).await? {
            Posted::Answer { answer, .. } => return Ok(answer),
            Posted::Rejected(rejected) => rejected,
        };
        match rejected.error {
            Some(error) if era::is_modern_answer(&error) => Ok(Err(error)),
            _ if matches!(rejected.status.as_u16(), 400 | 404..=406 | 415) => {
                Err(Broken::WrongEra(format!("HTTP {}", rejected.status.as_u16()).into()))
            }
            Some(error) => Ok(Err(error)),
            None => Err(broken(&rejected)),
        }
    }

    async fn ask_legacy(&self, who: Option<&Who>, ask: &Ask<'_>) -> Result<Answer, Broken> {
        let slot = self.slot(who)?;
        let session = slot.open(|| self.greet(who)).await?;
        let way = self.way(who, &session);
        let facts = self.facts();
        let stated = facts.as_ref().and_then(|facts| facts.capabilities.as_ref());
        if let Some(params) = session.verbosity.raised(ask.client, stated) {
            let (id, ask) = (self.next_id(), Ask::plain("logging/setLevel", Params::Map(&params)));
            // A server that will not is asked all the same.
            let asked = self.exchange.post(&way, id, encode(&ask, id, Era::Legacy)?, None);
            let _ = Box::pin(asked).await;
        }
        let id = self.next_id();
        let body = encode(ask, id, Era::Legacy)?;
        let _waiting = session.callers.enter(id, ask.client);
        let mut leaving = Leaving { exchange: &self.exchange, way: &way, id, armed: true };
        let posted = self.exchange.post(&way, id, body, ask.client).await;
        leaving.armed = false;
        let rejected = match posted? {
            Posted::Answer { answer: Err(error), .. } if era::is_other_version(&error) => {
                return Err(Broken::WrongEra(error.code.to_string().into()));
            }
            Posted::Answer { answer, .. } => return Ok(answer),
            Posted::Rejected(rejected) => rejected,
        };
        if session.is_gone(&rejected) {
            slot.close(&session);
            return Err(Broken::Expired);
        }
        match rejected.error {
            Some(error) if era::is_other_version(&error) => {
                slot.close(&session);
                Err(Broken::WrongEra(error.code.to_string().into()))
            }
            Some(error) => Ok(Err(error)),
            None => Err(broken(&rejected)),
        }
    }

    /// The way of a request within a session.
    pub(super) fn way(&self, who: Option<&Who>, session: &Session) -> Way {
        let mut headers = self.exchange.common();
        session.mark(&mut headers);
        Way { url: self.url.clone(), headers, who: who.cloned() }
    }

    /// The gateway's own session, opened if need be.
    pub(super) async fn own_session(&self) -> Result<Arc<Session>, Broken> {
        self.gateway.open(|| self.greet(None)).await
    }

    /// Forgets the gateway's own session, which the server does not know any more.
    pub(super) fn close_own(&self, session: &Arc<Session>) {
        self.gateway.close(session);
    }

    fn slot(&self, who: Option<&Who>) -> Result<Arc<SessionSlot>, Broken> {
        let Some(who) = who else { return Ok(Arc::clone(&self.gateway)) };
        let mut table = self.table();
        if let Some(slot) = table.get(who) {
            return Ok(Arc::clone(slot));
        }
        // Who uses a session holds its slot.
        let held = table.iter().map(|(who, slot)| {
            (who, Some(slot).filter(|slot| Arc::strong_count(slot) == 1).map(|slot| slot.used()))
        });
        if let Some(idle) = SHARE.make_room(who, held)?.cloned()
            && let Some(slot) = table.remove(&idle)
        {
            self.close_aside(&idle, &slot);
        }
        Ok(Arc::clone(table.entry(who.clone()).or_default()))
    }

    /// The legacy handshake.
    async fn greet(&self, who: Option<&Who>) -> Result<Session, Broken> {
        let id = self.next_id();
        let params = era::greeting(who);
        let ask = Ask::plain("initialize", Params::Map(&params));
        let (headers, who) = (self.exchange.common(), who.cloned());
        let way = Way { url: self.url.clone(), headers, who };
        let body = encode(&ask, id, Era::Legacy)?;
        let (result, answered) = match self.exchange.post(&way, id, body, None).await? {
            Posted::Answer { answer: Ok(result), headers } => (result, headers),
            Posted::Answer { answer: Err(error), .. } => {
                let why = format!("`initialize` failed with {}", error.code);
                return Err(Broken::WrongEra(why.into()));
            }
            Posted::Rejected(rejected) => {
                return Err(match rejected.error {
                    Some(error) => {
                        Broken::WrongEra(format!("`initialize` failed with {}", error.code).into())
                    }
                    None => {
                        // Nothing MCP answers there now: the next who asks begins from the beginning.
                        self.facts.store(None);
                        broken(&rejected)
                    }
                });
            }
        };
        let facts = era::greeted(&result.raw).map_err(|why| Broken::WrongEra(why.into()))?;
        let mut session = Session::new(answered.get(headers::SESSION).cloned(), facts.version);
        self.facts.store(Some(Arc::new(facts)));
        let initialized = rpc::notification("notifications/initialized", &serde_json::json!({}));
        let way = self.way(way.who.as_ref(), &session);
        self.exchange.notify(&way, Method::POST, initialized).await?;
        if session.has_id() && way.who.as_ref().is_some_and(|who| !who.is_mute()) {
            session.listen(&self.exchange, way).await;
        }
        Ok(session)
    }

    /// Closes sessions that nobody has used for a while.
    pub(super) async fn sweep(&self, idle: Duration) {
        let old: Vec<(Who, _)> = {
            let mut table = self.table();
            let old = |slot: &Arc<SessionSlot>| slot.is_idle(idle) && Arc::strong_count(slot) == 1;
            let gone: Vec<Who> =
                table.iter().filter(|(_, slot)| old(slot)).map(|(who, _)| who.clone()).collect();
            gone.into_iter().filter_map(|who| Some((who.clone(), table.remove(&who)?))).collect()
        };
        for (who, slot) in old {
            self.farewell(Some(&who), &slot).await;
        }
    }

    /// Closes every session.
    pub(super) async fn leave(&self) {
        let slots = std::mem::take(&mut *self.table());
        let callers = slots.iter().map(|(who, slot)| (Some(who), slot));
        let all = callers.chain([(None, &self.gateway)]);
        let leaving = all.map(|(who, slot)| self.farewell(who, slot));
        futures_util::future::join_all(leaving).await;
    }

    /// Closes a session without making anybody wait for it.
    fn close_aside(&self, who: &Who, slot: &SessionSlot) {
        if let Some(session) = slot.take().filter(|session| session.has_id()) {
            let (exchange, way) = (Arc::clone(&self.exchange), self.way(Some(who), &session));
            tokio::spawn(tokio::time::timeout(FAREWELL, async move {
                let _ = exchange.notify(&way, Method::DELETE, bytes::Bytes::new()).await;
            }));
        }
    }

    async fn farewell(&self, who: Option<&Who>, slot: &SessionSlot) {
        if let Some(session) = slot.take()
            && session.has_id()
        {
            // A server need not let sessions be ended, and will forget them by itself.
            let _ = self
                .exchange
                .notify(&self.way(who, &session), Method::DELETE, bytes::Bytes::new())
                .await;
        }
    }

    pub(super) fn sessions(&self) -> usize {
        self.table().len()
    }

    pub(super) fn note_error(&self, broken: Option<&Broken>) {
        *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) =
            broken.map(ToString::to_string);
    }

    pub(super) fn last_error(&self) -> Option<String> {
        self.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn status(&self) -> ReplicaStatus {
        ReplicaStatus {
            // A query may hold a key.
            url: self.url.split(['?', '#']).next().unwrap_or_default().to_owned(),
            era: self.facts().map(|facts| facts.era),
            outstanding: self.outstanding.load(Ordering::Relaxed),
            admitted: self.health().admits(Instant::now()),
            last_error: self.last_error(),
        }
    }

    pub(super) fn next_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

pub(super) fn encode(ask: &Ask<'_>, id: u64, era: Era) -> Result<Body, Broken> {
    let written = ask
        .encode(id, era)
        .map_err(|why| Broken::malformed(format!("the request cannot be written: {why}")))?;
    let Some(attached) = ask.attached else { return Ok(written.into()) };
    let pieces = attached.pieces(written.into());
    let (length, attached) = (Piece::total(&pieces), Arc::clone(attached));
    let open = move || attached.read(pieces.clone()).map_err(SendFault::from).boxed();
    Ok(Body::Streamed { length, open: Arc::new(open) })
}

/// A refusal without a JSON-RPC answer.
fn broken(rejected: &Rejected) -> Broken {
    match rejected.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Broken::Unauthorized(rejected.status.as_u16())
        }
        status => Broken::Status { status: status.as_u16(), retry_after: rejected.retry_after },
    }
}

/// A legacy request under way: if nobody waits for it any more, the server is told.
struct Leaving<'a> {
    exchange: &'a Arc<Exchange>,
    way: &'a Way,
    id: u64,
    armed: bool,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if self.armed
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let (exchange, way, id) = (Arc::clone(self.exchange), self.way.clone(), self.id);
            runtime.spawn(async move {
                let notice = exchange.notify(&way, Method::POST, rpc::cancelled(id));
                let _ = tokio::time::timeout(Duration::from_secs(5), notice).await;
            });
        }
    }
}
