//! References that servers issued themselves.

use proto::{Principal, TenantId};

use crate::sql::{Row, in_transaction, query};
use crate::{Database, StoreError};

/// More references of one server to one tenant are not stored.
const MAX_OF_SERVER: i64 = 10_000;

/// A reference that a server issued, and where that server serves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignReference {
    pub tenant: TenantId,
    /// The caller that received it.
    pub subject: String,
    pub agent: Option<String>,
    pub reference: String,
    pub server: String,
    pub uri: Option<String>,
    pub expires_ms: u64,
}

impl Database {
    /// Stores which server issued these references to which caller, up to a limit for each server.
    pub async fn remember_references(&self, rows: &[ForeignReference]) -> Result<(), StoreError> {
        in_transaction!(self.sql, |transaction| {
            for row in rows {
                transaction.lock(&format!("references {}", row.tenant.as_str())).await?;
                query(
                    "INSERT INTO foreign_refs (tenant, subject, agent, reference, server, uri, expires_ms) \
                     SELECT $1, $2, $3, $4, $5, $6, $7 \
                     WHERE (SELECT count(*) FROM foreign_refs WHERE tenant = $1 AND server = $5) < $8 \
                     ON CONFLICT (tenant, subject, agent, reference, server) \
                     DO UPDATE SET uri = excluded.uri, expires_ms = excluded.expires_ms",
                )
                .bind(row.tenant.as_str())
                .bind(&row.subject)
                .bind(row.agent.as_deref().unwrap_or_default())
                .bind(&row.reference)
                .bind(&row.server)
                .bind(row.uri.as_ref())
                .bind(row.expires_ms)
                .bind(MAX_OF_SERVER)
                .execute(transaction.connection())
                .await?;
            }
        })
    }

    /// The servers that issued a reference to a caller, as far as it has not expired.
    pub async fn foreign_references(
        &self,
        caller: &Principal,
        reference: &str,
        now_ms: u64,
    ) -> Result<Vec<ForeignReference>, StoreError> {
        let select = query(
            "SELECT server, uri, expires_ms FROM foreign_refs \
             WHERE tenant = $1 AND subject = $2 AND agent = $3 AND reference = $4 AND expires_ms > $5 \
             ORDER BY server",
        )
        .bind(caller.tenant.as_str())
        .bind(&caller.subject)
        .bind(caller.agent.as_deref().unwrap_or_default())
        .bind(reference)
        .bind(now_ms);
        let read = |row: &Row| {
            Ok(ForeignReference {
                tenant: caller.tenant.clone(),
                subject: caller.subject.clone(),
                agent: caller.agent.clone(),
                reference: reference.to_owned(),
                server: row.get("server")?,
                uri: row.optional("uri")?,
                expires_ms: row.get("expires_ms")?,
            })
        };
        self.sql.all(select).await?.iter().map(read).collect()
    }

    /// Deletes references that have expired.
    pub async fn forget_references(&self, now_ms: u64) -> Result<(), StoreError> {
        let delete = query("DELETE FROM foreign_refs WHERE expires_ms <= $1").bind(now_ms);
        self.sql.execute(delete).await.map(drop)
    }
}
