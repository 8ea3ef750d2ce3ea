//! All approvals: which calls wait for them, and when they expire.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use proto::{Clock, Code, Digest, digest_of_parts};
use store::{
    ApprovalFilter, ApprovalRow, ApprovalRuleRow, ApprovalSpan, ApprovalState, CommitQueue,
    Database, Listed, StoreError,
};
use tokio::sync::{broadcast, oneshot};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::deadlines::{remaining, run_to_end};
use crate::rules::{RuleQuery, Rules};
use crate::shown::stored_arguments;
use crate::{Event, EventKind, Outcome, Terms};
use proto::Failure;

/// How many events a subscriber may fall behind before it misses some.
const MAX_EVENTS: usize = 1_024;

/// How long an interrupted call may be continued.
const CONTINUED_WITHIN: Duration = Duration::from_secs(15 * 60);

/// How long decided approvals are kept.
const KEPT_MS: u64 = 90 * 24 * 60 * 60 * 1_000;

/// How often deadlines are checked for which no call waits.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// The calls that a person must approve, and who decides about them.
pub struct Approvals {
    pub(crate) database: Database,
    pub(crate) clock: Clock,
    pub(crate) audit: CommitQueue,
    pub(crate) rules: Rules,
    claims: Mutex<HashMap<String, Claim>>,
    /// Until when an approval may be used, by the monotonic clock.
    pub(crate) good: Mutex<HashMap<String, Instant>>,
    /// When each expires, by the monotonic clock.
    pub(crate) due: Mutex<HashMap<String, Instant>>,
    /// Calls that a question of their tool interrupted, by fingerprint and state, and until when they may continue.
    continued: Mutex<HashMap<Digest, Instant>>,
    terms: ArcSwap<Terms>,
    events: broadcast::Sender<Event>,
    ending: CancellationToken,
}

/// The one call that an approval belongs to at present.
enum Claim {
    Waiting(oneshot::Sender<Outcome>),
    /// It is approved and about to run.
    Held,
}

impl Approvals {
    /// Reads the approvals of the database.
    pub async fn open(
        database: Database,
        clock: Clock,
        audit: CommitQueue,
    ) -> Result<Arc<Self>, StoreError> {
        let (now, began) = (clock.unix_ms(), Instant::now());
        database.forget_approvals(now.saturating_sub(KEPT_MS)).await?;
        let ends = |spans: Vec<ApprovalSpan>| {
            let end = |span: ApprovalSpan| {
                let left = remaining(span.from_unix_ms, span.until_unix_ms, now);
                (span.id, began + left)
            };
            Mutex::new(spans.into_iter().map(end).collect())
        };
        Ok(Arc::new(Self {
            rules: Rules::open(database.clone(), now).await?,
            due: ends(database.pending_approvals().await?),
            good: ends(database.unused_approvals().await?),
            database,
            clock,
            audit,
            claims: Mutex::default(),
            continued: Mutex::default(),
            terms: ArcSwap::default(),
            events: broadcast::channel(MAX_EVENTS).0,
            ending: CancellationToken::new(),
        }))
    }

