//! Brings the schema of a database up to date.

use proto::digest;

use super::{Connection, Dialect, query};
use crate::StoreError;

/// Applies the scripts that are missing, within a transaction. `database` names the database in errors.
pub(super) async fn migrate(
    connection: &mut Connection,
    dialect: Dialect,
    database: &str,
) -> Result<(), StoreError> {
    let scripts = dialect.migrations();
    let create = "CREATE TABLE IF NOT EXISTS schema_versions \
                  (version BIGINT NOT NULL PRIMARY KEY, digest TEXT NOT NULL)";
    query(create).execute(connection).await?;
    let applied = query("SELECT version, digest FROM schema_versions ORDER BY version DESC");
    let applied = applied.rows(connection).await?;
    let known = scripts.len() as u64;
    for row in &applied {
        let found: u64 = row.get("version")?;
        if found > known {
            return Err(StoreError::NewerDatabase { database: database.to_owned(), found, known });
        }
        let script =
            usize::try_from(found).ok().and_then(|found| scripts.get(found.checked_sub(1)?));
        if script.is_none_or(|script| row.get::<String>("digest").ok() != Some(digest_of(script))) {
            return Err(StoreError::OtherSchema { database: database.to_owned() });
        }
    }
    for (version, script) in (1_u64..).zip(scripts).skip(applied.len()) {
        connection.execute_script(script).await?;
        query("INSERT INTO schema_versions (version, digest) VALUES ($1, $2)")
            .bind(version)
            .bind(digest_of(script))
            .execute(connection)
            .await?;
    }
    Ok(())
}

fn digest_of(script: &str) -> String {
    digest(script.as_bytes()).to_string()
}
