//! All confirmations: who waits for which, who decides, and when their time is over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use proto::{Clock, Code, Digest, digest_of_parts};
use store::{
    ApprovalFilter, ApprovalRow, ApprovalRuleRow, ApprovalState, AuditTrail, Database, StoreError,
};
use tokio::sync::{broadcast, oneshot};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::rules::{Asked, Rules};
use super::{Event, EventKind, Outcome, Terms};
use crate::Failure;

/// Events that a slow listener may fall behind before it misses some.
const MAX_EVENTS: usize = 1_024;

/// For how long an interrupted call may be gone on with.
const CONTINUED_WITHIN: Duration = Duration::from_secs(15 * 60);

/// For how long decided confirmations are kept.
const KEPT_MS: u64 = 90 * 24 * 60 * 60 * 1_000;

/// Confirmations of everybody, a page at a time.
const EVERY: ApprovalFilter =
    ApprovalFilter { tenant: None, state: None, after: None, limit: 1_000 };

/// How often deadlines are looked at for which nobody waits.
const ROUND: Duration = Duration::from_secs(1);

/// The calls that a person must approve, and who decides about them.
pub struct Approvals {
    pub(super) database: Database,
    pub(super) clock: Clock,
    pub(super) trail: AuditTrail,
    pub(super) rules: Rules,
    seats: Mutex<HashMap<String, Seat>>,
    /// Until when an approval may be used, by the clock that nobody can set.
    pub(super) good: Mutex<HashMap<String, Instant>>,
    /// When the time of each is over by the clock that nobody can set.
    pub(super) due: Mutex<HashMap<String, Instant>>,
    /// Calls that were interrupted by a question of their tool, each with the state that it was given, and until when
    /// they may go on.
    continued: Mutex<HashMap<Digest, Instant>>,
    terms: ArcSwap<Terms>,
    events: broadcast::Sender<Event>,
    ending: CancellationToken,
}

/// The one call that a confirmation belongs to at present.
enum Seat {
    Waiting(oneshot::Sender<Outcome>),
    /// It is approved, and the call is about to run.
    Held,
}

impl Approvals {
    /// What a database holds; nothing is forgotten between two lives of a gateway.
    pub async fn open(
        database: Database,
        clock: Clock,
        trail: AuditTrail,
    ) -> Result<Arc<Self>, StoreError> {
        let (now, began) = (clock.unix_ms(), Instant::now());
        database.forget_approvals(now.saturating_sub(KEPT_MS)).await?;
        let open = database.open_approvals().await?;
        let due = open
            .into_iter()
            .map(|(id, created, deadline)| (id, began + left((created, deadline), now)));
        let mut unused = ApprovalFilter { state: Some(ApprovalState::Approved), ..EVERY };
        let mut good = HashMap::new();
        loop {
            let page = database.approvals(&unused).await?;
            let Some(last) = page.last() else { break };
            unused.after = Some((last.created_unix_ms, last.id.clone()));
            good.extend(page.into_iter().filter_map(|row| {
                let times = (row.decided_unix_ms?, row.good_until_unix_ms?);
                Some((row.id, began + left(times, now)))
            }));
        }
        Ok(Arc::new(Self {
            rules: Rules::open(database.clone(), now).await?,
            due: Mutex::new(due.collect()),
            good: Mutex::new(good),
            database,
            clock,
            trail,
            seats: Mutex::default(),
            continued: Mutex::default(),
            terms: ArcSwap::default(),
            events: broadcast::channel(MAX_EVENTS).0,
            ending: CancellationToken::new(),
        }))
    }

