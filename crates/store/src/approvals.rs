//! Approvals. Each change of state is one conditional update, so that of several deciders exactly one succeeds.

use std::fmt;
use std::str::FromStr;

use proto::Digest;
use serde::{Deserialize, Serialize};

use crate::sql::{Query, Row, in_transaction, query};
use crate::{Database, Listed, StoreError};

mod read;

use read::{digest_request, digest_rule, read, read_damaged, read_rule};

/// Longer arguments are left out of lists.
const LISTED_ARGUMENTS: u64 = 2_000;

const COLUMNS: &str = "id, tenant, owner, agent, decider, tool, version, definition, arguments_digest, files, fingerprint, \
     trace, run, door, created_ms, deadline_ms, state, decided_by, decided_via, reason, decided_ms, good_until_ms, \
     CAST(octet_length(arguments) AS BIGINT) AS arguments_bytes, code, idempotency_key, request_reason, request_digest";

/// The state of an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalState {
    /// A person has to decide.
    Pending,
    /// A person approved the call, and no call has used the approval yet.
    Approved,
    Rejected,
    /// The deadline passed without a decision.
    Expired,
    /// A call was made with it.
    Consumed,
    /// The call that it was about no longer exists.
    Cancelled,
}

impl ApprovalState {
    const ALL: [Self; 6] = [
        Self::Pending,
        Self::Approved,
        Self::Rejected,
        Self::Expired,
        Self::Consumed,
        Self::Cancelled,
    ];

    /// The word that is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Consumed => "consumed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for ApprovalState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ApprovalState {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or(())
    }
}

/// An approval: the call that a person is asked about, and the decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRow {
    pub id: String,
    pub tenant: String,
    /// The subject of the caller.
    pub owner: String,
    pub agent: Option<String>,
    /// Whether the credential that made the call could also decide.
    #[serde(skip)]
    pub decider: bool,
    pub tool: String,
    pub version: String,
    pub definition: Digest,
    /// The digest of the code that the call would run; none if the tool runs no code of the gateway's host.
    pub code: Option<Digest>,
    /// The caller's idempotency key, which reaches the tool.
    pub idempotency_key: Option<String>,
    /// Why the author of a workflow's task wants a person to approve it.
    pub request_reason: Option<String>,
    /// The canonical arguments; lists leave long ones out.
    pub arguments: Option<String>,
    pub arguments_bytes: u64,
    pub arguments_digest: Digest,
    /// The files that the arguments name, as JSON.
    #[serde(skip)]
    pub files: String,
    #[serde(skip)]
    pub fingerprint: Digest,
    pub trace: String,
    pub run: Option<String>,
    pub door: String,
    pub created_unix_ms: u64,
    pub deadline_unix_ms: u64,
    pub state: ApprovalState,
    pub decided_by: Option<String>,
    pub decided_via: Option<String>,
    pub reason: Option<String>,
    pub decided_unix_ms: Option<u64>,
    /// Until when an approved call may use the approval.
    pub good_until_unix_ms: Option<u64>,
}

/// A decision about a pending approval: by a person, or by its deadline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling<'a> {
    pub state: ApprovalState,
    pub by: &'a str,
    pub via: &'a str,
    pub reason: Option<&'a str>,
    pub at_unix_ms: u64,
    pub good_until_unix_ms: Option<u64>,
    /// Whether it counts only before the deadline, as every decision of a person does.
    pub in_time: bool,
}

/// Which approvals to list: pending ones oldest first, others newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalFilter {
    /// Only of this tenant; set for every caller that is not the operator.
    pub tenant: Option<String>,
    pub state: Option<ApprovalState>,
    /// Only those after this creation time and id, the last of the page before.
    pub after: Option<(u64, String)>,
    pub limit: u32,
}

/// The time in which a pending approval may be decided, or an approved one used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalSpan {
    pub id: String,
    pub from_unix_ms: u64,
    pub until_unix_ms: u64,
}

