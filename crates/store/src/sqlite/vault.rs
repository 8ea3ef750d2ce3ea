use sqlx::sqlite::{SqliteConnection, SqlitePool};

use crate::{StoreError, VaultPlace, VaultRow};

pub(super) async fn save(
    connection: &mut SqliteConnection,
    row: &VaultRow,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO vault (kind, server, tenant, owner, issuer, sealed, at_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
         ON CONFLICT (kind, server, tenant, owner, issuer) \
         DO UPDATE SET sealed = excluded.sealed, at_ms = excluded.at_ms",
    )
    .bind(row.place.kind)
    .bind(&row.place.server)
    .bind(&row.place.tenant)
    .bind(&row.place.owner)
    .bind(&row.place.issuer)
    .bind(&row.sealed)
    .bind(i64::try_from(row.at_ms).unwrap_or(i64::MAX))
    .execute(connection)
    .await
    .map(drop)
}

pub(super) async fn remove(
    connection: &mut SqliteConnection,
    place: &VaultPlace,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "DELETE FROM vault \
         WHERE kind = ?1 AND server = ?2 AND tenant = ?3 AND owner = ?4 AND issuer = ?5",
    )
    .bind(place.kind)
    .bind(&place.server)
    .bind(&place.tenant)
    .bind(&place.owner)
    .bind(&place.issuer)
    .execute(connection)
    .await
    .map(drop)
}

type Columns = (String, String, String, Vec<u8>, i64);

pub(super) async fn rows(
    readers: &SqlitePool,
    kind: &'static str,
    server: &str,
) -> Result<Vec<VaultRow>, StoreError> {
    let found: Vec<Columns> = sqlx::query_as(
        "SELECT tenant, owner, issuer, sealed, at_ms FROM vault \
         WHERE kind = ?1 AND server = ?2 ORDER BY at_ms DESC",
    )
    .bind(kind)
    .bind(server)
    .fetch_all(readers)
    .await?;
    let row = |(tenant, owner, issuer, sealed, at_ms): Columns| VaultRow {
        place: VaultPlace { kind, server: server.to_owned(), tenant, owner, issuer },
        sealed,
        at_ms: u64::try_from(at_ms).unwrap_or(0),
    };
    Ok(found.into_iter().map(row).collect())
}
