use proto::Principal;
use sqlx::Connection as _;
use sqlx::Row as _;

use super::audit::{integer, unsigned};
use super::{Sqlite, settle};
use crate::{ForeignReference, StoreError};

/// More references of one server to one tenant are not remembered.
const MAX_OF_SERVER: i64 = 10_000;

impl Sqlite {
    pub(crate) async fn remember_references(
        &self,
        rows: &[ForeignReference],
    ) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = async {
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            for row in rows {
                sqlx::query(
                    "INSERT INTO foreign_refs (tenant, subject, agent, reference, server, uri, expires_ms) \
                     SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 \
                     WHERE (SELECT COUNT(*) FROM foreign_refs WHERE tenant = ?1 AND server = ?5) < ?8 \
                     ON CONFLICT (tenant, subject, agent, reference, server) \
                     DO UPDATE SET uri = excluded.uri, expires_ms = excluded.expires_ms",
                )
                .bind(row.tenant.as_str())
                .bind(&row.subject)
                .bind(row.agent.as_deref().unwrap_or_default())
                .bind(&row.reference)
                .bind(&row.server)
                .bind(&row.uri)
                .bind(integer(row.expires_ms))
                .bind(MAX_OF_SERVER)
                .execute(&mut *transaction)
                .await?;
            }
            transaction.commit().await
        };
        let result = result.await;
        settle(connection, result)
    }

    pub(crate) async fn foreign_references(
        &self,
        caller: &Principal,
        reference: &str,
        now_ms: u64,
    ) -> Result<Vec<ForeignReference>, StoreError> {
        let rows = sqlx::query(
            "SELECT server, uri, expires_ms FROM foreign_refs \
             WHERE tenant = ?1 AND subject = ?2 AND agent = ?3 AND reference = ?4 AND expires_ms > ?5 \
             ORDER BY server",
        )
        .bind(caller.tenant.as_str())
        .bind(&caller.subject)
        .bind(caller.agent.as_deref().unwrap_or_default())
        .bind(reference)
        .bind(integer(now_ms))
        .fetch_all(&self.readers)
        .await?;
        let read = |row: sqlx::sqlite::SqliteRow| {
            Ok(ForeignReference {
                tenant: caller.tenant.clone(),
                subject: caller.subject.clone(),
                agent: caller.agent.clone(),
                reference: reference.to_owned(),
                server: row.try_get("server")?,
                uri: row.try_get("uri")?,
                expires_ms: unsigned(row.try_get("expires_ms")?),
            })
        };
        rows.into_iter().map(read).collect()
    }

    /// Forgets what has expired.
    pub(crate) async fn forget_references(&self, now_ms: u64) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = sqlx::query("DELETE FROM foreign_refs WHERE expires_ms <= ?1")
            .bind(integer(now_ms))
            .execute(&mut *connection)
            .await;
        settle(connection, result.map(drop))
    }
}
