//! Keys as the operator manages them, with audit rows.

use std::sync::Arc;

use ::operations::Caller;
use proto::{Clock, Secret, TraceId, digest};
use store::{AuditRow, CommitQueue, KeyRow, Listed};

use super::{ApiKeys, KeyFault, NewKey, RevokedKey};

/// Makes, lists and revokes keys, and writes audit rows about it.
pub struct KeyService {
    keys: Arc<ApiKeys>,
    audit: CommitQueue,
}

impl KeyService {
    pub fn new(keys: Arc<ApiKeys>, audit: CommitQueue) -> Arc<Self> {
        Arc::new(Self { keys, audit })
    }

    /// Makes a key; its text is returned only here.
    pub(super) async fn add(
        &self,
        caller: &Caller,
        new: NewKey,
    ) -> Result<(KeyRow, Secret), KeyFault> {
        let (row, secret) = self.keys.add(new).await?;
        self.record(caller, &row.id, &row.name, "made").await;
        Ok((row, secret))
    }

    /// Every key that was ever made, oldest first.
    pub(super) fn list(&self) -> Listed<KeyRow> {
        self.keys.list()
    }

    /// Revokes a key by its name or its id; a damaged one by its id.
    pub(super) async fn revoke(
        &self,
        caller: &Caller,
        name_or_id: &str,
    ) -> Result<RevokedKey, KeyFault> {
        let revoked = self.keys.revoke(name_or_id).await?;
        let (id, name) = match &revoked {
            RevokedKey::Key(row) => (&row.id, &row.name),
            RevokedKey::Damaged(row) => (&row.id, &row.id),
        };
        self.record(caller, id, name, "revoked").await;
        Ok(revoked)
    }

    async fn record(&self, caller: &Caller, id: &str, name: &str, decision: &'static str) {
        let row = AuditRow {
            trace: caller.trace.unwrap_or_else(TraceId::random),
            at_unix_ms: Clock::default().unix_ms(),
            caller: Arc::clone(&caller.principal),
            door: "keys".into(),
            tool: format!("key:{name}").into(),
            version: "".into(),
            definition: None,
            arguments: digest(id.as_bytes()),
            decision: decision.into(),
            outcome: "OK".into(),
            blame: None,
            duration_us: 0,
        };
        if let Err(error) = self.audit.record(row).await {
            tracing::error!(%error, key = name, "the audit row of a changed key could not be written");
        }
    }
}