/// A standing rule: an approval for all calls of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRuleRow {
    pub id: String,
    pub tenant: String,
    pub owner: String,
    pub agent: Option<String>,
    pub tool: String,
    pub definition: Digest,
    /// The digest of the code that was approved; none if the tool runs no code of the gateway's host.
    pub code: Option<Digest>,
    /// None for any arguments.
    pub arguments_digest: Option<Digest>,
    pub arguments: Option<String>,
    /// None for any run.
    pub run: Option<String>,
    pub created_by: String,
    pub created_unix_ms: u64,
    pub expires_unix_ms: u64,
    pub uses: u64,
}

impl Database {
    /// Stores a new approval with its arguments; returns false if the same caller (tenant, subject, agent) has `limit` pending ones.
    pub async fn add_approval(&self, row: &ApprovalRow, limit: u64) -> Result<bool, StoreError> {
        let arguments = row.arguments.as_deref().ok_or(StoreError::NoArguments)?;
        let request_digest = digest_request(row);
        let insert = query(
            "INSERT INTO approvals (id, tenant, owner, agent, decider, tool, version, definition, arguments, \
             arguments_digest, files, fingerprint, trace, run, door, created_ms, deadline_ms, state, code, \
             idempotency_key, request_reason, request_digest) \
             SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22 \
             WHERE (SELECT count(*) FROM approvals WHERE state = 'pending' AND tenant = $2 AND owner = $3 \
             AND agent IS NOT DISTINCT FROM $4) < $23",
        )
        .bind(&row.id)
        .bind(&row.tenant)
        .bind(&row.owner)
        .bind(row.agent.as_deref())
        .bind(row.decider)
        .bind(&row.tool)
        .bind(&row.version)
        .bind(&row.definition)
        .bind(arguments)
        .bind(&row.arguments_digest)
        .bind(&row.files)
        .bind(&row.fingerprint)
        .bind(&row.trace)
        .bind(row.run.as_deref())
        .bind(&row.door)
        .bind(row.created_unix_ms)
        .bind(row.deadline_unix_ms)
        .bind(row.state.as_str())
        .bind(row.code.as_ref())
        .bind(row.idempotency_key.as_deref())
        .bind(row.request_reason.as_deref())
        .bind(&request_digest)
        .bind(limit);
        let lock = format!("approvals {}", row.tenant);
        Ok(self.sql.execute_locked(&lock, insert).await? == 1)
    }

    /// Decides about a pending approval and stores the standing rule that comes with the decision; returns false, and
    /// stores nothing, if another decision or the deadline came first.
    pub async fn rule_on_approval(
        &self,
        id: &str,
        ruling: &Ruling<'_>,
        standing: Option<&ApprovalRuleRow>,
    ) -> Result<bool, StoreError> {
        let decide = query(
            "UPDATE approvals SET state = $2, decided_by = $3, decided_via = $4, reason = $5, decided_ms = $6, \
             good_until_ms = $7 WHERE id = $1 AND state = 'pending' AND (deadline_ms > $6 OR NOT $8)",
        )
        .bind(id)
        .bind(ruling.state.as_str())
        .bind(ruling.by)
        .bind(ruling.via)
        .bind(ruling.reason)
        .bind(ruling.at_unix_ms)
        .bind(ruling.good_until_unix_ms)
        .bind(ruling.in_time);
        let Some(standing) = standing else { return Ok(self.sql.execute(decide).await? == 1) };
        let rule_digest = digest_rule(standing);
        in_transaction!(self.sql, |transaction| {
            let decided = decide.execute(transaction.connection()).await? == 1;
            if decided {
                let insert = insert_rule(standing, &rule_digest);
                insert.execute(transaction.connection()).await?;
            }
            decided
        })
    }

