//! All confirmations: who waits for which, who decides, and when their time is over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use proto::{APPROVALS_DECIDE, Clock, Code, Digest, Principal, TenantId, TraceId};
use store::{
    ApprovalFilter, ApprovalRow, ApprovalRuleRow, ApprovalState, AuditRow, AuditTrail, Database,
    Ruling, StoreError,
};
use tokio::sync::{broadcast, oneshot};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::rules::{Asked, Rules};
use super::{Decider, Decision, Event, EventKind, Outcome, Terms, Undecided, Verdict};
use crate::Failure;

/// Events that a slow listener may fall behind before it misses some.
const MAX_EVENTS: usize = 1_024;

/// The longest reason that is kept, in bytes.
const MAX_REASON: usize = 8_000;

/// For how long a caller who had left may still hear why it was refused.
const TOLD_WITHIN_MS: u64 = 10 * 60 * 1_000;

/// For how long an interrupted call may be gone on with.
const CONTINUED_WITHIN: Duration = Duration::from_secs(15 * 60);

/// For how long decided confirmations are kept.
const KEPT_MS: u64 = 90 * 24 * 60 * 60 * 1_000;

/// How often deadlines are looked at for which nobody waits.
const ROUND: Duration = Duration::from_secs(1);

/// The calls that a person must approve, and who decides about them.
pub struct Approvals {
    database: Database,
    clock: Clock,
    trail: AuditTrail,
    rules: Rules,
    seats: Mutex<HashMap<String, Seat>>,
    /// When the time of each is over by the clock that nobody can set.
    due: Mutex<HashMap<String, Instant>>,
    /// Calls that were interrupted by a question of their tool, how often, and until when.
    continued: Mutex<HashMap<Digest, (u32, Instant)>>,
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
        let due = open.into_iter().map(|(id, created, deadline)| {
            // A clock that was set back meanwhile gives nobody more time than they had at first.
            let left = deadline.saturating_sub(now).min(deadline.saturating_sub(created));
            (id, began + Duration::from_millis(left))
        });
        Ok(Arc::new(Self {
            rules: Rules::open(database.clone()).await?,
            due: Mutex::new(due.collect()),
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
    pub async fn tend(&self) {
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
            locked(&self.continued).retain(|_, (_, until)| *until > now);
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

    /// Decides. Of all who do, and of the deadline, the first one counts.
    pub async fn decide(
        &self,
        id: &str,
        decider: &Decider,
        decision: Decision,
    ) -> Result<ApprovalRow, Undecided> {
        let unknown = || Undecided::Unknown(id.chars().take(100).collect());
        let row = self.get(decider.tenant(), id).await?.ok_or_else(unknown)?;
        check_right(decider, &row)?;
        let reason = decision.reason.as_deref().map(str::trim).filter(|text| !text.is_empty());
        if reason.is_some_and(|text| text.len() > MAX_REASON) {
            return Err(Undecided::Invalid("a reason has 8,000 bytes at most"));
        }
        let now = self.clock.unix_ms();
        let (state, good_ms) = match decision.decision {
            Verdict::Approve => (ApprovalState::Approved, millis(self.terms().good_for)),
            Verdict::Reject => (ApprovalState::Rejected, TOLD_WITHIN_MS),
        };
        let rule = match (&decision.standing, decision.decision, decider) {
            (None, ..) => None,
            (Some(standing), Verdict::Approve, Decider::Operator | Decider::Person(_)) => {
                Some(Rules::drafted(&row, standing, decider.by(), now)?)
            }
            _ => return Err(Undecided::Invalid("only an approval of a person can stand for more")),
        };
        if self.is_overdue(id) {
            self.expire(id).await?;
        }
        let ruling = Ruling {
            state,
            by: decider.by(),
            via: decider.via(),
            reason,
            at_unix_ms: now,
            good_until_unix_ms: Some(now.saturating_add(good_ms)),
            in_time: true,
        };
        if !self.database.rule_on_approval(id, &ruling).await? {
            return Err(self.missed(id).await?);
        }
        if let Some(rule) = rule {
            self.rules.add(rule).await?;
        }
        let outcome =
            Outcome { state, by: decider.by().to_owned(), reason: reason.map(str::to_owned) };
        let row = self.get(None, id).await?.ok_or_else(unknown)?;
        // Who decided is in the trail before what they decided about.
        self.note(&row, decider.principal(), decider.via()).await;
        self.settle(id, outcome);
        self.tell(EventKind::Decided, &row);
        Ok(row)
    }

    /// Why a decision came to nothing: somebody, or the deadline, was faster.
    async fn missed(&self, id: &str) -> Result<Undecided, StoreError> {
        let mut row = self.get(None, id).await?;
        if row.as_ref().is_some_and(|row| row.state == ApprovalState::Pending) {
            self.expire(id).await?;
            row = self.get(None, id).await?;
        }
        Ok(match row {
            Some(row) => Undecided::Over(Box::new(row)),
            None => Undecided::Unknown(id.to_owned()),
        })
    }

    /// Ends a confirmation whose time is over; says no if somebody was faster.
    pub(crate) async fn expire(&self, id: &str) -> Result<bool, StoreError> {
        let ruling = Ruling {
            state: ApprovalState::Expired,
            by: "nobody",
            via: "deadline",
            reason: None,
            at_unix_ms: self.clock.unix_ms(),
            good_until_unix_ms: None,
            in_time: false,
        };
        let ended = self.database.rule_on_approval(id, &ruling).await?;
        locked(&self.due).remove(id);
        if ended {
            let state = ApprovalState::Expired;
            self.settle(id, Outcome { state, by: "nobody".to_owned(), reason: None });
            if let Some(row) = self.get(None, id).await? {
                self.note(&row, None, "deadline").await;
                self.tell(EventKind::Expired, &row);
            }
        }
        Ok(ended)
    }

    /// Keeps a new confirmation, and a seat at it.
    pub(crate) async fn create(
        &self,
        row: &ApprovalRow,
        timeout: Duration,
    ) -> Result<oneshot::Receiver<Outcome>, Failure> {
        let caller = (row.tenant.as_str(), row.owner.as_str(), row.agent.as_deref());
        let waiting = self.database.approvals_waiting(caller).await.map_err(unkept)?;
        let most = self.terms.load().max_waiting;
        if waiting >= most {
            let message =
                format!("{waiting} calls of this caller wait for approval already; {most} may");
            return Err(Failure::new(Code::RateLimit, message));
        }
        let (sender, receiver) = oneshot::channel();
        locked(&self.seats).insert(row.id.clone(), Seat::Waiting(sender));
        locked(&self.due).insert(row.id.clone(), Instant::now() + timeout);
        if let Err(error) = self.database.add_approval(row).await {
            self.rise(&row.id);
            locked(&self.due).remove(&row.id);
            return Err(unkept(error));
        }
        self.tell(EventKind::Created, row);
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
        let free = !seats.contains_key(id);
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

    pub(super) fn let_continue(&self, fingerprint: Digest) {
        let mut continued = locked(&self.continued);
        let (count, until) = continued.entry(fingerprint).or_insert((0, Instant::now()));
        *count += 1;
        *until = Instant::now() + CONTINUED_WITHIN;
    }

    /// Whether an equal call was interrupted by a question that this one may answer. Each interruption counts once.
    pub(crate) fn continues(&self, fingerprint: &Digest) -> bool {
        let mut continued = locked(&self.continued);
        match continued.get_mut(fingerprint) {
            Some((count, until)) if *count > 0 && *until > Instant::now() => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }

    fn is_overdue(&self, id: &str) -> bool {
        self.due(id).is_some_and(|due| due <= Instant::now())
    }

    /// Wakes whoever waits.
    fn settle(&self, id: &str, outcome: Outcome) {
        locked(&self.due).remove(id);
        let mut seats = locked(&self.seats);
        if let Some(seat) = seats.get_mut(id)
            && let Seat::Waiting(sender) = std::mem::replace(seat, Seat::Held)
        {
            // Nobody there any more: the seat is left in the same moment.
            let _ = sender.send(outcome);
        }
    }

    fn tell(&self, kind: EventKind, row: &ApprovalRow) {
        // Nobody listening is no fault.
        let _ = self.events.send(Event { kind, row: Arc::new(row.clone()) });
    }

    /// Leaves a row in the audit trail, under the trace of the call that was decided about.
    async fn note(&self, row: &ApprovalRow, by: Option<&Arc<Principal>>, via: &'static str) {
        let nobody = || {
            Arc::new(Principal {
                tenant: TenantId::new(&row.tenant),
                subject: row.decided_by.clone().unwrap_or_default(),
                agent: None,
                scopes: Vec::new(),
            })
        };
        let entry = AuditRow {
            trace: serde_json::from_value(row.trace.clone().into())
                .unwrap_or_else(|_| TraceId::random()),
            at_unix_ms: row.decided_unix_ms.unwrap_or_else(|| self.clock.unix_ms()),
            caller: by.map_or_else(nobody, Arc::clone),
            door: via.into(),
            tool: row.tool.as_str().into(),
            version: row.version.as_str().into(),
            definition: Some(row.definition),
            arguments: row.arguments_sum,
            decision: row.state.as_str().into(),
            outcome: "OK".into(),
            blame: None,
            duration_us: 0,
        };
        if let Err(error) = self.trail.record(entry).await {
            tracing::error!(%error, approval = row.id, "the audit row of a decision could not be written");
        }
        tracing::info!(approval = row.id, tool = row.tool, state = %row.state, via, "a call was decided about");
    }
}

impl Decider {
    fn principal(&self) -> Option<&Arc<Principal>> {
        match self {
            Self::Operator | Self::Link => None,
            Self::Person(principal) | Self::Client(principal) => Some(principal),
        }
    }
}

/// Agents never decide, and nobody decides with the credential that made the call. The operator may always.
fn check_right(decider: &Decider, row: &ApprovalRow) -> Result<(), Undecided> {
    let Decider::Person(person) = decider else { return Ok(()) };
    if person.agent.is_some() || !person.holds(APPROVALS_DECIDE) {
        return Err(Undecided::Agent);
    }
    // A call whose credential could not decide was made with another one than this, which can.
    let own = row.decider && row.tenant == person.tenant.as_str() && row.owner == person.subject;
    if own && !person.holds(proto::ADMIN) { Err(Undecided::OwnCall) } else { Ok(()) }
}

fn unkept(error: StoreError) -> Failure {
    Failure::new(
        Code::Unavailable,
        "confirmations cannot be kept at present, so nothing is run that needs one",
    )
    .caused_by(error)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
