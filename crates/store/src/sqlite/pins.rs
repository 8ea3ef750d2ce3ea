use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnection, SqlitePool};

use crate::{Pin, PinnedDefinition, StoreError};

/// So many at a time: each definition may have a hundred kilobytes.
const AT_ONCE: usize = 200;

pub(super) async fn all(pool: &SqlitePool) -> Result<Vec<Pin>, StoreError> {
    let rows: Vec<(String, String, u32, String)> =
        sqlx::query_as("SELECT server, tool, form, sums FROM pins").fetch_all(pool).await?;
    Ok(rows
        .into_iter()
        .map(|(server, tool, form, sums)| Pin { server, tool, form, sums })
        .collect())
}

pub(super) async fn definition(
    pool: &SqlitePool,
    server: &str,
    tool: &str,
) -> Result<Option<String>, StoreError> {
    Ok(sqlx::query_scalar("SELECT definition FROM pins WHERE server = ?1 AND tool = ?2")
        .bind(server)
        .bind(tool)
        .fetch_optional(pool)
        .await?)
}

/// An approved pin takes the place of the one before; one of first use never does.
pub(super) async fn save(
    connection: &mut SqliteConnection,
    pins: &[PinnedDefinition],
    approved: bool,
    at_ms: i64,
) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    for some in pins.chunks(AT_ONCE) {
        let rows: Vec<_> = some
            .iter()
            .map(|PinnedDefinition { pin, definition }| {
                (&pin.server, &pin.tool, pin.form, &pin.sums, definition)
            })
            .collect();
        let insert = if approved {
            "INSERT INTO pins (server, tool, form, sums, definition, approved, at_ms) \
             SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, 1, ?2 \
             FROM json_each(?1) WHERE true \
             ON CONFLICT (server, tool) DO UPDATE SET form = excluded.form, sums = excluded.sums, \
             definition = excluded.definition, approved = 1, at_ms = excluded.at_ms"
        } else {
            "INSERT INTO pins (server, tool, form, sums, definition, approved, at_ms) \
             SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, 0, ?2 \
             FROM json_each(?1) WHERE true ON CONFLICT (server, tool) DO NOTHING"
        };
        sqlx::query(insert)
            .bind(serde_json::json!(rows).to_string())
            .bind(at_ms)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await
}