    /// Uses an approval up; returns false if it cannot be used, or not any more.
    pub async fn consume_approval(&self, id: &str, now_unix_ms: u64) -> Result<bool, StoreError> {
        let update = query(
            "UPDATE approvals SET state = 'consumed', reported = true \
             WHERE id = $1 AND state = 'approved' AND good_until_ms > $2",
        );
        Ok(self.sql.execute(update.bind(id).bind(now_unix_ms)).await? == 1)
    }

    /// Notes that a rejection was reported to its caller; returns false if it had been before.
    pub async fn mark_rejection_reported(&self, id: &str) -> Result<bool, StoreError> {
        let update = query("UPDATE approvals SET reported = true WHERE id = $1 AND NOT reported");
        Ok(self.sql.execute(update.bind(id)).await? == 1)
    }

    /// The approvals of an equal call that may still matter, oldest first. A damaged one grants nothing and is left out.
    pub async fn matching_approvals(
        &self,
        fingerprint: &Digest,
        now_unix_ms: u64,
    ) -> Result<Vec<ApprovalRow>, StoreError> {
        let select = select_with("arguments").push(
            " AND fingerprint = $1 AND state IN ('pending', 'approved', 'rejected') AND (state = 'pending' OR \
             (state = 'approved' AND good_until_ms > $2) OR \
             (state = 'rejected' AND NOT reported AND good_until_ms > $2)) ORDER BY created_ms, id LIMIT 200",
        );
        let rows = self.sql.all(select.bind(fingerprint).bind(now_unix_ms)).await?;
        Ok(Listed::read("approvals", "id", &rows, read)?.rows)
    }

    /// One approval with all its arguments; of this tenant, if one is named.
    pub async fn approval(
        &self,
        tenant: Option<&str>,
        id: &str,
    ) -> Result<Option<ApprovalRow>, StoreError> {
        let select = select_with("arguments").and("id = ", Some(id)).and("tenant = ", tenant);
        self.sql.first(select).await?.as_ref().map(read).transpose()
    }

    /// What can be read of a damaged approval, so that it can still be ended; of this tenant, if one is named.
    pub async fn damaged_approval(
        &self,
        tenant: Option<&str>,
        id: &str,
    ) -> Result<Option<ApprovalRow>, StoreError> {
        let select = select_with("arguments").and("id = ", Some(id)).and("tenant = ", tenant);
        Ok(self.sql.first(select).await?.as_ref().map(read_damaged))
    }

    /// A page of approvals: pending ones oldest first, others newest first.
    pub async fn approvals(
        &self,
        filter: &ApprovalFilter,
    ) -> Result<Listed<ApprovalRow>, StoreError> {
        let oldest_first = filter.state == Some(ApprovalState::Pending);
        let short = format!(
            "CASE WHEN octet_length(arguments) <= {LISTED_ARGUMENTS} THEN arguments END AS arguments"
        );
        let mut select = select_with(&short).and("tenant = ", filter.tenant.as_deref());
        // The literal lets the planner use the partial index over pending approvals.
        select = match filter.state {
            Some(ApprovalState::Pending) => select.push(" AND state = 'pending'"),
            state => select.and("state = ", state.map(ApprovalState::as_str)),
        };
        let (beyond, order) = if oldest_first {
            (" AND (created_ms, id) > (", "created_ms, id")
        } else {
            (" AND (created_ms, id) < (", "created_ms DESC, id DESC")
        };
        if let Some((created, id)) = &filter.after {
            select = select.push(beyond).push_bind(*created).push(", ").push_bind(id).push(")");
        }
        select = select.push(" ORDER BY ").push(order).push(" LIMIT ").push_bind(filter.limit);
        let rows = self.sql.all(select).await?;
        let mut listed = Listed::read("approvals", "id", &rows, read)?;
        if rows.len() == filter.limit as usize {
            // A row that has no position is behind all others, or before them.
            let position = |row: &Row| Some((row.get("created_ms").ok()?, row.get("id").ok()?));
            listed.next = rows.iter().rev().find_map(position);
        }
        Ok(listed)
    }

