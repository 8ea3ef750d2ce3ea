//! Decides about an approval or lets it expire. Runs to the end even if the decider disconnects.

use std::sync::Arc;
use std::time::Duration;

use proto::{APPROVALS_DECIDE, Principal, TenantId, TraceId, Via};
use store::{ApprovalRow, ApprovalRuleRow, ApprovalState, AuditRow, Ruling, StoreError};
use tokio::time::Instant;

use crate::approvals::locked;
use crate::deadlines::{millis, run_to_end};
use crate::rules::Rules;
use crate::shown::{shown_files, stored_arguments};
use crate::{Approvals, Damage, DecideError, Decider, Decision, EventKind, Outcome, Verdict};

/// The longest reason that is kept, in bytes.
const MAX_REASON: usize = 8_000;

/// The longest reason of a cancellation, in characters.
const MAX_CANCEL_REASON: usize = 2_000;

/// How long a caller that had left may still get the reason of a rejection.
const REJECTION_VALID_MS: u64 = 10 * 60 * 1_000;

/// The end of a pending approval, and what follows from it.
struct Ending {
    /// The approval as it was before.
    row: ApprovalRow,
    outcome: Outcome,
    via: &'static str,
    /// The principal that decided; none for a grant or a rule.
    principal: Option<Arc<Principal>>,
    at_unix_ms: u64,
    good_until_unix_ms: Option<u64>,
    standing: Option<ApprovalRuleRow>,
    kind: EventKind,
}

impl Approvals {
    /// Decides. The first decision counts, unless the deadline came first.
    pub async fn decide(
        self: &Arc<Self>,
        id: &str,
        decider: &Decider,
        decision: Decision,
    ) -> Result<ApprovalRow, DecideError> {
        let unknown = || DecideError::Unknown(id.chars().take(100).collect());
        let row = match decision.decision {
            Verdict::Approve => match self.get(decider.tenant(), id).await {
                Err(StoreError::Unreadable { column, .. }) => {
                    return Err(Damage::Row { column }.into());
                }
                row => row?,
            },
            Verdict::Reject => self.get_to_end(decider.tenant(), id).await?,
        };
        let row = row.ok_or_else(unknown)?;
        check_right(decider, &row)?;
        let reason = decision.reason.as_deref().map(str::trim).filter(|text| !text.is_empty());
        if reason.is_some_and(|text| text.len() > MAX_REASON) {
            return Err(DecideError::Invalid("a reason has 8,000 bytes at most"));
        }
        if decision.decision == Verdict::Approve {
            stored_arguments(&row)?;
            shown_files(&row)?;
        }
        let now = self.clock.unix_ms();
        let (state, good_ms) = match decision.decision {
            Verdict::Approve => (ApprovalState::Approved, millis(self.terms().good_for)),
            Verdict::Reject => (ApprovalState::Rejected, REJECTION_VALID_MS),
        };
        let standing = match (&decision.standing, decision.decision, decider) {
            (None, ..) => None,
            (Some(standing), Verdict::Approve, Decider::Operator | Decider::Person(_)) => {
                Some(Rules::draft(&row, standing, decider.by(), now)?)
            }
            _ => {
                return Err(DecideError::Invalid(
                    "only an approval by a person can become a standing rule",
                ));
            }
        };
        if self.is_overdue(id) {
            self.expire(id).await?;
        }
        let ending = Ending {
            row,
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
        match self.end_approval(ending).await? {
            Some(row) => Ok(row),
            None => Err(self.missed(id).await?),
        }
    }

    /// An approval that is about to end without its call: of a damaged one, what can be read.
    async fn get_to_end(
        &self,
        tenant: Option<&str>,
        id: &str,
    ) -> Result<Option<ApprovalRow>, StoreError> {
        match self.get(tenant, id).await {
            Err(error @ StoreError::Unreadable { .. }) => {
                tracing::error!(%error, approval = id, "the row of an approval is damaged");
                self.database.damaged_approval(tenant, id).await
            }
            row => row,
        }
    }

    /// Why a decision had no effect: another decision or the deadline came first.
    async fn missed(self: &Arc<Self>, id: &str) -> Result<DecideError, StoreError> {
        let mut row = self.get_to_end(None, id).await?;
        if row.as_ref().is_some_and(|row| row.state == ApprovalState::Pending) {
            self.expire(id).await?;
            row = self.get_to_end(None, id).await?;
        }
        Ok(match row {
            Some(row) => DecideError::Over(Box::new(row)),
            None => DecideError::Unknown(id.to_owned()),
        })
    }

    /// Ends an approval after its deadline; returns false if it was decided before.
    pub async fn expire(self: &Arc<Self>, id: &str) -> Result<bool, StoreError> {
        let (state, by) = (ApprovalState::Expired, "nobody".to_owned());
        let Some(row) = self.get_to_end(None, id).await? else {
            locked(&self.due).remove(id);
            return Ok(false);
        };
        let ending = Ending {
            row,
            outcome: Outcome { state, by, reason: None },
            via: "deadline",
            principal: None,
            at_unix_ms: self.clock.unix_ms(),
            good_until_unix_ms: None,
            standing: None,
            kind: EventKind::Expired,
        };
        let ended = self.end_approval(ending).await?;
        locked(&self.due).remove(id);
        Ok(ended.is_some())
    }

    /// Cancels pending approvals, because the workflow that asked for them ended or was stopped by its owner. Those that were
    /// decided before are left as they are. Returns how many it cancelled.
    pub async fn cancel(
        self: &Arc<Self>,
        ids: &[String],
        by: &Arc<Principal>,
        reason: Option<&str>,
    ) -> Result<usize, StoreError> {
        let mut cancelled = 0;
        for id in ids {
            let Some(row) = self.get_to_end(None, id).await? else { continue };
            let ending = Ending {
                row,
                outcome: Outcome {
                    state: ApprovalState::Cancelled,
                    by: by.subject.clone(),
                    reason: reason.map(|text| text.chars().take(MAX_CANCEL_REASON).collect()),
                },
                via: "workflow",
                principal: Some(Arc::clone(by)),
                at_unix_ms: self.clock.unix_ms(),
                good_until_unix_ms: None,
                standing: None,
                kind: EventKind::Cancelled,
            };
            cancelled += usize::from(self.end_approval(ending).await?.is_some());
        }
        Ok(cancelled)
    }

    /// Ends an approval: writes it down, audits it and wakes the waiting call. Returns none if it has ended before.
    async fn end_approval(
        self: &Arc<Self>,
        ending: Ending,
    ) -> Result<Option<ApprovalRow>, StoreError> {
        let approvals = Arc::clone(self);
        run_to_end(async move { approvals.write_ending(ending).await }).await
    }

    async fn write_ending(&self, ending: Ending) -> Result<Option<ApprovalRow>, StoreError> {
        let Ending { row, outcome, via, standing, .. } = ending;
        let id = row.id.clone();
        let ruling = Ruling {
            state: outcome.state,
            by: &outcome.by,
            via,
            reason: outcome.reason.as_deref(),
            at_unix_ms: ending.at_unix_ms,
            good_until_unix_ms: ending.good_until_unix_ms,
            in_time: ending.kind == EventKind::Decided,
        };
        let good_for =
            ending.good_until_unix_ms.unwrap_or_default().saturating_sub(ending.at_unix_ms);
        let until = Instant::now() + Duration::from_millis(good_for);
        let approves = outcome.state == ApprovalState::Approved;
        // Before it is written: a call that reads the approved row must find it valid. This alone lets no call through.
        if approves {
            locked(&self.good).entry(id.clone()).or_insert(until);
        }
        let rule = || self.database.rule_on_approval(&id, &ruling, standing.as_ref());
        let ruled = self.change_once(&id, rule, |row| is_ruled_by(row, &ruling)).await;
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
            self.rules.add(rule, ending.at_unix_ms);
        }
        if approves {
            // A concurrent decision that failed may have removed it.
            locked(&self.good).insert(id.clone(), until);
        }
        // Not read again: who waits for the event must get it even if the database has just stopped.
        let row = ApprovalRow {
            state: outcome.state,
            decided_by: Some(outcome.by.clone()),
            decided_via: Some(via.to_owned()),
            reason: outcome.reason.clone(),
            decided_unix_ms: Some(ending.at_unix_ms),
            good_until_unix_ms: ending.good_until_unix_ms,
            ..row
        };
        // The decision is in the audit trail before the call that it is about.
        self.note(&row, ending.principal.as_ref(), via).await;
        self.settle(&id, outcome);
        self.send_event(ending.kind, &row);
        Ok(Some(row))
    }

