//! Standing rules: approvals that apply to later calls, too. Kept in memory, because every gated call looks them up.

use std::sync::{PoisonError, RwLock};

use proto::{Digest, Principal, digest_of_parts};
use store::{ApprovalRow, ApprovalRuleRow, DamagedRow, Database, Listed, StoreError};
use tokio::time::Instant;

use crate::deadlines::remaining;
use crate::{DecideError, Extent, Standing};

const HOUR: u64 = 60 * 60;
const MAX_SECONDS: u64 = 30 * 24 * HOUR;

/// All standing rules.
pub(crate) struct Rules {
    database: Database,
    rules: RwLock<Vec<InForce>>,
    /// Rules that cannot be read: they allow nothing, and are listed so that a person can remove them.
    damaged: RwLock<Vec<DamagedRow>>,
}

/// A rule in force, and when it ends by the monotonic clock.
struct InForce {
    row: ApprovalRuleRow,
    until: Instant,
}

impl InForce {
    fn new(row: ApprovalRuleRow, now_ms: u64) -> Self {
        let left = remaining(row.created_unix_ms, row.expires_unix_ms, now_ms);
        Self { row, until: Instant::now() + left }
    }

    fn holds(&self, now_ms: u64) -> bool {
        self.row.expires_unix_ms > now_ms && self.until > Instant::now()
    }
}

/// The call that a rule is looked up for.
pub struct RuleQuery<'a> {
    pub principal: &'a Principal,
    pub tool: &'a str,
    pub definition: &'a Digest,
    pub code: Option<&'a Digest>,
    pub arguments: &'a Digest,
    /// The files that the arguments name, as JSON.
    pub files: &'a str,
    pub idempotency_key: Option<&'a str>,
    pub run: Option<&'a str>,
}

/// The digest of everything of the caller's that reaches the tool: the arguments, the contents of the files that they name, and
/// the idempotency key.
fn these(arguments: &Digest, files: &str, key: Option<&str>) -> Digest {
    let arguments_bytes = arguments.as_bytes().as_slice();
    match (files, key) {
        ("[]", None) => *arguments,
        (files, None) => digest_of_parts([arguments_bytes, files.as_bytes()]),
        (files, Some(key)) => digest_of_parts([arguments_bytes, files.as_bytes(), key.as_bytes()]),
    }
}

impl Rules {
    pub(crate) async fn open(database: Database, now_ms: u64) -> Result<Self, StoreError> {
        let Listed { rows, damaged, .. } =
            database.approval_rules().await?.map(|row| InForce::new(row, now_ms));
        Ok(Self { database, rules: RwLock::new(rows), damaged: RwLock::new(damaged) })
    }

    /// The rule that allows this call, if there is one.
    pub(crate) fn matching(&self, query: &RuleQuery<'_>, now_ms: u64) -> Option<String> {
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        let these = these(query.arguments, query.files, query.idempotency_key);
        let found =
            rules.iter().filter(|rule| rule.holds(now_ms)).map(|rule| &rule.row).find(|rule| {
                rule.tool == query.tool
                    && rule.tenant == query.principal.tenant.as_str()
                    && rule.owner == query.principal.subject
                    && rule.agent == query.principal.agent
                    && rule.definition == *query.definition
                    && rule.code.as_ref() == query.code
                    && rule.arguments_digest.is_none_or(|digest| digest == these)
                    && rule.run.as_deref().is_none_or(|run| query.run == Some(run))
            });
        found.map(|rule| rule.id.clone())
    }

    /// The rule of a decision, before it is stored.
    pub(crate) fn draft(
        row: &ApprovalRow,
        standing: &Standing,
        by: &str,
        now_ms: u64,
    ) -> Result<ApprovalRuleRow, DecideError> {
        let seconds = standing.seconds.unwrap_or(HOUR);
        if !(1..=MAX_SECONDS).contains(&seconds) {
            return Err(DecideError::Invalid("a standing rule lasts 1 second to 30 days"));
        }
        if standing.run && row.run.is_none() {
            return Err(DecideError::Invalid("the call belongs to no run that has a name"));
        }
        let exactly = standing.arguments == Extent::These;
        let key = row.idempotency_key.as_deref();
        Ok(ApprovalRuleRow {
            id: proto::TraceId::random().to_string(),
            tenant: row.tenant.clone(),
            owner: row.owner.clone(),
            agent: row.agent.clone(),
            tool: row.tool.clone(),
            definition: row.definition,
            code: row.code,
            arguments_digest: exactly.then(|| these(&row.arguments_digest, &row.files, key)),
            arguments: row.arguments.clone().filter(|_| exactly),
            run: row.run.clone().filter(|_| standing.run),
            created_by: by.to_owned(),
            created_unix_ms: now_ms,
            expires_unix_ms: now_ms.saturating_add(seconds * 1000),
            uses: 0,
        })
    }

    /// Puts a rule in force that is in the database.
    pub(crate) fn add(&self, rule: ApprovalRuleRow, now_ms: u64) {
        let rule = InForce::new(rule, now_ms);
        self.rules.write().unwrap_or_else(PoisonError::into_inner).push(rule);
    }

    /// Counts a use; returns false if the rule has ended or was removed.
    pub(crate) async fn used(&self, id: &str, now_ms: u64) -> Result<bool, StoreError> {
        if !self.database.count_approval_rule_use(id, now_ms).await? {
            return Ok(false);
        }
        let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        let rule = rules.iter_mut().find(|rule| rule.row.id == id && rule.holds(now_ms));
        Ok(rule.map(|rule| rule.row.uses += 1).is_some())
    }

    /// The rules of a tenant, or all, that have not ended or are damaged.
    pub(crate) fn list(&self, tenant: Option<&str>, now_ms: u64) -> Listed<ApprovalRuleRow> {
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        let shown = |rule: &&InForce| {
            rule.holds(now_ms) && tenant.is_none_or(|tenant| rule.row.tenant == tenant)
        };
        let rows = rules.iter().filter(shown).map(|rule| rule.row.clone()).collect();
        let damaged = self.damaged.read().unwrap_or_else(PoisonError::into_inner);
        let damaged = damaged.iter().filter(|row| is_of(row, tenant)).cloned().collect();
        Listed { rows, damaged, next: None }
    }

    /// Removes a rule; returns false if the tenant has none of this id.
    pub(crate) async fn remove(&self, tenant: Option<&str>, id: &str) -> Result<bool, StoreError> {
        let ours = |rule: &ApprovalRuleRow| {
            rule.id == id && tenant.is_none_or(|tenant| rule.tenant == tenant)
        };
        {
            // Removed from memory first: a failed write must not keep the rule in force in this process.
            let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
            let before = rules.len();
            rules.retain(|rule| !ours(&rule.row));
            let mut damaged = self.damaged.write().unwrap_or_else(PoisonError::into_inner);
            let damaged_before = damaged.len();
            damaged.retain(|row| !(row.id == id && is_of(row, tenant)));
            if (rules.len(), damaged.len()) == (before, damaged_before) {
                return Ok(false);
            }
        }
        self.database.remove_approval_rule(id).await?;
        Ok(true)
    }
}

/// Whether a damaged rule belongs to this tenant, or any may be seen.
fn is_of(row: &DamagedRow, tenant: Option<&str>) -> bool {
    tenant.is_none_or(|tenant| row.tenant.as_deref() == Some(tenant))
}