    /// When the time of each pending approval begins and ends. Damaged ones are left out.
    pub async fn pending_approvals(&self) -> Result<Vec<ApprovalSpan>, StoreError> {
        self.approval_spans(
            "SELECT id, created_ms AS from_ms, deadline_ms AS until_ms FROM approvals WHERE state = 'pending'",
        )
        .await
    }

    /// When the time of each approval that no call has used yet begins and ends. Damaged ones are left out.
    pub async fn unused_approvals(&self) -> Result<Vec<ApprovalSpan>, StoreError> {
        self.approval_spans(
            "SELECT id, decided_ms AS from_ms, good_until_ms AS until_ms FROM approvals WHERE state = 'approved'",
        )
        .await
    }

    async fn approval_spans(&self, select: &'static str) -> Result<Vec<ApprovalSpan>, StoreError> {
        let read = |row: &Row| {
            Ok(ApprovalSpan {
                id: row.get("id")?,
                from_unix_ms: row.get("from_ms")?,
                until_unix_ms: row.get("until_ms")?,
            })
        };
        Ok(Listed::read("approvals", "id", &self.sql.all(query(select)).await?, read)?.rows)
    }

    /// Deletes approvals that were decided, and rules that ended, before a time.
    pub async fn forget_approvals(&self, before_unix_ms: u64) -> Result<(), StoreError> {
        for delete in [
            "DELETE FROM approvals WHERE created_ms < $1 AND state <> 'pending'",
            "DELETE FROM approval_rules WHERE expires_ms < $1",
        ] {
            self.sql.execute(query(delete).bind(before_unix_ms)).await?;
        }
        Ok(())
    }

    /// All standing rules, oldest first. One that is not as it was stored is damaged.
    pub async fn approval_rules(&self) -> Result<Listed<ApprovalRuleRow>, StoreError> {
        let select = query(
            "SELECT id, tenant, owner, agent, tool, definition, arguments_digest, arguments, run, created_by, \
             created_ms, expires_ms, uses, code, rule_digest FROM approval_rules ORDER BY created_ms, id",
        );
        Listed::read("approval_rules", "id", &self.sql.all(select).await?, read_rule)
    }

    /// Deletes a standing rule.
    pub async fn remove_approval_rule(&self, id: &str) -> Result<(), StoreError> {
        let delete = query("DELETE FROM approval_rules WHERE id = $1").bind(id);
        self.sql.execute(delete).await.map(drop)
    }

    /// Counts a use of a standing rule; returns false if the rule has ended.
    pub async fn count_approval_rule_use(
        &self,
        id: &str,
        now_unix_ms: u64,
    ) -> Result<bool, StoreError> {
        let update =
            query("UPDATE approval_rules SET uses = uses + 1 WHERE id = $1 AND expires_ms > $2");
        Ok(self.sql.execute(update.bind(id).bind(now_unix_ms)).await? == 1)
    }
}

fn select_with<'q>(arguments: &str) -> Query<'q> {
    query(format!("SELECT {COLUMNS}, {arguments} FROM approvals WHERE true"))
}

fn insert_rule<'q>(rule: &'q ApprovalRuleRow, rule_digest: &'q Digest) -> Query<'q> {
    query(
        "INSERT INTO approval_rules (id, tenant, owner, agent, tool, definition, arguments_digest, arguments, run, \
         created_by, created_ms, expires_ms, uses, code, rule_digest) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
    )
    .bind(&rule.id)
    .bind(&rule.tenant)
    .bind(&rule.owner)
    .bind(rule.agent.as_deref())
    .bind(&rule.tool)
    .bind(&rule.definition)
    .bind(rule.arguments_digest.as_ref())
    .bind(rule.arguments.as_deref())
    .bind(rule.run.as_deref())
    .bind(&rule.created_by)
    .bind(rule.created_unix_ms)
    .bind(rule.expires_unix_ms)
    .bind(rule.uses)
    .bind(rule.code.as_ref())
    .bind(rule_digest)
}
