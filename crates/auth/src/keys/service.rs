//! Keys as the operator manages them, with audit rows.

use std::sync::Arc;

use ::operations::Caller;
use proto::{Clock, Secret, TraceId, digest};
use store::{AuditRow, CommitQueue, KeyRow};

use super::{ApiKeys, KeyFault, NewKey};

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
        self.record(caller, &row, "made").await;
        Ok((row, secret))
    }

    /// Every key that was ever made, oldest first.
    pub(super) fn list(&self) -> Vec<KeyRow> {
        self.keys.list()
    }

    /// Revokes a key by its name or its id.
    pub(super) async fn revoke(
        &self,
        caller: &Caller,
        name_or_id: &str,
    ) -> Result<KeyRow, KeyFault> {
        let row = self.keys.revoke(name_or_id).await?;
        self.record(caller, &row, "revoked").await;
        Ok(row)
    }

    async fn record(&self, caller: &Caller, key: &KeyRow, decision: &'static str) {
        let row = AuditRow {
            trace: caller.trace.unwrap_or_else(TraceId::random),
            at_unix_ms: Clock::default().unix_ms(),
            caller: Arc::clone(&caller.principal),
            door: "keys".into(),
            tool: format!("key:{}", key.name).into(),
            version: "".into(),
            definition: None,
            arguments: digest(key.id.as_bytes()),
            decision: decision.into(),
            outcome: "OK".into(),
            blame: None,
            duration_us: 0,
        };
        if let Err(error) = self.audit.record(row).await {
            tracing::error!(%error, key = key.name, "the audit row of a changed key could not be written");
        }
    }
}
