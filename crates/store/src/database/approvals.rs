//! What the database keeps about calls that a person must approve.

use proto::Digest;

use super::{Database, Engine};
use crate::{ApprovalFilter, ApprovalRow, ApprovalRuleRow, Ruling, StoreError};

impl Database {
    /// Keeps a new confirmation; says no if so many of the same caller (tenant, subject, agent) wait already.
    pub async fn add_approval(&self, row: &ApprovalRow, most: u64) -> Result<bool, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.add_approval(row, most).await
    }

    /// Decides about a pending confirmation, and keeps the standing rule that comes with it; says no, and keeps
    /// nothing, if somebody, or its deadline, was faster.
    pub async fn rule_on_approval(
        &self,
        id: &str,
        ruling: &Ruling<'_>,
        standing: Option<&ApprovalRuleRow>,
    ) -> Result<bool, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.rule_on_approval(id, ruling, standing).await
    }

    /// Uses an approval up; says no if it cannot be used, or not any more.
    pub async fn consume_approval(&self, id: &str, now_unix_ms: u64) -> Result<bool, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.consume_approval(id, now_unix_ms).await
    }

    /// Notes that a caller has heard of a rejection; says no if it had before.
    pub async fn approval_told(&self, id: &str) -> Result<bool, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.approval_told(id).await
    }

    /// What there is about an equal call and may still matter, oldest first.
    pub async fn approvals_alike(
        &self,
        fingerprint: &Digest,
        now_unix_ms: u64,
    ) -> Result<Vec<ApprovalRow>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.approvals_alike(fingerprint, now_unix_ms).await
    }

    /// One confirmation, whole; of this tenant, if one is named.
    pub async fn approval(
        &self,
        tenant: Option<&str>,
        id: &str,
    ) -> Result<Option<ApprovalRow>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.approval(tenant, id).await
    }

    /// A page of confirmations: oldest first of those that wait, newest first of others.
    pub async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<ApprovalRow>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.approvals(filter).await
    }

    /// Everything that waits: id, when it began, when its time is over.
    pub async fn open_approvals(&self) -> Result<Vec<(String, u64, u64)>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.open_approvals().await
    }

    /// Forgets what was decided, and rules that ended, before a time.
    pub async fn forget_approvals(&self, before_unix_ms: u64) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.forget_approvals(before_unix_ms).await
    }

    /// All standing rules, oldest first.
    pub async fn approval_rules(&self) -> Result<Vec<ApprovalRuleRow>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.approval_rules().await
    }

    /// Takes a standing rule out.
    pub async fn remove_approval_rule(&self, id: &str) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.remove_approval_rule(id).await
    }

    /// Counts a use of a standing rule; says no if it holds no more.
    pub async fn approval_rule_used(&self, id: &str, now_unix_ms: u64) -> Result<bool, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.approval_rule_used(id, now_unix_ms).await
    }
}
