use sqlx::Row as _;
use sqlx::sqlite::{SqliteConnection, SqlitePool, SqliteRow};

use super::audit::{integer, sum, unsigned};
use crate::{KeyRow, StoreError};

const COLUMNS: &str = "id, hash, name, kind, tenant, owner, agent, scopes, created_ms, expires_ms, revoked_ms, used_ms";

/// Adds a key; says no if another one that is not revoked bears its name.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    key: &KeyRow,
) -> Result<bool, sqlx::Error> {
    let inserted = sqlx::query(
        "INSERT INTO access_keys \
             (id, hash, name, kind, tenant, owner, agent, scopes, created_ms, expires_ms, revoked_ms, used_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )
    .bind(&key.id)
    .bind(key.hash.as_bytes().as_slice())
    .bind(&key.name)
    .bind(&key.kind)
    .bind(&key.tenant)
    .bind(&key.subject)
    .bind(key.agent.as_deref())
    .bind(serde_json::json!(key.scopes).to_string())
    .bind(integer(key.created_unix_ms))
    .bind(key.expires_unix_ms.map(integer))
    .bind(key.revoked_unix_ms.map(integer))
    .bind(key.used_unix_ms.map(integer))
    .execute(connection)
    .await;
    match inserted {
        Ok(_) => Ok(true),
        Err(sqlx::Error::Database(fault)) if fault.is_unique_violation() => Ok(false),
        Err(fault) => Err(fault),
    }
}

pub(super) async fn revoke(
    connection: &mut SqliteConnection,
    id: &str,
    at_unix_ms: u64,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE access_keys SET revoked_ms = ?2 WHERE id = ?1 AND revoked_ms IS NULL")
        .bind(id)
        .bind(integer(at_unix_ms))
        .execute(connection)
        .await
        .map(drop)
}

pub(super) async fn used(
    connection: &mut SqliteConnection,
    id: &str,
    at_unix_ms: u64,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE access_keys SET used_ms = ?2 WHERE id = ?1")
        .bind(id)
        .bind(integer(at_unix_ms))
        .execute(connection)
        .await
        .map(drop)
}

pub(super) async fn all(readers: &SqlitePool) -> Result<Vec<KeyRow>, StoreError> {
    let query = format!("SELECT {COLUMNS} FROM access_keys ORDER BY created_ms, id");
    sqlx::query(sqlx::AssertSqlSafe(query)).fetch_all(readers).await?.iter().map(row).collect()
}

fn row(row: &SqliteRow) -> Result<KeyRow, StoreError> {
    let scopes: String = row.try_get(7)?;
    let scopes = serde_json::from_str(&scopes)
        .map_err(|_| StoreError::Unreadable { column: "the scopes", value: scopes })?;
    let time = |column| Ok::<_, sqlx::Error>(row.try_get::<Option<i64>, _>(column)?.map(unsigned));
    Ok(KeyRow {
        id: row.try_get(0)?,
        hash: sum(row.try_get(1)?)?,
        name: row.try_get(2)?,
        kind: row.try_get(3)?,
        tenant: row.try_get(4)?,
        subject: row.try_get(5)?,
        agent: row.try_get(6)?,
        scopes,
        created_unix_ms: unsigned(row.try_get(8)?),
        expires_unix_ms: time(9)?,
        revoked_unix_ms: time(10)?,
        used_unix_ms: time(11)?,
    })
}
