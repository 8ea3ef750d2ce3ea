use crate::sql::{Row, query};
use crate::{Database, Listed, StoreError};

/// Names one sealed row, and its owner.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VaultSlot {
    /// The kind of sealed value, such as `token`.
    pub kind: &'static str,
    /// The server, or the name of a secret.
    pub server: String,
    /// Empty, like the owner, for rows of the gateway itself.
    pub tenant: String,
    pub owner: String,
    /// The authorization server that issued it.
    pub issuer: String,
}

/// One sealed row; the database never sees its plain content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultRow {
    pub slot: VaultSlot,
    pub sealed: Vec<u8>,
    /// When it was stored, in milliseconds since 1970.
    pub at_ms: u64,
}

impl Database {
    /// The sealed rows of a server, newest first. Damaged ones are left out: nothing can be opened with them.
    pub async fn vault_rows(
        &self,
        kind: &'static str,
        server: &str,
    ) -> Result<Vec<VaultRow>, StoreError> {
        let select = query(
            "SELECT tenant, owner, issuer, sealed, at_ms FROM vault \
             WHERE kind = $1 AND server = $2 ORDER BY at_ms DESC",
        );
        let read = |row: &Row| {
            let slot = VaultSlot {
                kind,
                server: server.to_owned(),
                tenant: row.get("tenant")?,
                owner: row.get("owner")?,
                issuer: row.get("issuer")?,
            };
            Ok(VaultRow { slot, sealed: row.get("sealed")?, at_ms: row.get("at_ms")? })
        };
        let rows = self.sql.all(select.bind(kind).bind(server)).await?;
        Ok(Listed::read("vault", "issuer", &rows, read)?.rows)
    }

    /// The sealed rows of an owner, by name.
    pub async fn vault_rows_of(
        &self,
        kind: &'static str,
        tenant: &str,
        owner: &str,
    ) -> Result<Listed<VaultRow>, StoreError> {
        let select = query(
            "SELECT server, issuer, sealed, at_ms FROM vault \
             WHERE kind = $1 AND tenant = $2 AND owner = $3 ORDER BY server",
        );
        let read = |row: &Row| {
            let slot = VaultSlot {
                kind,
                server: row.get("server")?,
                tenant: tenant.to_owned(),
                owner: owner.to_owned(),
                issuer: row.get("issuer")?,
            };
            Ok(VaultRow { slot, sealed: row.get("sealed")?, at_ms: row.get("at_ms")? })
        };
        let select = select.bind(kind).bind(tenant).bind(owner);
        Listed::read("vault", "server", &self.sql.all(select).await?, read)
    }

    /// Stores a sealed row, in place of the one in its slot.
    pub async fn save_vault_row(&self, row: &VaultRow) -> Result<(), StoreError> {
        let upsert = query(
            "INSERT INTO vault (kind, server, tenant, owner, issuer, sealed, at_ms) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) \
             ON CONFLICT (kind, server, tenant, owner, issuer) \
             DO UPDATE SET sealed = excluded.sealed, at_ms = excluded.at_ms",
        )
        .bind(row.slot.kind)
        .bind(&row.slot.server)
        .bind(&row.slot.tenant)
        .bind(&row.slot.owner)
        .bind(&row.slot.issuer)
        .bind(row.sealed.as_slice())
        .bind(row.at_ms);
        self.sql.execute(upsert).await.map(drop)
    }

    /// Deletes a sealed row, if there is one.
    pub async fn remove_vault_row(&self, slot: &VaultSlot) -> Result<(), StoreError> {
        let delete = query(
            "DELETE FROM vault \
             WHERE kind = $1 AND server = $2 AND tenant = $3 AND owner = $4 AND issuer = $5",
        )
        .bind(slot.kind)
        .bind(&slot.server)
        .bind(&slot.tenant)
        .bind(&slot.owner)
        .bind(&slot.issuer);
        self.sql.execute(delete).await.map(drop)
    }
}