    /// Writes the audit row of a decision, under the trace of its call.
    async fn note(&self, row: &ApprovalRow, by: Option<&Arc<Principal>>, via: &'static str) {
        let unnamed = || {
            Arc::new(Principal {
                tenant: TenantId::new(&row.tenant),
                subject: row.decided_by.clone().unwrap_or_default(),
                agent: None,
                scopes: Vec::new(),
                via: Via::Local,
            })
        };
        let entry = AuditRow {
            // may fail: the decision is audited even if the trace of its call cannot be read.
            trace: serde_json::from_value(row.trace.clone().into())
                .unwrap_or_else(|_| TraceId::random()),
            at_unix_ms: row.decided_unix_ms.unwrap_or_else(|| self.clock.unix_ms()),
            caller: by.map_or_else(unnamed, Arc::clone),
            door: via.into(),
            tool: row.tool.as_str().into(),
            version: row.version.as_str().into(),
            definition: Some(row.definition),
            arguments: row.arguments_digest,
            decision: row.state.as_str().into(),
            outcome: "OK".into(),
            blame: None,
            duration_us: 0,
        };
        if let Err(error) = self.audit.record(entry).await {
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

/// Whether a row has this ruling; its call may have used it since.
fn is_ruled_by(row: &ApprovalRow, ruling: &Ruling<'_>) -> bool {
    let used = ruling.state == ApprovalState::Approved && row.state == ApprovalState::Consumed;
    (used || row.state == ruling.state)
        && row.decided_unix_ms == Some(ruling.at_unix_ms)
        && row.decided_by.as_deref() == Some(ruling.by)
        && row.decided_via.as_deref() == Some(ruling.via)
}

/// Agents never decide, and a call is never decided with the credential that made it. The operator may always decide.
fn check_right(decider: &Decider, row: &ApprovalRow) -> Result<(), DecideError> {
    let Decider::Person(person) = decider else { return Ok(()) };
    if person.agent.is_some() || !person.holds(APPROVALS_DECIDE) {
        return Err(DecideError::Agent);
    }
    // A credential that may not decide is not the one that decides here, even for the same subject.
    let own = row.decider && row.tenant == person.tenant.as_str() && row.owner == person.subject;
    if own && !person.holds(proto::ADMIN) { Err(DecideError::OwnCall) } else { Ok(()) }
}
