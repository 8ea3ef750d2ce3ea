//! Deciding about a confirmation, or letting its time end: once, and to the end even if the decider leaves meanwhile.

use std::sync::Arc;
use std::time::Duration;

use proto::{APPROVALS_DECIDE, Principal, TenantId, TraceId};
use store::{ApprovalRow, ApprovalRuleRow, ApprovalState, AuditRow, Ruling, StoreError};
use tokio::time::Instant;

use super::desk::{locked, millis, to_its_end};
use super::rules::Rules;
use super::{Approvals, Decider, Decision, EventKind, Outcome, Undecided, Verdict};

/// The longest reason that is kept, in bytes.
const MAX_REASON: usize = 8_000;

/// For how long a caller who had left may still hear why it was refused.
const TOLD_WITHIN_MS: u64 = 10 * 60 * 1_000;

/// What becomes of a pending confirmation, and all that follows from it.
struct Fate {
    id: String,
    outcome: Outcome,
    via: &'static str,
    /// Who decided, if that is somebody with a name of their own.
    principal: Option<Arc<Principal>>,
    at_unix_ms: u64,
    good_until_unix_ms: Option<u64>,
    standing: Option<ApprovalRuleRow>,
    kind: EventKind,
}

impl Approvals {
    /// Decides. Of all who do, and of the deadline, the first one counts.
    pub async fn decide(
        self: &Arc<Self>,
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
        let standing = match (&decision.standing, decision.decision, decider) {
            (None, ..) => None,
            (Some(standing), Verdict::Approve, Decider::Operator | Decider::Person(_)) => {
                Some(Rules::drafted(&row, standing, decider.by(), now)?)
            }
            _ => return Err(Undecided::Invalid("only an approval of a person can stand for more")),
        };
        if self.is_overdue(id) {
            self.expire(id).await?;
        }
        let fate = Fate {
            id: id.to_owned(),
            outcome: Outcome {
                state,
                by: decider.by().to_owned(),
                reason: reason.map(str::to_owned),
            },
            via: decider.via(),
            principal: decider.principal().cloned(),
            at_unix_ms: now,
            good_until_unix_ms: Some(now.saturating_add(good_ms)),
            standing,
            kind: EventKind::Decided,
        };
        match self.meet(fate).await? {
            Some(row) => Ok(row),
            None => Err(self.missed(id).await?),
        }
    }

    /// Why a decision came to nothing: somebody, or the deadline, was faster.
    async fn missed(self: &Arc<Self>, id: &str) -> Result<Undecided, StoreError> {
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
    pub(crate) async fn expire(self: &Arc<Self>, id: &str) -> Result<bool, StoreError> {
        let (state, by) = (ApprovalState::Expired, "nobody".to_owned());
        let fate = Fate {
            id: id.to_owned(),
            outcome: Outcome { state, by, reason: None },
            via: "deadline",
            principal: None,
            at_unix_ms: self.clock.unix_ms(),
            good_until_unix_ms: None,
            standing: None,
            kind: EventKind::Expired,
        };
        let ended = self.meet(fate).await?;
        locked(&self.due).remove(id);
        Ok(ended.is_some())
    }

    /// Nothing, if the confirmation has met its fate already. What is decided is also noted, and told to whoever waits.
    async fn meet(self: &Arc<Self>, fate: Fate) -> Result<Option<ApprovalRow>, StoreError> {
        let desk = Arc::clone(self);
        to_its_end(async move { desk.met(fate).await }).await
    }

    async fn met(&self, fate: Fate) -> Result<Option<ApprovalRow>, StoreError> {
        let Fate { id, outcome, via, standing, .. } = fate;
        let ruling = Ruling {
            state: outcome.state,
            by: &outcome.by,
            via,
            reason: outcome.reason.as_deref(),
            at_unix_ms: fate.at_unix_ms,
            good_until_unix_ms: fate.good_until_unix_ms,
            in_time: fate.kind == EventKind::Decided,
        };
        let good_for = fate.good_until_unix_ms.unwrap_or_default().saturating_sub(fate.at_unix_ms);
        let until = Instant::now() + Duration::from_millis(good_for);
        let approves = outcome.state == ApprovalState::Approved;
        // Before it is written: whoever reads there that it is approved must find it good. Alone this opens nothing.
        if approves {
            locked(&self.good).entry(id.clone()).or_insert(until);
        }
        let ruled = self.database.rule_on_approval(&id, &ruling, standing.as_ref()).await;
        if approves && !matches!(ruled, Ok(true)) {
            let mut good = locked(&self.good);
            if good.get(&id) == Some(&until) {
                good.remove(&id);
            }
        }
        if !ruled? {
            return Ok(None);
        }
        if let Some(rule) = standing {
            self.rules.stand(rule, fate.at_unix_ms);
        }
        if approves {
            // Somebody else may have tried, failed, and taken back what both had said.
            locked(&self.good).insert(id.clone(), until);
        }
        let row = self.get(None, &id).await;
        if let Ok(Some(row)) = &row {
            // Who decided is in the trail before what they decided about.
            self.note(row, fate.principal.as_ref(), via).await;
        }
        // It is decided, whatever can be read of it: nobody waits on.
        self.settle(&id, outcome);
        let row = row?;
        if let Some(row) = &row {
            self.tell(fate.kind, row);
        }
        Ok(row)
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
