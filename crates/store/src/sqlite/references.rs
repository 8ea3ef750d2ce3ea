use proto::TenantId;
use sqlx::Connection as _;
use sqlx::Row as _;

use super::audit::{integer, unsigned};
use super::{Sqlite, settle};
use crate::{ForeignReference, StoreError};

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
                    "INSERT INTO foreign_refs (tenant, reference, server, uri, expires_ms) VALUES (?1, ?2, ?3, ?4, ?5) \
                     ON CONFLICT (tenant, reference) DO UPDATE SET server = excluded.server, uri = excluded.uri, \
                     expires_ms = excluded.expires_ms",
                )
                .bind(row.tenant.as_str())
                .bind(&row.reference)
                .bind(&row.server)
                .bind(&row.uri)
                .bind(integer(row.expires_ms))
                .execute(&mut *transaction)
                .await?;
            }
            transaction.commit().await
        };
        let result = result.await;
        settle(connection, result)
    }

    pub(crate) async fn foreign_reference(
        &self,
        tenant: &TenantId,
        reference: &str,
        now_ms: u64,
    ) -> Result<Option<ForeignReference>, StoreError> {
        let row = sqlx::query(
            "SELECT server, uri, expires_ms FROM foreign_refs \
             WHERE tenant = ?1 AND reference = ?2 AND expires_ms > ?3",
        )
        .bind(tenant.as_str())
        .bind(reference)
        .bind(integer(now_ms))
        .fetch_optional(&self.readers)
        .await?;
        row.map(|row| {
            Ok(ForeignReference {
                tenant: tenant.clone(),
                reference: reference.to_owned(),
                server: row.try_get("server")?,
                uri: row.try_get("uri")?,
                expires_ms: unsigned(row.try_get("expires_ms")?),
            })
        })
        .transpose()
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
