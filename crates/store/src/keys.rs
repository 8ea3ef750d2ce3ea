use std::collections::HashSet;

use proto::Digest;
use serde::Serialize;

use crate::sql::{Row, query};
use crate::{Database, Listed, StoreError};

/// A key that the gateway issued: its owner and its scopes, never the secret itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyRow {
    /// Part of the key's text; says which row to compare with.
    pub id: String,
    #[serde(skip)]
    pub hash: Digest,
    pub name: String,
    /// `api` or `registration`.
    pub kind: String,
    pub tenant: String,
    pub subject: String,
    pub agent: Option<String>,
    pub scopes: Vec<String>,
    pub created_unix_ms: u64,
    pub expires_unix_ms: Option<u64>,
    pub revoked_unix_ms: Option<u64>,
    /// To the minute.
    pub used_unix_ms: Option<u64>,
}

impl Database {
    /// Every key that was ever issued, oldest first. Damaged ones that are revoked are left out: nothing remains to be done
    /// about them.
    pub async fn keys(&self) -> Result<Listed<KeyRow>, StoreError> {
        let select = query(
            "SELECT id, hash, name, kind, tenant, owner, agent, scopes, created_ms, expires_ms, revoked_ms, used_ms \
             FROM access_keys ORDER BY created_ms, id",
        );
        let rows = self.sql.all(select).await?;
        let mut listed = Listed::read("access_keys", "id", &rows, read)?;
        let is_revoked = |row: &Row| matches!(row.optional::<u64>("revoked_ms"), Ok(Some(_)));
        let revoked = rows.iter().filter(|row| is_revoked(row));
        let revoked: HashSet<_> = revoked.filter_map(|row| row.get::<String>("id").ok()).collect();
        listed.damaged.retain(|row| !revoked.contains(&row.id));
        Ok(listed)
    }

    /// Stores a new key; returns false if another one with its name is not revoked.
    pub async fn add_key(&self, key: &KeyRow) -> Result<bool, StoreError> {
        let insert = query(
            "INSERT INTO access_keys \
                 (id, hash, name, kind, tenant, owner, agent, scopes, created_ms, expires_ms, revoked_ms, used_ms) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        )
        .bind(&key.id)
        .bind(&key.hash)
        .bind(&key.name)
        .bind(&key.kind)
        .bind(&key.tenant)
        .bind(&key.subject)
        .bind(key.agent.as_deref())
        .bind(serde_json::json!(key.scopes).to_string())
        .bind(key.created_unix_ms)
        .bind(key.expires_unix_ms)
        .bind(key.revoked_unix_ms)
        .bind(key.used_unix_ms);
        match self.sql.execute(insert).await {
            Err(error) if error.is_unique_violation() => Ok(false),
            inserted => inserted.map(|_| true),
        }
    }

    /// Revokes a key from this time on.
    pub async fn revoke_key(&self, id: &str, at_unix_ms: u64) -> Result<(), StoreError> {
        let update =
            query("UPDATE access_keys SET revoked_ms = $2 WHERE id = $1 AND revoked_ms IS NULL");
        self.sql.execute(update.bind(id).bind(at_unix_ms)).await.map(drop)
    }

    /// Revokes a key whose row is damaged, perhaps in the time of its revocation; returns false if no row has this id.
    pub async fn revoke_damaged_key(&self, id: &str, at_unix_ms: u64) -> Result<bool, StoreError> {
        let update = query("UPDATE access_keys SET revoked_ms = $2 WHERE id = $1");
        Ok(self.sql.execute(update.bind(id).bind(at_unix_ms)).await? == 1)
    }

    /// Notes when a key was last used.
    pub async fn note_key_use(&self, id: &str, at_unix_ms: u64) -> Result<(), StoreError> {
        let update = query("UPDATE access_keys SET used_ms = $2 WHERE id = $1");
        self.sql.execute(update.bind(id).bind(at_unix_ms)).await.map(drop)
    }
}

fn read(row: &Row) -> Result<KeyRow, StoreError> {
    Ok(KeyRow {
        id: row.get("id")?,
        hash: row.get("hash")?,
        name: row.get("name")?,
        kind: row.get("kind")?,
        tenant: row.get("tenant")?,
        subject: row.get("owner")?,
        agent: row.optional("agent")?,
        scopes: row.json("scopes")?,
        created_unix_ms: row.get("created_ms")?,
        expires_unix_ms: row.optional("expires_ms")?,
        revoked_unix_ms: row.optional("revoked_ms")?,
        used_unix_ms: row.optional("used_ms")?,
    })
}