    /// Expires approvals, also those that no call waits for. Never returns.
    pub async fn tend(self: &Arc<Self>) {
        let mut tick = tokio::time::interval(CHECK_EVERY);
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
                    tracing::warn!(%error, "an approval could not be expired");
                }
            }
            locked(&self.continued).retain(|_, until| *until > now);
            locked(&self.good).retain(|_, until| *until > now);
        }
    }

    /// The operator's settings.
    pub fn terms(&self) -> Arc<Terms> {
        self.terms.load_full()
    }

    /// Applies other settings at once.
    pub fn set_terms(&self, terms: Terms) {
        self.terms.store(Arc::new(terms));
    }

    /// Ends all waiting calls, as the process ends; their approvals stay.
    pub fn end(&self) {
        self.ending.cancel();
    }

    /// Subscribes to changes.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    /// A page of approvals.
    pub async fn list(&self, filter: &ApprovalFilter) -> Result<Listed<ApprovalRow>, StoreError> {
        self.database.approvals(filter).await
    }

    /// One approval, of this tenant if one is named.
    pub async fn get(
        &self,
        tenant: Option<&str>,
        id: &str,
    ) -> Result<Option<ApprovalRow>, StoreError> {
        self.database.approval(tenant, id).await
    }

    /// The standing rules of a tenant, or all.
    pub fn rules(&self, tenant: Option<&str>) -> Listed<ApprovalRuleRow> {
        self.rules.list(tenant, self.clock.unix_ms())
    }

    /// Removes a standing rule; returns false if the tenant has none of this id.
    pub async fn remove_rule(&self, tenant: Option<&str>, id: &str) -> Result<bool, StoreError> {
        self.rules.remove(tenant, id).await
    }

    /// Creates an approval, claimed by its call.
    pub async fn create(
        self: &Arc<Self>,
        row: &ApprovalRow,
        timeout: Duration,
    ) -> Result<oneshot::Receiver<Outcome>, Failure> {
        let most = self.terms.load().max_waiting;
        let (sender, receiver) = oneshot::channel();
        locked(&self.claims).insert(row.id.clone(), Claim::Waiting(sender));
        locked(&self.due).insert(row.id.clone(), Instant::now() + timeout);
        let (approvals, row) = (Arc::clone(self), row.clone());
        let added = run_to_end(async move {
            let added = approvals.database.add_approval(&row, most).await;
            match added {
                Ok(true) => approvals.send_event(EventKind::Created, &row),
                _ => drop(locked(&approvals.due).remove(&row.id)),
            }
            added
        });
        if !added.await.map_err(unavailable)? {
            let message =
                format!("{most} calls of this caller wait for approval already, and no more may");
            let details = serde_json::json!({"waiting": most});
            return Err(Failure::new(Code::RateLimit, message).details(details));
        }
        Ok(receiver)
    }

    /// The approvals of equal calls, oldest first.
    pub async fn alike(&self, fingerprint: &Digest) -> Result<Vec<ApprovalRow>, Failure> {
        let now = self.clock.unix_ms();
        self.database.matching_approvals(fingerprint, now).await.map_err(unavailable)
    }

    /// Claims a pending approval whose caller has left.
    pub fn claim_pending(&self, id: &str) -> Option<oneshot::Receiver<Outcome>> {
        let mut claims = locked(&self.claims);
        if claims.contains_key(id) {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        claims.insert(id.to_owned(), Claim::Waiting(sender));
        Some(receiver)
    }

    /// Claims a granted approval whose caller had left. One whose stored arguments are damaged grants nothing.
    pub fn claim_approved(&self, row: &ApprovalRow) -> bool {
        if stored_arguments(row).is_err() {
            return false;
        }
        let mut claims = locked(&self.claims);
        let free = self.is_good(&row.id) && !claims.contains_key(&row.id);
        if free {
            claims.insert(row.id.clone(), Claim::Held);
        }
        free
    }

    /// Gives up a claim, because the caller has left.
    pub fn release(&self, id: &str) {
        locked(&self.claims).remove(id);
    }

    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    pub fn ending(&self) -> &CancellationToken {
        &self.ending
    }

    /// When a pending approval expires.
    pub fn due(&self, id: &str) -> Option<Instant> {
        locked(&self.due).get(id).copied()
    }

    /// Marks a rejection as reported; returns false if it was before.
    pub async fn mark_reported(&self, id: &str) -> Result<bool, Failure> {
        self.database.mark_rejection_reported(id).await.map_err(unavailable)
    }

    pub(crate) async fn consume(&self, id: &str) -> Result<bool, Failure> {
        if !self.is_good(id) {
            return Ok(false);
        }
        let now = self.clock.unix_ms();
        let consume = || self.database.consume_approval(id, now);
        // Only the call that has claimed an approval uses it.
        let is_stored = |row: &ApprovalRow| row.state == ApprovalState::Consumed;
        let used = self.change_once(id, consume, is_stored).await.map_err(unavailable)?;
        // From here on the call runs, also if the database has just stopped.
        if used && let Ok(Some(row)) = self.get(None, id).await {
            self.send_event(EventKind::Consumed, &row);
        }
        Ok(used)
    }

    pub fn standing(&self, query: &RuleQuery<'_>) -> Option<String> {
        self.rules.matching(query, self.clock.unix_ms())
    }

    pub(crate) async fn use_rule(&self, id: &str) -> Result<bool, Failure> {
        self.rules.used(id, self.clock.unix_ms()).await.map_err(unavailable)
    }

    pub(crate) fn let_continue(&self, fingerprint: &Digest, state: &str) {
        let until = Instant::now() + CONTINUED_WITHIN;
        locked(&self.continued).insert(interruption(fingerprint, state), until);
    }

    /// Whether an equal call was interrupted by a question, was given this state, and has not continued yet.
    pub fn continues(&self, fingerprint: &Digest, state: &str) -> bool {
        let until = locked(&self.continued).remove(&interruption(fingerprint, state));
        until.is_some_and(|until| until > Instant::now())
    }

    /// Whether an approval may still be used.
    fn is_good(&self, id: &str) -> bool {
        locked(&self.good).get(id).is_some_and(|until| *until > Instant::now())
    }

    pub(crate) fn is_overdue(&self, id: &str) -> bool {
        self.due(id).is_some_and(|due| due <= Instant::now())
    }

    /// Wakes the waiting call.
    pub(crate) fn settle(&self, id: &str, outcome: Outcome) {
        locked(&self.due).remove(id);
        let mut claims = locked(&self.claims);
        if let Some(claim) = claims.get_mut(id)
            && let Claim::Waiting(sender) = std::mem::replace(claim, Claim::Held)
        {
            // Fails if the call has just ended, which releases the claim.
            let _ = sender.send(outcome);
        }
    }

    pub(crate) fn send_event(&self, kind: EventKind, row: &ApprovalRow) {
        // Fails if there are no subscribers.
        let _ = self.events.send(Event { kind, row: Arc::new(row.clone()) });
    }
}

/// The key of one interruption of a call.
fn interruption(fingerprint: &Digest, state: &str) -> Digest {
    digest_of_parts([fingerprint.as_bytes(), state.as_bytes()])
}

fn unavailable(error: StoreError) -> Failure {
    Failure::new(
        Code::Unavailable,
        "approvals cannot be stored at present, so no call is run that needs one",
    )
    .caused_by(error)
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