    /// Ends confirmations whose time is over, also those that nobody waits for. Never returns.
    pub async fn tend(self: &Arc<Self>) {
        let mut tick = tokio::time::interval(ROUND);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            let now = Instant::now();
            let over: Vec<_> = {
                let due = locked(&self.due);
                due.iter().filter(|(_, at)| **at <= now).map(|(id, _)| id.clone()).collect()
            };
            for id in over {
                if let Err(error) = self.expire(&id).await {
                    tracing::warn!(%error, "a confirmation could not be ended");
                }
            }
            locked(&self.continued).retain(|_, until| *until > now);
            locked(&self.good).retain(|_, until| *until > now);
        }
    }

    /// What the operator set.
    pub fn terms(&self) -> Arc<Terms> {
        self.terms.load_full()
    }

    /// Takes other terms at once.
    pub fn set_terms(&self, terms: Terms) {
        self.terms.store(Arc::new(terms));
    }

    /// Sends all who wait away, as the process ends; what they wait for stays.
    pub fn end(&self) {
        self.ending.cancel();
    }

    /// What happens from now on.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    /// A page of confirmations.
    pub async fn list(&self, filter: &ApprovalFilter) -> Result<Vec<ApprovalRow>, StoreError> {
        self.database.approvals(filter).await
    }

    /// One confirmation, of this tenant if one is named.
    pub async fn get(
        &self,
        tenant: Option<&str>,
        id: &str,
    ) -> Result<Option<ApprovalRow>, StoreError> {
        self.database.approval(tenant, id).await
    }

    /// The standing rules of a tenant, or all.
    pub fn rules(&self, tenant: Option<&str>) -> Vec<ApprovalRuleRow> {
        self.rules.list(tenant, self.clock.unix_ms())
    }

    /// Takes a standing rule out; says no if the tenant has none of this id.
    pub async fn remove_rule(&self, tenant: Option<&str>, id: &str) -> Result<bool, StoreError> {
        self.rules.remove(tenant, id).await
    }

    /// Keeps a new confirmation, and a seat at it.
    pub(crate) async fn create(
        self: &Arc<Self>,
        row: &ApprovalRow,
        timeout: Duration,
    ) -> Result<oneshot::Receiver<Outcome>, Failure> {
        let most = self.terms.load().max_waiting;
        let (sender, receiver) = oneshot::channel();
        locked(&self.seats).insert(row.id.clone(), Seat::Waiting(sender));
        locked(&self.due).insert(row.id.clone(), Instant::now() + timeout);
        let (desk, row) = (Arc::clone(self), row.clone());
        let kept = to_its_end(async move {
            let kept = desk.database.add_approval(&row, most).await;
            match kept {
                Ok(true) => desk.tell(EventKind::Created, &row),
                _ => drop(locked(&desk.due).remove(&row.id)),
            }
            kept
        });
        if !kept.await.map_err(unkept)? {
            let message =
                format!("{most} calls of this caller wait for approval already, and no more may");
            return Err(Failure::new(Code::RateLimit, message));
        }
        Ok(receiver)
    }

    /// What there is about an equal call, oldest first.
    pub(crate) async fn alike(&self, fingerprint: &Digest) -> Result<Vec<ApprovalRow>, Failure> {
        let now = self.clock.unix_ms();
        self.database.approvals_alike(fingerprint, now).await.map_err(unkept)
    }

    /// Takes the seat at a pending confirmation whose caller has left.
    pub(crate) fn sit(&self, id: &str) -> Option<oneshot::Receiver<Outcome>> {
        let mut seats = locked(&self.seats);
        if seats.contains_key(id) {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        seats.insert(id.to_owned(), Seat::Waiting(sender));
        Some(receiver)
    }

    /// Takes the seat at an approval whose caller had left.
    pub(crate) fn hold(&self, id: &str) -> bool {
        let mut seats = locked(&self.seats);
        let free = self.is_good(id) && !seats.contains_key(id);
        if free {
            seats.insert(id.to_owned(), Seat::Held);
        }
        free
    }

    /// Leaves a seat, as the caller did.
    pub(crate) fn rise(&self, id: &str) {
        locked(&self.seats).remove(id);
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(crate) fn ending(&self) -> &CancellationToken {
        &self.ending
    }

    /// When the time of a pending confirmation is over.
    pub(crate) fn due(&self, id: &str) -> Option<Instant> {
        locked(&self.due).get(id).copied()
    }

    pub(crate) async fn told(&self, id: &str) -> Result<bool, Failure> {
        self.database.approval_told(id).await.map_err(unkept)
    }

    pub(super) async fn consume(&self, id: &str) -> Result<bool, Failure> {
        if !self.is_good(id) {
            return Ok(false);
        }
        let now = self.clock.unix_ms();
        let used = self.database.consume_approval(id, now).await.map_err(unkept)?;
        if used && let Some(row) = self.get(None, id).await.map_err(unkept)? {
            self.tell(EventKind::Consumed, &row);
        }
        Ok(used)
    }

    pub(crate) fn standing(&self, asked: &Asked<'_>) -> Option<String> {
        self.rules.matching(asked, self.clock.unix_ms())
    }

    pub(super) async fn use_rule(&self, id: &str) -> Result<bool, Failure> {
        self.rules.used(id, self.clock.unix_ms()).await.map_err(unkept)
    }

    pub(super) fn let_continue(&self, fingerprint: &Digest, state: &str) {
        let until = Instant::now() + CONTINUED_WITHIN;
        locked(&self.continued).insert(interruption(fingerprint, state), until);
    }

    /// Whether an equal call was interrupted by a question, given this state, and has not gone on yet.
    pub(crate) fn continues(&self, fingerprint: &Digest, state: &str) -> bool {
        let until = locked(&self.continued).remove(&interruption(fingerprint, state));
        until.is_some_and(|until| until > Instant::now())
    }

    /// Whether the time of an approval is not over.
    fn is_good(&self, id: &str) -> bool {
        locked(&self.good).get(id).is_some_and(|until| *until > Instant::now())
    }

    pub(super) fn is_overdue(&self, id: &str) -> bool {
        self.due(id).is_some_and(|due| due <= Instant::now())
    }

    /// Wakes whoever waits.
    pub(super) fn settle(&self, id: &str, outcome: Outcome) {
        locked(&self.due).remove(id);
        let mut seats = locked(&self.seats);
        if let Some(seat) = seats.get_mut(id)
            && let Seat::Waiting(sender) = std::mem::replace(seat, Seat::Held)
        {
            // Nobody there any more: the seat is left in the same moment.
            let _ = sender.send(outcome);
        }
    }

    pub(super) fn tell(&self, kind: EventKind, row: &ApprovalRow) {
        // Nobody listening is no fault.
        let _ = self.events.send(Event { kind, row: Arc::new(row.clone()) });
    }
}

/// What is left of the time between two moments. A clock that was set back meanwhile gives nobody more than they had at
/// first.
pub(super) fn left((from_ms, until_ms): (u64, u64), now_ms: u64) -> Duration {
    Duration::from_millis(until_ms.saturating_sub(now_ms).min(until_ms.saturating_sub(from_ms)))
}

/// What one interruption of a call is known by.
fn interruption(fingerprint: &Digest, state: &str) -> Digest {
    digest_of_parts([fingerprint.as_bytes(), state.as_bytes()])
}

/// Does something to its end, also if whoever waits for it leaves meanwhile.
pub(super) async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> T {
    match tokio::spawn(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Only a runtime that ends cancels it, and then ends this, too.
            Err(_) => std::future::pending().await,
        },
    }
}

fn unkept(error: StoreError) -> Failure {
    Failure::new(
        Code::Unavailable,
        "confirmations cannot be kept at present, so nothing is run that needs one",
    )
    .caused_by(error)
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
