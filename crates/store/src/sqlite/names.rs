use sqlx::sqlite::{SqliteConnection, SqlitePool};

use super::audit::{integer, unsigned};
use crate::{ServerNameRow, StoreError};

pub(super) async fn all(pool: &SqlitePool) -> Result<Vec<ServerNameRow>, StoreError> {
    let rows: Vec<(String, String, String, i64)> =
        sqlx::query_as("SELECT name, tenant, owner, held_ms FROM server_names ORDER BY name")
            .fetch_all(pool)
            .await?;
    Ok(rows
        .into_iter()
        .map(|(name, tenant, owner, held)| ServerNameRow {
            name,
            tenant,
            owner,
            held_unix_ms: unsigned(held),
        })
        .collect())
}

/// Whoever came first keeps the name.
pub(super) async fn hold(
    connection: &mut SqliteConnection,
    row: &ServerNameRow,
) -> Result<bool, sqlx::Error> {
    let inserted = sqlx::query(
        "INSERT INTO server_names (name, tenant, owner, held_ms) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (name) DO NOTHING",
    )
    .bind(&row.name)
    .bind(&row.tenant)
    .bind(&row.owner)
    .bind(integer(row.held_unix_ms))
    .execute(connection)
    .await?;
    Ok(inserted.rows_affected() == 1)
}

pub(super) async fn release(
    connection: &mut SqliteConnection,
    name: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM server_names WHERE name = ?1").bind(name).execute(connection).await?;
    Ok(())
}
